"""Structural equations as text."""

from collections.abc import Sequence

import numpy as np

from causalfocus.arrays import Floats


def equations_of(
    names: Sequence[str], weights: Floats, intercepts: Floats, variances: Floats, digits: int
) -> str:
    """One line per node: its causes with their weights, its constant if any, and its noise."""
    width = max(map(len, names))
    lines = []
    for j, name in enumerate(names):
        terms = [
            (float(weights[j, k]), f" {names[k]}") for k in np.flatnonzero(weights[j]).tolist()
        ]
        if intercepts[j] != 0:
            terms.append((float(intercepts[j]), ""))
        noise = f"N(0, {variances[j]:.{digits}g})"
        lines.append(f"{name:<{width}} = {_sum_in_words(terms, noise, digits)}")
    return "\n".join(lines)


def _sum_in_words(terms: Sequence[tuple[float, str]], noise: str, digits: int) -> str:
    text = ""
    for value, variable in terms:
        sign = " - " if value < 0 else " + "
        text += f"{sign}{abs(value):.{digits}g}{variable}"
    text += f" + {noise}"
    return text[3:] if text.startswith(" + ") else text[1:].replace("- ", "-", 1)
