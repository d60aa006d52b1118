"""Rounds with a missing value: what they count for, and whether losses depend on the action."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

import causalfocus as cf
from causalfocus.guarantees.losses import loss_alarms
from worlds import action_set, rig

LOW, HIGH = cf.do("X1", -2.0), cf.do("X1", 2.0)


def test_the_evidence_is_the_mixture_over_the_best_single_probability() -> None:
    """Against the integrals themselves."""
    tallies, losses = {LOW: 12, HIGH: 9}, {LOW: 1, HIGH: 6}

    def mixed(lost: int, n: int) -> float:
        def weight(q: float) -> float:
            return float(q ** (lost - 0.5) * (1 - q) ** (n - lost - 0.5) / math.pi)

        return float(np.log(integrate.quad(weight, 0, 1)[0]))

    best = max(7 * math.log(q) + 14 * math.log1p(-q) for q in np.linspace(0.01, 0.99, 9999))
    expected = mixed(1, 12) + mixed(6, 9) - best - math.log(2)  # two groups share
    alarms = loss_alarms(tallies, losses, 2)
    assert [alarm.action for alarm in alarms] == ["do(X1 = -2)", "do(X1 = 2)"]
    assert alarms[0].evidence == pytest.approx(expected, abs=1e-6)
    assert alarms[0].evidence == alarms[1].evidence  # each is all but the other
    assert not alarms[0].can_refute and "missing depends on do(X1" in alarms[0].words


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5])
def test_under_the_null_no_group_has_a_mean_above_its_share(chance: float) -> None:
    """All sequences of losses over ten rounds, with their probabilities: the whole mean."""
    taken = [cf.OBSERVE, LOW, HIGH, cf.do({"X1": 2.0, "X2": 2.0}), LOW] * 2
    tallies = {action: taken.count(action) for action in taken}
    means: dict[str | None, float] = {}
    for lost in itertools.product((False, True), repeat=len(taken)):
        losses: dict[cf.Action, int] = {}
        for action, gone in zip(taken, lost, strict=True):
            if gone:
                losses[action] = losses.get(action, 0) + 1
        n = sum(lost)
        probability = chance**n * (1 - chance) ** (len(taken) - n)
        for alarm in loss_alarms(tallies, losses, 4):
            more = probability * math.exp(alarm.evidence)
            means[alarm.action] = means.get(alarm.action, 0.0) + more
    assert len(means) == 4
    assert all(mean <= 1.0 / 4.0 for mean in means.values()), means


def test_nothing_is_said_without_losses() -> None:
    assert loss_alarms({LOW: 100, HIGH: 100}, {}, 7) == ()


@pytest.mark.parametrize("rule", ["gaussian", "class"])
def test_a_round_with_a_missing_value_counts_for_its_action_alone(rule: str) -> None:
    """The evidence is that of the other rounds, to the bit; none, a nan and a left-out name."""
    space = cf.ModelClass(0.2, 1.5, (0.5, 2.0))
    truth = cf.random_sem(3, density=0.7, seed=5)
    actions = action_set(truth.names)
    learner, other = (cf.Focus(actions, space, epsilon=0.1, rule=rule, seed=1) for _ in range(2))
    system = rig(2, truth)
    for i in range(120):
        action = actions[i % len(actions)]
        sample = system(action)
        if i % 10 == 3:
            free = next(n for n in truth.names if n not in action.targets)
            holes = {**dict(zip(truth.names, sample, strict=True)), free: None}
            learner.tell(action, holes)
            continue
        learner.tell(action, sample)
        other.tell(action, sample)
    assert (learner.rounds, other.rounds) == (120, 108)
    assert learner.moments.n == 108 and sum(learner.counts.values()) == 120
    assert learner.decision.evidence == other.decision.evidence
    assert np.array_equal(learner.estimate.weights, other.estimate.weights)
    twin = learner.replay()
    assert twin.decision.evidence == learner.decision.evidence
    assert [a.kind for a in twin.alarms() if a.kind == "loss"] == ["loss"] * 7
    with pytest.raises(cf.InvalidInputError, match="lacks X2"):
        learner.tell(cf.OBSERVE, {"X1": 1.0, "X3": 0.0})
