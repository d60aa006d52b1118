"""C_epsilon with sets of variables made on demand, against all of them listed."""

import functools

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.guarantees import designs, guarantee_of
from causalfocus.guarantees.divergences import divergences_of, mixed_divergences_of
from causalfocus.planning.complexity import Complexity, complexity
from causalfocus.planning.forecast import forecasts
from causalfocus.system.choices import Choices
from causalfocus.system.columns import every_column, first_columns, n_sets, rows_of
from worlds import action_set

GAP = 1e-3
BOUNDED = cf.ModelClass(0.2, 1.5, (0.5, 2.0), intercept=False)
SPACES = {"class": BOUNDED, "gaussian": cf.ModelClass(0.2)}


@functools.cache
def solved(p: int, rule: str, most_listed: int, at_once: int | None = None) -> Complexity:
    model = cf.random_sem(p, density=0.5, seed=p, space=BOUNDED)
    actions = action_set(model.names, at_once=at_once)
    return complexity(
        model,
        actions,
        SPACES[rule],
        epsilon=0.1,
        rule=rule,
        gap=GAP,
        most_listed=most_listed,
    )


@pytest.mark.parametrize("rule", ["class", "gaussian"])
@pytest.mark.parametrize("p", [4, 5, 6])
def test_the_value_is_that_of_all_sets(p: int, rule: str) -> None:
    listed, made = solved(p, rule, 4096), solved(p, rule, 0)
    assert listed.choices.is_whole and not made.choices.is_whole
    assert listed.is_exhaustive and made.is_exhaustive
    assert 0.0 <= made.gap <= GAP
    assert made.value <= listed.upper * (1 + 1e-9) and listed.value <= made.upper * (1 + 1e-9)
    assert made.value == pytest.approx(listed.value, rel=GAP)
    assert made.choices.columns[: p + 1] == ((), *((name,) for name in made.choices.actions.names))
    assert sum(made.allocation.values()) == pytest.approx(1.0)
    assert sum(made.share_of_rounds.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_columns_are_made_where_the_first_ones_do_not_suffice(rule: str) -> None:
    made, first = solved(6, rule, 0), first_columns(solved(6, rule, 0).choices.actions)
    assert made.choices.columns[: len(first)] == first
    assert len(first) < len(made.choices.columns) < n_sets(made.choices.actions)
    later = made.design[len(first) :]
    assert later.max() > 0.02


@pytest.mark.parametrize("rule", ["class", "gaussian"])
def test_no_set_tells_more_against_the_mixture_than_the_upper_bound(rule: str) -> None:
    """Every set, one rival at a time; and the design guarantees what is said."""
    model = cf.random_sem(6, density=0.5, seed=6, space=BOUNDED)
    actions = action_set(model.names, at_once=None)
    plain = guarantee_of(rule, actions, SPACES[rule], epsilon=0.1)
    start = Choices(actions, "coin", first_columns(actions))
    found = designs.design_for(plain.on(start), model, GAP)
    rows = rows_of(every_column(actions), model.names)
    mixture = np.zeros(len(rows))
    for rival, share in zip(found.solution.responses, found.solution.shares, strict=True):
        mixture += share * divergences_of(plain, model, rival.model, rows)
    assert found.solution.shares.sum() == pytest.approx(1.0)
    assert mixture.max() <= found.solution.upper * (1 + 1e-9)
    assert mixture.max() >= found.solution.value
    closest = plain.on(found.choices).rival(model, found.solution.design)
    assert closest.gains @ found.solution.design == pytest.approx(found.solution.value, rel=1e-9)


def test_the_same_question_has_the_same_answer_to_the_bit() -> None:
    model = cf.random_sem(6, density=0.5, seed=2, space=BOUNDED)
    actions = action_set(model.names, at_once=3)
    one, two = (
        complexity(model, actions, BOUNDED, epsilon=0.1, rule="class", most_listed=5)
        for _ in range(2)
    )
    assert one.choices == two.choices and one.design.tobytes() == two.design.tobytes()
    assert (one.value, one.upper, one.n_planes) == (two.value, two.upper, two.n_planes)


def test_costs_count_in_what_a_set_is_worth() -> None:
    model = cf.random_sem(5, density=0.5, seed=4, space=BOUNDED)
    several = cf.do({"X1": 2.0, "X2": -2.0, "X4": 2.0})
    actions = action_set(model.names, costs={"X1": 3.0, "observe": 0.5, several: 1.0}, at_once=None)
    listed, made = (
        complexity(model, actions, BOUNDED, epsilon=0.1, rule="class", most_listed=n)
        for n in (4096, 0)
    )
    assert made.value == pytest.approx(listed.value, rel=2 * GAP)
    free = solved(5, "class", 0)
    assert made.value != pytest.approx(free.value, rel=0.05)


def test_a_bound_that_not_every_set_was_tried_for_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designs, "MOST_TRIED", 10)
    model = cf.random_sem(5, density=0.5, seed=5, space=BOUNDED)
    actions = action_set(model.names, at_once=None)
    found = complexity(model, actions, BOUNDED, epsilon=0.1, rule="class", most_listed=0)
    proven = solved(5, "class", 4096)
    assert not found.is_exhaustive and not found.has_lower_bound
    assert found.value <= proven.upper * (1 + 1e-9)
    with pytest.raises(cf.InvalidInputError, match="31 sets of variables, too many to try"):
        found.lower_bound(0.05)
    listed = complexity(model, actions, BOUNDED, epsilon=0.1, rule="class")
    assert listed.is_exhaustive and listed.lower_bound(0.05) > 0.0


