"""``python -m causalfocus``: the command line."""

from causalfocus.cli import main

main()
