"""The command line."""

from causalfocus.cli.app import main

__all__ = ["main"]
