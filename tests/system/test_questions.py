"""What is asked, in the forms in which a person says it."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.system.question import Question, about_from_plain

NAMES = ("heat", "flow", "yield")


def pairs_in(table: Any) -> set[tuple[str, str]]:
    return {(NAMES[k], NAMES[j]) for j, k in np.argwhere(table)}


def test_a_variable_stands_for_all_direct_effects_on_it() -> None:
    asked = Question.of("yield", NAMES)
    assert pairs_in(asked.direct(NAMES)) == {("heat", "yield"), ("flow", "yield")}
    assert not asked.totals(NAMES).any() and not asked.is_everything


def test_a_tuple_of_two_names_is_a_pair_and_a_list_is_two_variables() -> None:
    assert pairs_in(Question.of(("heat", "flow"), NAMES).direct(NAMES)) == {("heat", "flow")}
    both = Question.of(["heat", "flow"], NAMES).direct(NAMES)
    assert pairs_in(both) == {(a, b) for a in NAMES for b in ("heat", "flow") if a != b}


def test_total_effects_and_direct_ones_together() -> None:
    asked = Question.of([cf.total("heat", "yield"), ("yield", "flow"), "heat"], NAMES)
    assert pairs_in(asked.totals(NAMES)) == {("heat", "yield")}
    assert pairs_in(asked.direct(NAMES)) == {("yield", "flow"), ("flow", "heat"), ("yield", "heat")}
    assert "total effect of heat on yield" in asked.words
    again = Question.of(about_from_plain(json.loads(json.dumps(asked.plain()))), NAMES)
    assert again == asked


def test_nothing_said_is_everything() -> None:
    asked = Question.of(None, NAMES)
    assert asked.is_everything and asked.direct(NAMES).sum() == 6 and asked.words


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a foreign name": (lambda: Question.of("purity", NAMES), "no node named 'purity'"),
    "an effect on itself": (lambda: Question.of([("heat", "heat")], NAMES), "two different"),
    "a total on itself": (lambda: cf.total("heat", "heat"), "of one variable on another"),
    "nothing in a list": (lambda: Question.of([], NAMES), "Leave it out for all"),
    "a number": (lambda: Question.of(3, NAMES), "name of a variable"),  # type: ignore[arg-type]
    "plain without a pair": (lambda: about_from_plain([{"total": "heat"}]), "total: .cause"),
    "a rule that claims all": (
        lambda: cf.Focus(
            cf.ActionSet(dict.fromkeys(NAMES, (0, 1))),
            cf.ModelClass(0.3),
            rule="gaussian",
            about="yield",
        ),
        "claims all direct effects together",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_questions_are_named(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(cf.InvalidInputError, match=message):
        make()
