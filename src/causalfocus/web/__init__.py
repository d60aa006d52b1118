"""The page of a campaign: what to do next, what is known, what happened."""

from causalfocus.web.app import create_app

__all__ = ["create_app"]