def test_the_lower_bound_is_proven_over_all_sets() -> None:
    listed, made = solved(5, "class", 4096), solved(5, "class", 0)
    assert made.lower_bound(0.05) == pytest.approx(listed.lower_bound(0.05), rel=2 * GAP)


def test_what_no_set_tells_apart_has_the_value_zero() -> None:
    model = cf.LinearSEM(np.array([[0, 0, 0, 0], [0.6, 0, 0, 0], [0] * 4, [0] * 4]), 1.0)
    actions = cf.ActionSet({"X1": None, "X2": None, "X3": (-2, 2), "X4": (-2, 2)}, at_once=None)
    wide = cf.ModelClass(0.2, intercept=False)
    found = complexity(model, actions, wide, epsilon=0.1, rule="class", most_listed=0)
    assert found.value == found.upper == 0.0 and not found.is_identifiable and found.is_exhaustive
    assert found.rivals[0].changes == "X1 -> X2 reversed"


def test_thirteen_variables_any_number_at_once() -> None:
    """8,191 sets: more than are listed, few enough to try them all in the end. Pairs alone give
    less.
    """
    model = cf.random_sem(13, density=0.15, seed=1)
    space = cf.PAPER_CLASS
    many, pairs = (
        complexity(
            model,
            action_set(model.names, at_once=n),
            space,
            epsilon=0.07,
            rule="class",
            gap=0.02,
        )
        for n in (None, 2)
    )
    assert not many.choices.is_whole and many.is_exhaustive and many.gap <= 0.02
    assert len(many.choices) < 300
    assert many.value > pairs.upper


def test_a_forecast_shares_out_what_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from causalfocus.system import choices

    model = cf.random_sem(4, density=0.5, seed=4, space=BOUNDED)
    actions = action_set(model.names, at_once=None)
    given = model, actions, BOUNDED
    (listed,) = forecasts(*given, epsilon=0.1, deltas=[0.05], rule="class")
    monkeypatch.setattr(choices, "MOST_CHOICES", 8)
    (made,) = forecasts(*given, epsilon=0.1, deltas=[0.05], rule="class")
    assert not made.complexity.choices.is_whole and listed.complexity.choices.is_whole
    assert made.rounds == pytest.approx(listed.rounds, rel=0.1)
    assert sum(made.share.values()) == pytest.approx(1.0)


def test_a_mixture_tells_what_its_rivals_tell_on_average() -> None:
    """The fast routine against one rival, one set and one pair of ends at a time."""
    models = [cf.random_sem(4, density=0.7, seed=i, intercept_range=(-1, 1)) for i in range(4)]
    actions = cf.ActionSet(
        {"X1": (-1.0, 3.0), "X2": (2.0, 2.0), "X3": None, "X4": (0.0, 5.0)}, at_once=None
    )
    rule = guarantee_of("gaussian", actions, cf.ModelClass(0.2), epsilon=0.1)
    rows, shares = rows_of(every_column(actions), actions.names), np.array([0.5, 0.2, 0.3])
    found = mixed_divergences_of(rule, models[0], models[1:], shares, rows)
    for i in range(len(rule.choices)):
        ends = rule.choices.actions_of(i)
        told = [np.mean([models[0].kl(other, a) for a in ends]) for other in models[1:]]
        assert found[i] == pytest.approx(shares @ told, rel=1e-9)
    one_by_one = [divergences_of(rule, models[0], other, rows) for other in models[1:]]
    assert found == pytest.approx(shares @ np.array(one_by_one), rel=1e-12)
