"""Actions that set several variables: laws, moments, oracles and designs against slow referees."""

import itertools

import numpy as np
import pytest
import sempler
from scipy import stats

import causalfocus as cf
from causalfocus.arrays import Bools, Floats
from causalfocus.guarantees import guarantee_of
from causalfocus.planning.complexity import complexity
from causalfocus.system.choices import Choices
from instances import bounds_of, close, draw_member, model_class, reference_of
from literal import (
    Rows,
    brute_force_alternative,
    brute_force_mle,
    finite_alternative_oracle,
    finite_joint_mle,
    negative_log_likelihood,
)
from worlds import CHAIN


def any_number(names: tuple[str, ...], reach: float = 2.0) -> cf.ActionSet:
    return cf.ActionSet(dict.fromkeys(names, (-reach, reach)), at_once=None)


def draw_log(
    model: cf.LinearSEM, n: int, rng: np.random.Generator
) -> tuple[list[cf.Action], Floats, Bools]:
    """Actions on any number of nodes, all of them too, a sample of each, and which were set."""
    everything = [cf.do(dict.fromkeys(model.names, value)) for value in (-1.0, 2.0)]
    actions = [*any_number(model.names), *everything]
    taken = [actions[int(i)] for i in rng.integers(len(actions), size=n)]
    samples = np.array([model.sample(action, 1, rng)[0] for action in taken]).reshape(n, model.p)
    is_set = np.array([[name in a.targets for name in model.names] for a in taken])
    return taken, samples, is_set.reshape(n, model.p)


def rows_of(samples: Floats, is_set: Bools, *, intercept: bool) -> Rows:
    """Sums over the samples in which each node was free, as plainly as can be."""
    full = np.column_stack([samples, np.ones(len(samples))]) if intercept else samples
    kept = [full[~is_set[:, j]] for j in range(samples.shape[1])]
    return Rows(np.array([x.T @ x for x in kept]), np.array([float(len(x)) for x in kept]))


def expected_rows(model: cf.LinearSEM, weights: dict[cf.Action, float], *, intercept: bool) -> Rows:
    """The same on average, from the law that solving the equations gives."""
    p = model.p
    gram, counts = np.zeros((p, p + 1, p + 1)), np.zeros(p)
    for action, weight in weights.items():
        settings = dict(action.settings)
        free = np.array([name not in settings for name in model.names])
        solve = np.linalg.inv(np.eye(p) - np.where(free[:, None], model.weights, 0.0))
        given = [settings.get(n, c) for n, c in zip(model.names, model.intercepts, strict=True)]
        mean = solve @ np.array(given)
        covariance = solve @ np.diag(np.where(free, model.noise_variances, 0.0)) @ solve.T
        second = np.ones((p + 1, p + 1))
        second[:p, :p] = covariance + np.outer(mean, mean)
        second[:p, p] = second[p, :p] = mean
        gram[free] += weight * second
        counts[free] += weight
    q = p + 1 if intercept else p
    return Rows(gram[:, :q, :q], counts)


@pytest.mark.parametrize("seed", range(4))
def test_laws_are_semplers_with_several_interventions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = draw_member(4, model_class("paper", intercept=True), rng, density=0.8)
    theirs = sempler.LGANM(model.to_adjacency(), model.intercepts, model.noise_variances)
    for action in any_number(model.names):
        target = {model.names.index(name): value for name, value in action.settings}
        law = theirs.sample(population=True, do_interventions=target)
        ours = model.moments(action)
        assert np.allclose(ours.mean, law.mean, atol=1e-10)
        assert np.allclose(ours.covariance, law.covariance, atol=1e-10)
    action = cf.do({"X1": 2.0, "X3": -2.0})
    drawn = model.sample(action, 3000, rng)
    other = theirs.sample(3000, do_interventions={0: 2, 2: -2}, random_state=seed)
    assert (drawn[:, 0] == 2.0).all() and (drawn[:, 2] == -2.0).all()
    for j in (1, 3):
        assert stats.ks_2samp(drawn[:, j], other[:, j]).pvalue > 1e-4


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("p", "n"), [(2, 9), (3, 40), (4, 150)])
def test_the_estimate_is_the_best_of_all_graphs(p: int, n: int, intercept: bool) -> None:
    rng = np.random.default_rng([p, n, intercept])
    space = model_class("paper", intercept=intercept)
    model = draw_member(p, space, rng)
    taken, samples, is_set = draw_log(model, n, rng)
    moments = cf.Moments(model.names)
    moments.add_many(taken, samples)
    rows, bounds = rows_of(samples, is_set, intercept=intercept), bounds_of(space)
    found = cf.joint_mle(moments, space)
    value = negative_log_likelihood(rows, found.weights, found.noise_variances, found.intercepts)
    assert close(value, brute_force_mle(rows, bounds).value)
    assert close(value, finite_joint_mle(rows, bounds, memoise=True).value)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("p", "seed"), [(2, 0), (3, 0), (3, 1), (4, 0), (4, 1)])
