"""Complexity and plans where variables are in kelvin, bar and litres, and sizes differ by pair."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from causalfocus.allocation.program import solve_program
from causalfocus.arrays import Floats
from causalfocus.guarantees import guarantee_of
from causalfocus.moments.moments import Moments
from causalfocus.planning.forecast import forecasts
from causalfocus.system.sizes import PairSizes
from cli.commands import causalfocus
from literal.by_pair import PairBounds, closest
from other_units import DECADES, NAMES, POWERS, actions_in, changes_in, model_in

RIG = ("temperature", "pressure", "flow", "yield")
RANGES = {"temperature": (300, 400), "pressure": (1, 5), "flow": (0, 10), "yield": None}
PLANT = cf.LinearSEM(
    [[0, 0, 0, 0], [0, 0, 0, 0], [-0.17, -8.3, 0, 0], [0.53, 51.0, -9.2, 0]],
    [120.0, 0.33, 2.6, 190.0],
    [350, 3, 5, 50],
    names=RIG,
)
"""Gains against its rivals differ by eight orders of magnitude: HiGHS gave up on the program."""


@pytest.mark.parametrize("smallest", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_one_number_for_mixed_units_is_sizes_by_pair_in_even_ones(
    rule: str, smallest: float
) -> None:
    """The complexity of a plant in its own units, where the program failed, against that of the
    same plant in units of its ranges and noise, with the same sizes as a table.
    """
    space, epsilon = cf.ModelClass(smallest), smallest / 2
    if rule == "class" and not space.contains(PLANT):
        return
    found = cf.complexity(PLANT, cf.ActionSet(RANGES), space, epsilon=epsilon, rule=rule)
    units = 1.0 / np.array([50.0, 2.0, 5.0, 30.0])
    even = cf.LinearSEM(
        PLANT.weights * units[:, None] / units,
        PLANT.noise_variances * units**2,
        PLANT.intercepts * units,
        names=RIG,
    )
    ranges = {
        name: span and tuple(np.array(span) * unit)
        for (name, span), unit in zip(RANGES.items(), units, strict=True)
    }
    table = cf.ModelClass(smallest * units[:, None] / units)
    other = cf.complexity(even, cf.ActionSet(ranges), table, rule=rule)
    assert found.gap <= 1e-3 and other.gap <= 1e-3 and found.value > 0.0
    assert found.value <= other.upper * (1 + 1e-6) and other.value <= found.upper * (1 + 1e-6)


@pytest.mark.parametrize("rule", ["gaussian", "class", "randomized"])
@pytest.mark.parametrize("seed", range(8))
def test_plants_in_raw_units_have_a_complexity(rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = np.array([15.0, 1.0, 2.5, 10.0]) * rng.uniform(0.3, 3.0, 4)
    sizes = np.tril(rng.uniform(0.1, 1.5, (4, 4)) * (rng.random((4, 4)) < 0.6), -1)
    weights = sizes * scale[:, None] / scale
    for smallest in (0.05, 0.1, 0.2):
        kept = np.where(weights >= smallest, weights, 0.0)
        model = cf.LinearSEM(kept, (scale * rng.choice([0.1, 0.5, 1], 4)) ** 2, names=RIG)
        space = cf.ModelClass(smallest, outcomes=["yield"] if rule == "randomized" else ())
        found = cf.complexity(model, cf.ActionSet(RANGES), space, rule=rule)
        assert 0.0 <= found.value <= found.upper


@pytest.mark.parametrize("smallest", ["0.05", "0.1", "0.2"])
def test_plan_of_a_plant_in_mixed_units(tmp_path: Path, smallest: str) -> None:
    file = tmp_path / "plant.json"
    file.write_text(json.dumps(PLANT.to_dict()))
    ranges = ["--range", "temperature=300:400", "--range", "pressure=1:5", "--range", "flow=0:10"]
    ranges += ["--range", "yield=none"]
    given = ["plan", "--model", file, *ranges, "--min-effect", smallest, "--rule", "gaussian"]
    done = causalfocus(*map(str, given), "--intercept", "--json")
    assert done.returncode == 0, done.stderr
    (system,) = json.loads(done.stdout)["systems"]
    assert 0.0 < system["complexity"] <= system["upper"] <= 1.0011 * system["complexity"]


def test_a_program_with_gains_of_any_size() -> None:
    """Against the closed form: rival r is told apart by action r alone, so shares go as 1/gain."""
    for seed in range(20):
        gains = 10.0 ** np.random.default_rng(seed).uniform(-7, 5, 6)
        found = solve_program(np.diag(gains), float(gains.min()), 1e-10)
        value = 1.0 / (1.0 / gains).sum()
        assert found.lower <= value * (1 + 1e-9) and value <= found.upper * (1 + 1e-9)
        assert found.lower == pytest.approx(value, rel=1e-5)
        assert found.upper == pytest.approx(value, rel=1e-5)
        assert found.design.sum() == pytest.approx(1.0)


def test_the_program_that_failed() -> None:
    """What HiGHS gave up on, against a search on the three actions that matter."""
    planes = np.array(
        [
            [5.572e-07, 5.235e-07, 5.522e-06, 9.187e-07],
            [5.551e-17, 9.305, -1.499e-15, 5.837e02],
            [3.121e-01, 7.793, 0.0, 3.121e-01],
            [2.276e-15, 3.719e-15, -4.663e-15, 5.685e02],
            [6.085e-08, 6.085e-08, 6.137e-08, 1.284e-04],
        ]
    )
    found = solve_program(planes, 1.880246866994773e-06, 1e-10)
    # Rivals 1, 3 and 5 bind: hardly any share of action 2 is enough against rival 3.
    best = max(
        float((planes @ design).min())
        for share in np.linspace(0.0, 0.1, 20001)
        for design in [np.array([0.0, 1e-6, 1.0 - 1e-6 - share, share])]
    )
    assert best <= found.upper * (1 + 1e-9)
    assert found.lower >= best * (1 - 1e-9)
    assert found.upper <= found.lower * (1 + 1e-6)


SPANS = {"X1": (0.5, 1.0), "X2": (0.8, 3.0), "X3": (0.2, 0.8)}


@pytest.mark.parametrize("seed", range(8))
def test_closest_rival_with_sizes_by_pair_against_all_dags(seed: int) -> None:
    """Under the class rule: sizes of effects and accuracy by pair, noise by variable."""
    rng = np.random.default_rng(seed)
    names = tuple(SPANS)
    sizes = rng.uniform(0.1, 0.8, (3, 3))
    weights = np.tril(sizes * rng.choice([1.0, 1.5, 2.4], (3, 3)), -1)
    weights *= rng.choice([-1, 1], (3, 3)) * (rng.random((3, 3)) < 0.7)
    model = cf.LinearSEM(weights, [rng.uniform(*span) for span in SPANS.values()], names=names)
    largest = 2.5 * sizes if seed % 2 else None
    space = cf.ModelClass(sizes, largest, SPANS, intercept=False)
    actions = cf.ActionSet(dict.fromkeys(names, (-2.0, 2.0)))
    epsilon = PairSizes.of("epsilon", 0.4 * sizes)
    rule = guarantee_of("class", actions, space, epsilon=epsilon, ends="game")
    amounts = rng.dirichlet(np.ones(len(rule.choices)))
    value = float(rule.rival(model, amounts).gains @ amounts)
    taken = dict(zip(actions, amounts, strict=True))
    rows = Moments.expected(model, taken).rows(intercept=False)
    bounds = PairBounds(space.smallest(names), space.largest(names), space.variances(names))
    known = model.weights.copy(), model.noise_variances.copy()
    least = closest(rows.grams, rows.counts, bounds, known, 0.4 * sizes)
    assert value == pytest.approx(least, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("units", [POWERS, DECADES], ids=["powers of two", "decades"])
@pytest.mark.parametrize("rule", ["gaussian", "class", "randomized"])
def test_complexity_and_forecast_in_other_units(rule: str, units: Floats) -> None:
    def asked(u: Floats) -> tuple[cf.Complexity, float]:
        if rule == "randomized":
            space = cf.ModelClass(matters=changes_in(u), outcomes=["yield"])
        else:
            space = cf.ModelClass(matters=changes_in(u, 1.2), widths={"yield": 4 * u[3]})
        actions = actions_in(u)
        found = cf.complexity(model_in(u), actions, space, rule=rule)
        (foretold,) = forecasts(model_in(u), actions, space, deltas=[0.05], rule=rule)
        return found, foretold.rounds

    (here, rounds), (there, others) = asked(np.ones(4)), asked(units)
    assert 0.0 < rounds < math.inf
    assert there.value == pytest.approx(here.value, rel=2e-3)
    assert others == pytest.approx(rounds, rel=5e-3)
    assert there.rivals[0].changes.split(" at ")[0] == here.rivals[0].changes.split(" at ")[0]


def test_lower_bound_by_pair() -> None:
    """At twice epsilon, as by one number; and none where rivals are sought for a finer claim."""
    model, actions = model_in(np.ones(4)), actions_in(np.ones(4))

    def found(space: cf.ModelClass, epsilon: object = None) -> cf.Complexity:
        return cf.complexity(model, actions, space, epsilon=epsilon, rule="class")  # type: ignore[arg-type]

    one, table = found(cf.ModelClass(0.4), 0.2), found(cf.ModelClass(np.full((4, 4), 0.4)))
    assert table.lower_bound(0.05) == pytest.approx(one.lower_bound(0.05), rel=2e-3)
    assert table.lower_bound(0.05) < table.first_order(0.05)
    uneven = np.full((4, 4), 0.2)
    uneven[3, 0] = 0.1
    assert not found(cf.ModelClass(0.4), uneven).has_lower_bound
    assert not found(
        cf.ModelClass(np.full((4, 4), 0.4), {("heat", "yield"): 1, "other": 2})
    ).has_lower_bound
    assert found(cf.ModelClass(np.full((4, 4), 0.4), 2.0)).has_lower_bound
    assert model.names == NAMES
