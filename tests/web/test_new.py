"""The page's form for a new campaign: what matters beside each variable, or once for all."""

from pathlib import Path

import httpx
import pytest

from causalfocus.campaign import Campaign, Specification
from causalfocus.web.forms import FieldError, specification_in
from web.test_web import serve

FORM = {
    "title": "Reactor",
    "name:0": "heat",
    "low:0": "20",
    "high:0": "80",
    "unit:0": "K",
    "matters:0": "5",
    "name:1": "",
    "low:1": "",
    "high:1": "",
    "unit:1": "",
    "matters:1": "",
    "name:2": "yield",
    "low:2": "",
    "high:2": "",
    "matters:2": "2",
    "outcome:2": "yes",
    "min_effect": "",
    "epsilon": "",
    "delta": "0.05",
    "at_once": "1",
}


def test_what_is_left_empty_is_as_in_a_file() -> None:
    by_file = {
        "title": "Reactor",
        "variables": {"heat": {"range": [20, 80], "unit": "K"}, "yield": {}},
        "outcomes": ["yield"],
        "matters": {"heat": 5, "yield": 2},
        "seed": 4,
    }
    form, file = specification_in(FORM).to_dict(), Specification.from_dict(by_file).to_dict()
    assert isinstance(form.pop("seed"), int) and file.pop("seed") == 4
    assert form == file


def test_one_smallest_effect_for_all_is_still_enough() -> None:
    one = FORM | {"matters:0": "", "matters:2": "", "min_effect": "0.2", "epsilon": "0.05"}
    found = specification_in(one)
    assert found.space.min_effect == 0.2 and found.epsilon == 0.05 and found.space.matters is None


WRONG = {
    "nothing matters": ({"matters:0": ""}, {"matters:0": "Which change"}),
    "a word": ({"matters:2": "much"}, {"matters:2": "'much' for matters is not a number"}),
    "nothing at all": ({"matters:0": "0"}, {"matters:0": "above 0"}),
    "less": ({"matters:0": "-3"}, {"matters:0": "above 0"}),
    "both": ({"min_effect": "0.2"}, {"min_effect": "Leave this empty"}),
    "no name": ({"matters:1": "3"}, {"name:1": "A name is needed"}),
    "too rough": ({"epsilon": "x"}, {"epsilon": "is not a number"}),
}


@pytest.mark.parametrize(("change", "wrong"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_stands_beside_its_field(
    change: dict[str, str], wrong: dict[str, str]
) -> None:
    with pytest.raises(FieldError) as found:
        specification_in(FORM | change)
    assert set(found.value.errors) == set(wrong)
    for key, message in wrong.items():
        assert message in found.value.errors[key]


def test_the_form_has_a_column_for_it_and_makes_the_campaign(path: Path) -> None:
    with serve(path) as address:
        form = httpx.get(address).text
        assert form.count(">What matters <") == 6 and 'name="matters:5"' in form
        refused = httpx.post(f"{address}/create", data=FORM | {"matters:2": ""})
        assert refused.status_code == 422 and "Which change is worth knowing?" in refused.text
        assert 'name="matters:0" autocomplete="off" value="5"' in refused.text
        assert not path.exists()
        assert httpx.post(f"{address}/create", data=FORM).status_code == 303
    with Campaign.open(path) as campaign:
        assert dict(campaign.specification.space.matters or ()) == {"heat": 5, "yield": 2}
        (asked,) = campaign.next()
        assert set(asked.action.targets) <= {"heat"}