def test_the_alternative_is_the_closest_of_all_graphs(p: int, seed: int, intercept: bool) -> None:
    rng = np.random.default_rng([p, seed, intercept])
    space = model_class("paper", intercept=intercept)
    model = draw_member(p, space, rng)
    actions = any_number(model.names)
    amounts = rng.exponential(size=len(actions)) * (rng.random(len(actions)) < 0.5)
    weights = dict(zip(actions, amounts.tolist(), strict=True))
    found = cf.best_alternative(model, weights, space, epsilon=0.07)
    rows = expected_rows(model, weights, intercept=intercept)
    everything = rows, bounds_of(space), reference_of(model), 0.07
    for referee in (
        brute_force_alternative(*everything),
        finite_alternative_oracle(*everything, memoise=True),
    ):
        assert referee is not None
        assert close(found.value, referee.value, sum(weights.values()))
    assert found.model is not None
    attained = sum(w * model.kl(found.model, action) for action, w in weights.items())
    assert close(attained, found.value, sum(weights.values()))


@pytest.mark.parametrize("seed", range(12))
def test_evidence_counts_a_sample_for_all_rows_that_it_can_or_for_none(seed: int) -> None:
    """With intercepts: every row is shifted by its first own sample; samples that are the first of
    any row count nowhere. Against the rule in its own words, on logs that begin with any action.
    """
    rng = np.random.default_rng(seed)
    model = draw_member(4, model_class("paper", intercept=True), rng)
    taken, samples, is_set = draw_log(model, 30, rng)
    moments = cf.Moments(model.names)
    moments.add_many(taken, samples)
    firsts = [int(np.flatnonzero(~is_set[:, j])[0]) for j in range(4)]
    counts_nowhere = np.isin(np.arange(30), firsts)
    found = moments.evidence_rows(intercept=True)
    for j in range(4):
        own = ~is_set[:, j] & ~counts_nowhere
        shifted = np.column_stack([samples[own] - samples[firsts[j]], np.ones(own.sum())])
        assert found.counts[j] == own.sum()
        assert found.grams[j] == pytest.approx(shifted.T @ shifted, rel=1e-10, abs=1e-10)
    one_by_one = cf.Moments(model.names)
    for action, sample in zip(taken, samples, strict=True):
        one_by_one.add(action, sample)
    assert np.array_equal(one_by_one.evidence_rows(intercept=True).grams, found.grams)


def test_a_sample_in_which_all_is_set_says_nothing() -> None:
    everything = cf.do({"X1": 1.0, "X2": 2.0, "X3": -1.0})
    moments, twin = cf.Moments(CHAIN.names), cf.Moments(CHAIN.names)
    moments.add(everything, {})
    for m in (moments, twin):
        m.add_many([cf.OBSERVE] * 20, CHAIN.sample(cf.OBSERVE, 20, 1))
    for intercept in (False, True):
        one, other = (m.evidence_rows(intercept=intercept) for m in (moments, twin))
        assert (
            np.array_equal(one.grams, other.grams) and one.counts.tolist() == other.counts.tolist()
        )


@pytest.mark.parametrize("at_once", [1, 2, None])
def test_a_choice_by_coin_is_the_mean_of_its_actions(at_once: int | None) -> None:
    """Mean and variance of what is set stand for all ends: divergences and rivals agree."""
    model = cf.random_sem(4, density=0.7, seed=2, intercept_range=(-1, 1))
    other = cf.random_sem(4, density=0.7, seed=5, intercept_range=(-1, 1))
    ranges = {"X1": (-1.0, 3.0), "X2": (2.0, 2.0), "X3": None, "X4": (0.0, 5.0)}
    actions = cf.ActionSet(ranges, at_once=at_once)
    choices = Choices(actions, "coin")
    rule = guarantee_of("gaussian", actions, cf.ModelClass(0.2), epsilon=0.1)
    gains = rule.divergences(model, other)
    for i in range(len(choices)):
        drawn = choices.actions_of(i)
        assert len(drawn) == choices.sizes[i] and {a.targets for a in drawn} == {choices.targets[i]}
        assert gains[i] == pytest.approx(np.mean([model.kl(other, a) for a in drawn]), rel=1e-9)
        assert all(choices.index(action) == i for action in drawn)
    listed = [action for i in range(len(choices)) for action in choices.actions_of(i)]
    assert sorted(map(str, listed)) == sorted(map(str, actions))
    spread = choices.spread(np.full(len(choices), 1 / len(choices)))
    assert sum(spread.values()) == pytest.approx(1.0)


