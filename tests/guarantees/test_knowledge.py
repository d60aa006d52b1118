"""Rules that are told what is known: what they need not show, how often they err, what it saves."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import causalfocus as cf
from causalfocus.baselines import AITDCDI, CBED, Certified, Random
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.kernels.exact import other_graphs
from causalfocus.kernels.records import Span
from instances import draw_each
from knowledge import agrees, drawn_knowledge
from worlds import ACTIONS, CHAIN, action_set, finish, rig

from .test_evidence_of_graphs import BruteForce, judge
from .test_validity import COARSE, DELTA, EPSILON, any_system_for, system_for

NAMES = ("X1", "X2", "X3")
EVERYTHING: dict[str, Any] = {"required": [("X1", "X2"), ("X2", "X3")], "forbidden": [("X1", "X3")]}


def rounds_of(space: cf.ModelClass, rule: str, seed: int, most: int = 6000) -> int:
    learner = cf.Focus(ACTIONS, space, epsilon=0.15, delta=0.05, rule=rule, seed=seed)
    return finish(learner, rig(seed, CHAIN), most).rounds


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [20, 120, 400])
def test_branch_b_over_all_dags_that_agree(seed: int, n: int) -> None:
    """The class rule's other graphs: those that are known not to be are left out by hand, from
    tables that know nothing.
    """
    truth, space, moments = draw_each(4, n, seed)
    known = replace(space, **drawn_knowledge(truth, np.random.default_rng(seed)))
    estimate = cf.joint_mle(moments, known)
    levels = (-64.0, 60.0)
    brute = BruteForce(
        *judge(ClassRule(ACTIONS, space, EPSILON, 0.05), moments, estimate, levels),
        tuple(frozenset(int(k) for k in np.flatnonzero(row)) for row in estimate.weights),
        lambda dag: agrees(dag, known, truth.names),
    )
    rule = ClassRule(action_set(truth.names), known, EPSILON, 0.05)
    costs, evidence = judge(rule, moments, estimate, levels)
    found = other_graphs.different_graph_evidence(costs, evidence, estimate.weights, Span(*levels))
    assert found <= max(brute.true_least(), -64.0)
    if found > -math.inf:
        assert brute.rejects(found - 1e-9)
    if -math.inf < found < 60.0:
        assert not brute.rejects(found + 2e-3)


@pytest.mark.parametrize("rule", ["class", "gaussian", "randomized"])
def test_what_is_known_is_shown_from_the_start_and_never_again_asked(rule: str) -> None:
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False, **EVERYTHING)
    learner = cf.Focus(ACTIONS, space, epsilon="graph", delta=0.05, rule=rule, seed=1)
    system = rig(1, CHAIN)
    for _ in range(60):
        edges = {(cause, effect) for cause, effect, _ in learner.estimate.edges}
        assert set(space.required) <= edges and not edges & set(space.forbidden)
        pairs = learner.effects()
        assert pairs["X1", "X3"].is_given and pairs["X1", "X3"].verdict == "absent"
        assert pairs["X1", "X2"].is_required and not pairs["X3", "X2"].is_required
        if learner.has_stopped:
            break
        action = learner.ask()
        learner.tell(action, system(action))
    if rule != "randomized":
        # Nothing is left that the graph alone could be wrong in.
        assert learner.has_stopped and learner.result().certified


@pytest.mark.parametrize("rule", ["class", "gaussian", "randomized"])
def test_knowledge_saves_rounds(rule: str) -> None:
    """In the median of some runs, with the same systems and the same coins."""
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
    known = replace(
        space,
        required=(("X1", "X2"),),
        forbidden=(("X1", "X3"),),
        tiers=(("X1",), ("X2",), ("X3",)),
    )
    seeds = range(7)
    without, with_it = (
        float(np.median([rounds_of(given, rule, seed) for seed in seeds]))
        for given in (space, known)
    )
    assert with_it < without


def wrong_stop(rule: str, seed: int) -> tuple[bool, bool]:
    """Whether a run that is told something true has stopped, and whether wrongly."""
    truth, space, design = (system_for if rule == "class" else any_system_for)(seed)
    rng = np.random.default_rng([seed, 7])
    known = replace(space, **drawn_knowledge(truth, rng))
    if rule == "randomized" and seed % 2:
        known = replace(known, acyclic=True)
    epsilon = EPSILON if rule == "class" else COARSE * space.least_effect
    learner = cf.Focus(
        action_set(truth.names, at_once=None if rule == "randomized" else 1),
        known,
        epsilon=epsilon,
        delta=DELTA,
        rule=rule,
        design=design,
        seed=seed,
    )
    finish(learner, lambda action: truth.sample(action, 1, rng)[0], 20_000)
    result = learner.result()
    broken = result.certified and not learner.guarantee.holds(result.model, truth)
    shown = {(cause, effect) for cause, effect, _ in result.model.edges}
    assert set(known.required) <= shown and not shown & set(known.forbidden)
    return learner.has_stopped, broken or learner.is_refuted


@pytest.mark.parametrize("rule", ["class", "gaussian", "randomized"])
def test_wrong_stops_with_true_knowledge(rule: str) -> None:
    rows = [wrong_stop(rule, seed) for seed in range(40 if rule == "randomized" else 14)]
    wrong = sum(row[1] for row in rows)
    limit = float(stats.beta.ppf(0.95, wrong + 1, max(len(rows) - wrong, 1)))
    assert all(row[0] for row in rows), rows
    assert limit < DELTA, f"{wrong} of {len(rows)} wrong"


def test_an_effect_that_is_forbidden_is_not_paid_for() -> None:
    """On the same samples the evidence is more, and never less."""
    moments = cf.Moments(CHAIN.names)
    for action in ACTIONS:
        moments.add_many([action] * 60, CHAIN.sample(action, 60, np.random.default_rng(3)))
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False)
    known = replace(space, forbidden=(("X1", "X3"),), required=(("X2", "X3"),))
    for rule in ("class", "gaussian"):
        estimate = cf.probable_model(moments, known)
        one, more = (
            cf.evidence(moments, estimate, given, epsilon=0.15, rule=rule)
            for given in (space, known)
        )
        assert more >= one - 1e-9
        one, more = (
            cf.evidence(moments, estimate, given, epsilon="graph", rule=rule)
            for given in (space, known)
        )
        assert more > one


def test_the_claim_names_what_it_rests_on() -> None:
    for rule in ("class", "gaussian", "randomized"):
        space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), outcomes=["X3"], required=[("X1", "X2")])
        learner = cf.Focus(ACTIONS, space, rule=rule, seed=0)
        words = learner.guarantee.assumptions_in_words()
        assert "if what was given as outcomes, required is so" in words
        plain = cf.Focus(ACTIONS, cf.ModelClass(0.3, 1.5, (0.8, 1.2)), rule=rule, seed=0)
        assert "was given" not in plain.guarantee.assumptions_in_words()


BAD = [
    ({"forbidden": [("X9", "X1")]}, "forbidden names 'X9'.*The nodes are X1, X2, X3.*leave it out"),
    ({"required": [("X1", "X9")]}, "required names 'X9'.*The nodes are X1, X2, X3.*leave it out"),
    ({"outcomes": ["X9"]}, "outcomes names 'X9'.*The nodes are X1, X2, X3.*leave it out"),
    ({"tiers": [["X1"], ["X9"]]}, "tiers names 'X9'.*The nodes are X1, X2, X3.*leave it out"),
]


@pytest.mark.parametrize("rule", ["class", "gaussian", "paper", "randomized"])
@pytest.mark.parametrize(("given", "words"), BAD)
def test_unknown_names_are_said_at_once(rule: str, given: dict[str, Any], words: str) -> None:
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), **given)
    with pytest.raises(InvalidInputError, match=words):
        cf.Focus(ACTIONS, space, rule=rule)


LOOP = [("X1", "X2"), ("X2", "X3"), ("X3", "X1")]


@pytest.mark.parametrize("rule", ["class", "gaussian", "paper"])
def test_required_loops_are_for_rules_that_allow_feedback(rule: str) -> None:
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), required=LOOP)
    with pytest.raises(
        InvalidInputError, match=rf"required has the loop X.*{rule} rule.*Leave one"
    ):
        cf.Focus(ACTIONS, space, rule=rule)
    learner = cf.Focus(ACTIONS, space, rule="randomized", seed=1)
    assert {(c, e) for c, e, _ in learner.estimate.edges} == set(LOOP)
    with pytest.raises(InvalidInputError, match=r"required has the loop .* acyclic=True"):
        replace(space, acyclic=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"outcomes": ["X1"]}, "outcomes says that 'X1' drives nothing. Leave one out"),
        ({"forbidden": [("X1", "X2")]}, "forbidden says that there is none. Leave one out"),
        ({"tiers": [["X2"], ["X1"]]}, "tiers say that 'X1' comes after 'X2'. Leave one out"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        cf.ModelClass(0.3, required=[("X1", "X2")], **given)


def test_systems_that_are_not_as_they_are_known_to_be() -> None:
    for rule in ("gaussian", "randomized"):
        cases: list[tuple[dict[str, Any], str]] = [
            ({"forbidden": [("X1", "X2")]}, "X1 acts on X2, and by outcomes, forbidden or tiers"),
            ({"required": [("X1", "X3")]}, "X1 does not act on X3, and required says that it does"),
        ]
        for given, words in cases:
            learner = cf.Focus(ACTIONS, cf.ModelClass(0.3, **given), rule=rule, seed=0)
            with pytest.raises(InvalidInputError, match=words):
                learner.guarantee.require(CHAIN)


def test_baselines_that_can_keep_to_it_and_those_that_cannot() -> None:
    space = cf.ModelClass(0.3, 1.5, (0.8, 1.2), intercept=False, **EVERYTHING)
    system = rig(2, CHAIN)
    kinds: list[type[Random] | type[CBED]] = [Random, CBED]
    for kind in kinds:
        learner = kind(ACTIONS, space, seed=1)
        for _ in range(4):
            action = learner.ask()
            learner.tell(action, system(action))
            edges = {(cause, effect) for cause, effect, _ in learner.estimate.edges}
            assert set(space.required) <= edges and not edges & set(space.forbidden)
    posterior = CBED(ACTIONS, space, seed=1).posterior
    assert posterior.edge_probabilities[[1, 2, 2], [0, 1, 0]].tolist() == [1.0, 1.0, 0.0]
    drawn = posterior.draw_graphs(50, np.random.default_rng(0))
    assert (drawn[:, 1] & 1).all() and (drawn[:, 2] == 2).all()
    assert Certified(learner, epsilon=0.15).learner is not None
    with pytest.raises(InvalidInputError, match=r"AIT-DCDI cannot be told .* Leave that out"):
        AITDCDI(ACTIONS, space, seed=1)
    with pytest.raises(InvalidInputError, match="CBED knows systems without feedback"):
        CBED(ACTIONS, cf.ModelClass(0.3, required=LOOP))
