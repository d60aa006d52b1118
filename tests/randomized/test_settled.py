"""What can be claimed is claimed: no certificate waits for the last bit of a sum."""

from causalfocus.benchmark.worlds import SPACE, Lab
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.learner.focus import Focus
from causalfocus.system.space import ModelClass


def test_an_estimate_proves_whatever_its_intervals_prove() -> None:
    """Where values are misread the guess is far off, and is moved to the edge of what may be said:
    there a weight is off by epsilon exactly, but for rounding.
    """
    lab = Lab("measurement noise", 0)
    learner = Focus(
        lab.world.actions,
        ModelClass(SPACE.least_effect),
        epsilon=0.15,
        delta=0.1,
        rule="randomized",
        seed=0,
    )
    rule, n_settled = learner.guarantee, 0
    assert isinstance(rule, RandomizedRule)
    while not learner.has_stopped and learner.rounds < 2_500:
        action = learner.ask()
        learner.tell(action, lab(action).sample)
        if learner.rounds % 50 == 0:
            kept, demands = rule.kept_intervals(learner.moments), rule.demands
            is_settled = demands.holds(kept, demands.claim(kept))
            assert demands.holds(kept, rule.estimate(learner.moments).weights)[is_settled].all()
            n_settled += int(is_settled.sum())
    assert learner.has_stopped and n_settled > 100
