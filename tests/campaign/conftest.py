"""A campaign that is new in every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign.hands import new_campaign
from causalfocus.campaign import Campaign
from causalfocus.guarantees import DEFAULT_RULE


@pytest.fixture
def rule() -> str:
    """Of the campaign; a module in which samples count that nobody asked for says another."""
    return DEFAULT_RULE


@pytest.fixture
def campaign(path: Path, rule: str) -> Iterator[Campaign]:
    with new_campaign(path, rule) as found:
        yield found
