"""A campaign that is new in every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign.hands import new_campaign
from causalfocus.campaign import Campaign


@pytest.fixture
def campaign(path: Path) -> Iterator[Campaign]:
    with new_campaign(path) as found:
        yield found
