"""Requests with a key: one that comes again, because its answer was lost, is not done again."""

from collections.abc import Mapping

import numpy as np

from causalfocus.campaign.entry import as_text
from causalfocus.campaign.events import Event, sample_text
from causalfocus.campaign.settings import Details
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Sample
from causalfocus.moments.labels import by_label
from causalfocus.moments.moments import Moments
from causalfocus.system.actions import OBSERVE, Action


def checked_key(key: str | None) -> str | None:
    """A key as it can be kept."""
    if key is None:
        return None
    if not isinstance(key, str) or not key.strip():
        raise InvalidInputError(f"The key of a request is a text that is not empty, got {key!r}.")
    return as_text(key)


def require_same(
    known: Event,
    sample: Sample,
    number: int | None,
    action: Action | None,
    details: Details,
    names: tuple[str, ...],
) -> None:
    """Raise unless a request says what it said when it came before.

    Parameters
    ----------
    known : what it led to
    sample, number, action, details : what it says now; number and action as far as it does
    names : of the variables by now; those that were added since need not be given
    """
    then, sample = names[: len(known.sample or ())], by_label(sample)
    if isinstance(sample, Mapping):
        sample = {name: value for name, value in sample.items() if name in then}
    elif np.ndim(sample) == 1:
        sample = np.asarray(sample)[: len(then)]
    done = known.action or OBSERVE
    row = Moments(then).as_row(done, sample, allow_missing=True, failed=details.failed)
    is_same = (
        sample_text(row.tolist()) == sample_text(known.sample or ())
        and number in (None, known.ask)
        and action in (None, known.action)
        and set(details.failed) == set(known.failed)
    )
    if not is_same:
        raise InvalidInputError(
            f"The key {known.key!r} was used for round {known.round}, which says something else: "
            f"nothing was recorded. Give every request a key of its own."
        )
