"""Which intervention next, and when is the evidence sufficient to stop?

Names load on first use, so that importing the package costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from causalfocus.version import __version__

if TYPE_CHECKING:
    from causalfocus import baselines
    from causalfocus.actions import OBSERVE, Action, ActionSet, do
    from causalfocus.campaign import Campaign, CampaignError
    from causalfocus.errors import (
        AlreadyStoppedError,
        CausalFocusError,
        InvalidInputError,
        MissingExtraError,
        NumericalError,
        UnidentifiableWarning,
    )
    from causalfocus.focus import Focus
    from causalfocus.information import Complexity, complexity
    from causalfocus.moments import Moments
    from causalfocus.oracles import Alternative, best_alternative, joint_mle
    from causalfocus.result import Result
    from causalfocus.running import Round, run
    from causalfocus.sem import ActionMoments, LinearSEM
    from causalfocus.space import PAPER_CLASS, ModelClass
    from causalfocus.stopping import evidence, paper_log_tail
    from causalfocus.systems import random_sem
    from causalfocus.views import RowMoments

_HOME = {
    "OBSERVE": "actions",
    "Action": "actions",
    "ActionSet": "actions",
    "do": "actions",
    "Campaign": "campaign",
    "CampaignError": "campaign",
    "AlreadyStoppedError": "errors",
    "CausalFocusError": "errors",
    "InvalidInputError": "errors",
    "MissingExtraError": "errors",
    "NumericalError": "errors",
    "UnidentifiableWarning": "errors",
    "Focus": "focus",
    "Result": "result",
    "Complexity": "information",
    "complexity": "information",
    "Moments": "moments",
    "RowMoments": "views",
    "Alternative": "oracles",
    "best_alternative": "oracles",
    "joint_mle": "oracles",
    "Round": "running",
    "run": "running",
    "ActionMoments": "sem",
    "LinearSEM": "sem",
    "PAPER_CLASS": "space",
    "ModelClass": "space",
    "evidence": "stopping",
    "paper_log_tail": "stopping",
    "random_sem": "systems",
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
    "InvalidInputError",
    "LinearSEM",
    "MissingExtraError",
    "ModelClass",
    "Moments",
    "NumericalError",
    "Result",
    "Round",
    "RowMoments",
    "UnidentifiableWarning",
    "__version__",
    "baselines",
    "best_alternative",
    "complexity",
    "do",
    "evidence",
    "joint_mle",
    "paper_log_tail",
    "random_sem",
    "run",
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
