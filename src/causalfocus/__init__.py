"""Which intervention next, and when is the evidence sufficient to stop?

Names load on first use, so that importing the package costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from causalfocus.version import __version__

if TYPE_CHECKING:
    from causalfocus import baselines
    from causalfocus.campaign import Campaign, CampaignError
    from causalfocus.errors import (
        AlreadyStoppedError,
        CausalFocusError,
        InvalidInputError,
        MissingExtraError,
        NumericalError,
        UnidentifiableWarning,
    )
    from causalfocus.guarantees import Guarantee, evidence, paper_log_tail
    from causalfocus.learner.focus import Focus
    from causalfocus.learner.result import Result
    from causalfocus.learner.run import Round, run
    from causalfocus.moments.moments import Moments
    from causalfocus.moments.views import RowMoments
    from causalfocus.oracles import (
        Alternative,
        best_alternative,
        edge_probabilities,
        joint_mle,
        probable_model,
    )
    from causalfocus.planning.complexity import Complexity, complexity
    from causalfocus.planning.plan import Plan, plan
    from causalfocus.system.action_moments import ActionMoments
    from causalfocus.system.action_set import ActionSet
    from causalfocus.system.actions import OBSERVE, Action, do
    from causalfocus.system.drawn import random_sem
    from causalfocus.system.question import total
    from causalfocus.system.sem import LinearSEM
    from causalfocus.system.space import PAPER_CLASS, ModelClass

_HOME = {
    "OBSERVE": "system.actions",
    "Action": "system.actions",
    "ActionSet": "system.action_set",
    "do": "system.actions",
    "Campaign": "campaign",
    "CampaignError": "campaign",
    "AlreadyStoppedError": "errors",
    "CausalFocusError": "errors",
    "InvalidInputError": "errors",
    "MissingExtraError": "errors",
    "NumericalError": "errors",
    "UnidentifiableWarning": "errors",
    "Focus": "learner.focus",
    "Result": "learner.result",
    "Complexity": "planning.complexity",
    "complexity": "planning.complexity",
    "Plan": "planning.plan",
    "plan": "planning.plan",
    "Moments": "moments.moments",
    "RowMoments": "moments.views",
    "Alternative": "oracles",
    "best_alternative": "oracles",
    "edge_probabilities": "oracles",
    "joint_mle": "oracles",
    "probable_model": "oracles",
    "Round": "learner.run",
    "run": "learner.run",
    "ActionMoments": "system.action_moments",
    "LinearSEM": "system.sem",
    "PAPER_CLASS": "system.space",
    "ModelClass": "system.space",
    "Guarantee": "guarantees",
    "evidence": "guarantees",
    "paper_log_tail": "guarantees",
    "random_sem": "system.drawn",
    "total": "system.question",
}

__all__ = [
    "OBSERVE",
    "PAPER_CLASS",
    "Action",
    "ActionMoments",
    "ActionSet",
    "AlreadyStoppedError",
    "Alternative",
    "Campaign",
    "CampaignError",
    "CausalFocusError",
    "Complexity",
    "Focus",
    "Guarantee",
    "InvalidInputError",
    "LinearSEM",
    "MissingExtraError",
    "ModelClass",
    "Moments",
    "NumericalError",
    "Plan",
    "Result",
    "Round",
    "RowMoments",
    "UnidentifiableWarning",
    "__version__",
    "baselines",
    "best_alternative",
    "complexity",
    "do",
    "edge_probabilities",
    "evidence",
    "joint_mle",
    "paper_log_tail",
    "plan",
    "probable_model",
    "random_sem",
    "run",
    "total",
]


def __getattr__(name: str) -> Any:
    if name == "baselines":
        return importlib.import_module("causalfocus.baselines")
    if name not in _HOME:
        raise AttributeError(f"module 'causalfocus' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"causalfocus.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
