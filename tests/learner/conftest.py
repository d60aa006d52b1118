"""FOCUS on the chain: fresh, and at its end."""

import pytest

import causalfocus as cf
from worlds import finish, new_focus, rig


@pytest.fixture
def learner() -> cf.Focus:
    return new_focus()


@pytest.fixture(scope="session")
def stopped_learner() -> cf.Focus:
    """For looking only: to go on, replay it."""
    return finish(new_focus(), rig(), 5000)
