"""Samples of pandas: a Series is read by its labels, never by the order of its values.

pandas is not imported for that: what it made can be there only if somebody else has imported it.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.errors import InvalidInputError

MOST_NAMED = 5
"""Labels that an error repeats."""


def by_label(sample: Mapping[str, float | None] | ArrayLike) -> Any:
    """A Series as a mapping from its labels to its values; anything else as it is.

    Labels are not compared with the variables here: what holds for the keys of a mapping holds for
    them. What pandas calls missing is None.
    """
    pandas = sys.modules.get("pandas")
    if isinstance(sample, _kind(pandas, "DataFrame")):
        raise InvalidInputError(
            "A sample is one round, and this is a DataFrame: tell it with tell_many, take it into "
            "a campaign with import_frame, or take one of its rows, frame.iloc[0]."
        )
    if not isinstance(sample, _kind(pandas, "Series")):
        return sample
    series: Any = sample
    labels = list(series.index)
    if not all(isinstance(label, str) for label in labels):
        shown = ", ".join(map(repr, labels[:MOST_NAMED])) + (", ..." * (len(labels) > MOST_NAMED))
        raise InvalidInputError(
            f"The labels of the Series are no names: {shown}. Give it the names of the variables, "
            f"series.index = [...], or, if its values are in the order of the variables, tell "
            f"series.to_numpy()."
        )
    doubled = [label for i, label in enumerate(labels) if label in labels[:i]]
    if doubled:
        raise InvalidInputError(
            f"The Series has the label {doubled[0]!r} more than once: every variable has one "
            f"value. Leave all of them out but one."
        )
    is_missing = series.isna().tolist()
    return {
        label: None if missing else value
        for label, value, missing in zip(labels, series.tolist(), is_missing, strict=True)
    }


def in_order(samples: ArrayLike, names: Sequence[str]) -> Any:
    """The columns of a DataFrame in the order of the variables; anything else as it is."""
    if not isinstance(samples, _kind(sys.modules.get("pandas"), "DataFrame")):
        return samples
    frame: Any = samples
    columns = list(frame.columns)
    if sorted(map(str, columns)) != sorted(names) or set(columns) != set(names):
        raise InvalidInputError(
            f"The columns must be the variables, each once: {', '.join(names)}; got "
            f"{', '.join(map(str, columns))}. Rename or drop columns, or give frame.to_numpy() if "
            f"they are in that order."
        )
    return np.column_stack([frame[name].to_numpy(np.float64, na_value=np.nan) for name in names])


def _kind(pandas: Any, name: str) -> Any:
    """A class of pandas; none if it was not imported by anybody, or not wholly yet."""
    return getattr(pandas, name, ())
