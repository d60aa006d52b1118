"""What many rooms begin with: the shared world, and a campaign file that is new in every test."""

from pathlib import Path

import pytest

import causalfocus as cf
from worlds import ACTIONS, Rig, rig


@pytest.fixture
def actions() -> cf.ActionSet:
    """All that can be done to the chain."""
    return ACTIONS


@pytest.fixture
def system() -> Rig:
    """The chain at work, its draws the same in every test."""
    return rig()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a campaign."""
    return tmp_path / "rig.campaign"
