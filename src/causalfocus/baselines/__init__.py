"""The methods that FOCUS is compared with, as learners with the same ask, tell and estimate."""

from typing import Any

from causalfocus.baselines.abcd import ABCD
from causalfocus.baselines.ait import AITDCDI
from causalfocus.baselines.baseline import Baseline
from causalfocus.baselines.cbed import CBED
from causalfocus.baselines.certified import Certified
from causalfocus.baselines.dcdi import DcdiFit, Schedule, constraint, fit_dcdi, fit_dcdi_gumbel
from causalfocus.baselines.git import GIT
from causalfocus.baselines.posterior import DagPosterior
from causalfocus.baselines.prior import Prior
from causalfocus.baselines.random import Random

BASELINES: dict[str, type[Baseline[Any]]] = {
    "random": Random,
    "ait-dcdi": AITDCDI,
    "cbed": CBED,
    "abcd": ABCD,
    "git-dcdi": GIT,
}
"""By the names of the command line."""

__all__ = [
    "ABCD",
    "AITDCDI",
    "BASELINES",
    "CBED",
    "GIT",
    "Baseline",
    "Certified",
    "DagPosterior",
    "DcdiFit",
    "Prior",
    "Random",
    "Schedule",
    "constraint",
    "fit_dcdi",
    "fit_dcdi_gumbel",
]