def test_no_unlisted_set_and_no_interior_value_tells_more() -> None:
    """p = 3, any number at once: against the equilibrium mixture of rivals, no action that sets any
    nodes to any values of a grid gives more than the certified upper bound of C_epsilon.
    """
    space = cf.ModelClass(0.15, 1.5, (0.8, 1.2), intercept=False)
    for seed in range(3):
        model = cf.random_sem(3, density=0.7, seed=seed)
        found = complexity(
            model, any_number(model.names), space, epsilon=0.07, rule="class", ends="game"
        )
        mixture = [(rival.model, rival.share) for rival in found.rivals]
        grid = np.linspace(-2, 2, 5)
        best = 0.0
        for n in range(4):
            for names in itertools.combinations(model.names, n):
                for values in itertools.product(grid, repeat=n):
                    action = cf.Action(tuple(zip(names, values, strict=True)))
                    gain = sum(share * model.kl(rival, action) for rival, share in mixture)
                    best = max(best, gain)
        assert best <= found.upper * (1 + 1e-6)
        alone = complexity(
            model,
            cf.ActionSet(dict.fromkeys(model.names, (-2, 2))),
            space,
            epsilon=0.07,
            rule="class",
        )
        assert found.upper >= alone.value


def test_sets_that_cannot_be_listed_can_be_counted_and_drawn_from() -> None:
    many = cf.ActionSet(dict.fromkeys(map(str, range(30)), (-2, 2)), at_once=None)
    assert len(many) == 3**30 - 2**30 and cf.do({"3": 2, "7": -2}) in many
    twelve = cf.ActionSet(dict.fromkeys(map(str, range(12)), (-2, 2)), at_once=None, costs={"3": 4})
    choices = Choices(twelve, "coin")
    assert len(choices) == 2**12 - 1 and choices.draw(0, 1, 1) == cf.OBSERVE
    at = choices.index(cf.do({"3": 2, "7": -2}))
    assert at is not None and choices.costs[at] == 5.0 and choices.costs[0] == 1.0
    assert choices.draw(at, 1, 1).targets == ("3", "7")
    for names, at_once in ((4, 1), (4, 2), (3, None)):
        small = cf.ActionSet(
            {**dict.fromkeys(map(str, range(names)), (0, 1)), "x": 2.0}, at_once=at_once
        )
        assert len(small) == len(small.actions)


def test_costs_of_several_are_added_unless_named() -> None:
    ranges = {"a": (0, 1), "b": (0, 1), "c": (0, 1)}
    free = cf.ActionSet(ranges, at_once=None)
    assert set(free.costs) == {1.0} and set(Choices(free, "coin").costs) == {1.0}
    ones = cf.ActionSet(ranges, at_once=2, costs=dict.fromkeys(ranges, 1))
    assert ones.cost_of(cf.do({"a": 0, "b": 1})) == 2.0
    named = cf.do({"a": 1, "b": 1})
    priced = cf.ActionSet(ranges, at_once=2, costs={"a": 5, "observe": 0.5, named: 2.0})
    assert priced.cost_of(cf.do({"a": 0, "b": 1})) == 6.0
    assert priced.cost_of(cf.do({"b": 0, "c": 1})) == 2.0 and priced.cost_of(named) == 2.0
    assert priced.cost_of(cf.OBSERVE) == 0.5
    by_coin = dict(zip(Choices(priced, "coin").targets, Choices(priced, "coin").costs, strict=True))
    assert by_coin["a", "b"] == pytest.approx((6 + 6 + 6 + 2) / 4) and by_coin["b", "c"] == 2.0


@pytest.mark.parametrize("rule", ["class", "gaussian"])
@pytest.mark.parametrize("at_once", [2, None])
def test_a_learner_sets_several_and_is_right(rule: str, at_once: int | None) -> None:
    actions = cf.ActionSet(dict.fromkeys(CHAIN.names, (-2, 2)), at_once=at_once)
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
    learner = cf.Focus(actions, space, epsilon=0.15, rule=rule, seed=3)
    rng = np.random.default_rng(8)
    assert cf.run(learner, lambda action: CHAIN.sample(action, 1, rng)[0], max_rounds=3000)
    assert learner.guarantee.holds(learner.result().model, CHAIN)
    sizes = {len(action.targets) for action in learner.counts}
    assert max(sizes) == 2 and sum(learner.counts.values()) == learner.rounds
    twin = learner.replay()
    assert twin.estimate == learner.estimate and twin.counts == learner.counts
    free = {(i, j): 0 for i in CHAIN.names for j in CHAIN.names if i != j}
    for action, n in learner.counts.items():
        for i, j in free:
            free[i, j] += n * (i in action.targets and j not in action.targets)
    assert min(free.values()) >= 0.1 * learner.rounds**0.5 - 1


def test_who_sets_one_variable_says_so() -> None:
    from causalfocus.baselines import Random

    actions = cf.ActionSet(dict.fromkeys(CHAIN.names, (-2, 2)), at_once=2)
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
    with pytest.raises(cf.InvalidInputError, match="RANDOM sets one variable at a time"):
        Random(actions, space, seed=0)
    with pytest.raises(cf.InvalidInputError, match="The paper's rule knows actions that set one"):
        cf.Focus(actions, space, epsilon=0.15, rule="paper")
