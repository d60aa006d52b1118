"""Linear-Gaussian structural equation models: X = A X + c + noise (Eq. sem), with intercepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.system import convert
from causalfocus.system.actions import (
    OBSERVE,
    Action,
    action_as_arrays,
    actions_as_arrays,
    require_action,
)
from causalfocus.system.graph import topological_order
from causalfocus.system.names import checked_names, default_names

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


@dataclass(frozen=True)
class ActionMoments:
    """Mean and covariance of all nodes under one action; a node that is set has no variance."""

    mean: Floats
    covariance: Floats

    @property
    def second_moment(self) -> Floats:
        """E[X X'], Eq. reference_action_moments."""
        return self.covariance + np.outer(self.mean, self.mean)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LinearSEM:
    """A system of linear structural equations with independent Gaussian noise.

    ``weights[effect, cause]``, as in the paper: row j is the structural equation of node j.

    Parameters
    ----------
    weights : (p, p), acyclic; zero where there is no edge
    noise_variances : (p,) positive, or one number for all
    intercepts : (p,) or one number; 0 by default
    names : p names; X1, ..., Xp by default

    Examples
    --------
    >>> system = LinearSEM([[0, 0], [0.5, 0]], 1.0, names=["heat", "yield"])
    >>> system.edges
    (('heat', 'yield', 0.5),)
    >>> print(system.equations())
    heat  = N(0, 1)
    yield = 0.5 heat + N(0, 1)
    """

    weights: Floats
    noise_variances: Floats
    intercepts: Floats
    names: tuple[str, ...]

    @overload  # a list of lists of whole and other numbers is an ArrayLike to no checker
    def __init__(
        self,
        weights: Sequence[Sequence[float]],
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
    ) -> None: ...
    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
    ) -> None:
        matrix = _checked_matrix(weights)
        p = matrix.shape[0]
        labels = default_names(p) if names is None else checked_names(names)
        if len(labels) != p:
            raise InvalidInputError(
                f"There are {len(labels)} names for {p} nodes: {', '.join(labels)}. "
                f"Give one name for every row of the weights."
            )
        variances = _checked_vector("noise_variances", noise_variances, labels)
        for name, variance in zip(labels, variances, strict=True):
            if variance <= 0:
                raise InvalidInputError(
                    f"The noise variance of {name} is {variance:g}: it must be positive."
                )
        constants = _checked_vector("intercepts", intercepts, labels)
        order = topological_order(matrix, labels)
        order.setflags(write=False)
        self._set(matrix, variances, constants, labels)
        self.__dict__["order"] = order

    @classmethod
    def from_fit(
        cls, weights: Floats, variances: Floats, intercepts: Floats, names: tuple[str, ...]
    ) -> Self:
        """A model from the engine, which has made sure of everything that __init__ checks."""
        model = cls.__new__(cls)
        cls._set(model, weights, variances, intercepts, names)
        return model

    def _set(
        self, weights: Floats, variances: Floats, intercepts: Floats, names: tuple[str, ...]
    ) -> None:
        weights = weights + 0.0  # no negative zeros: equal models have equal bytes
        intercepts = intercepts + 0.0
        for array in (weights, variances, intercepts):
            array.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "noise_variances", variances)
        object.__setattr__(self, "intercepts", intercepts)
        object.__setattr__(self, "names", names)

    @property
    def p(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @cached_property
    def order(self) -> Ints:
        """A topological order of the nodes, causes first; ties go to the earlier name."""
        from causalfocus.kernels.sums import population

        order = population.causal_order(self.weights)
        order.setflags(write=False)
        return order

    @property
    def edges(self) -> tuple[tuple[str, str, float], ...]:
        """(cause, effect, weight) for every edge, sorted by effect and cause."""
        return tuple(
            (self.names[k], self.names[j], float(self.weights[j, k]))
            for j, k in zip(*np.nonzero(self.weights), strict=True)
        )

    @property
    def n_edges(self) -> int:
        return int(np.count_nonzero(self.weights))

    def parents(self, name: str) -> tuple[str, ...]:
        """The direct causes of a node."""
        return tuple(cause for cause, effect, _ in self.edges if effect == name)

    def moments(self, action: Action = OBSERVE) -> ActionMoments:
        """Exact mean and covariance under an action (Eq. interventional_distribution)."""
        from causalfocus.kernels.sums import population

        is_set, values, spreads = actions_as_arrays([action], self.names)
        effects = population.total_effects(self.weights, self.order, is_set[0])
        return ActionMoments(
            population.action_mean(effects, self.intercepts, is_set[0], values[0]),
            population.action_covariance(effects, self.noise_variances, is_set[0], spreads[0]),
        )

    def sample(
        self,
        action: Action = OBSERVE,
        n: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> Floats:
        """Independent samples under an action, one row each, columns in the order of the names.

        Parameters
        ----------
        action : what is done
        n : number of samples
        rng : a generator, or a seed for one
        """
        if not (isinstance(n, int | np.integer) and n >= 0):
            raise InvalidInputError(f"The number of samples must be 0 or more, got {n!r}.")
        generator = np.random.default_rng(rng)
        require_action(action)
        is_set, values, _ = action_as_arrays(action, self.names)
        samples = generator.standard_normal((n, self.p)) * np.sqrt(self.noise_variances)
        samples += self.intercepts
        for j in self.order:
            if is_set[0, j]:
                samples[:, j] = values[0, j]
            else:
                samples[:, j] += samples @ self.weights[j]
        return samples

    def kl(self, other: LinearSEM, action: Action = OBSERVE) -> float:
        """KL divergence of the other model's distribution from this one's, in nats."""
        from causalfocus.kernels.records import Model, Parameters
        from causalfocus.kernels.sums import population

        self._require_same_names(other)
        result = population.divergences(
            Model(self.weights, self.noise_variances, self.intercepts, self.order),
            Parameters(other.weights, other.noise_variances, other.intercepts),
            *actions_as_arrays([action], self.names),
        )
        return float(result[0])

    def shd(self, other: LinearSEM) -> int:
        """Structural Hamming distance: edges missing, extra or reversed; a reversal counts once."""
        self._require_same_names(other)
        mine, theirs = self.weights != 0, other.weights != 0
        differs = mine != theirs
        return int(np.count_nonzero(np.triu(differs | differs.T)))

    def equations(self, digits: int = 3) -> str:
        """The structural equations as text, one line per node."""
        width = max(map(len, self.names))
        return "\n".join(
            f"{name:<{width}} = {self._right_side(j, digits)}" for j, name in enumerate(self.names)
        )

    def _right_side(self, j: int, digits: int) -> str:
        terms = [(self.weights[j, k], f" {self.names[k]}") for k in np.flatnonzero(self.weights[j])]
        if self.intercepts[j] != 0:
            terms.append((self.intercepts[j], ""))
        text = ""
        for value, variable in terms:
            sign = " - " if value < 0 else " + "
            text += f"{sign}{abs(value):.{digits}g}{variable}"
        text += f" + N(0, {self.noise_variances[j]:.{digits}g})"
        return text[3:] if text.startswith(" + ") else text[1:].replace("- ", "-", 1)

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON. ``weights[effect][cause]``."""
        return {
            "names": list(self.names),
            "weights": self.weights.tolist(),
            "noise_variances": self.noise_variances.tolist(),
            "intercepts": self.intercepts.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The model that `to_dict` described; names and intercepts may be left out."""
        if not isinstance(data, Mapping):
            raise InvalidInputError(f"A model is a mapping, got {type(data).__name__}.")
        known = {"names", "weights", "noise_variances", "intercepts"}
        unknown = sorted(map(str, set(data) - known))
        missing = sorted({"weights", "noise_variances"} - set(data))
        if unknown or missing:
            problem = f"lacks {missing}" if missing else f"has the unknown keys {unknown}"
            raise InvalidInputError(
                f"The model {problem}. It takes weights and noise_variances, "
                f"and may have names and intercepts."
            )
        return cls(
            data["weights"],
            data["noise_variances"],
            data.get("intercepts", 0.0),
            data.get("names"),
        )

    def to_networkx(self) -> nx.DiGraph:
        """A directed graph from cause to effect.

        Edges carry `weight`; nodes carry `noise_variance` and `intercept`.
        """
        return convert.to_networkx(self.names, self.weights, self.noise_variances, self.intercepts)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> Self:
        """The model of a graph whose edges have a `weight` and whose nodes a `noise_variance`."""
        return cls(*convert.from_networkx(graph))

    def to_frame(self) -> pd.DataFrame:
        """The weights as a table: index `effect`, columns `cause`."""
        return convert.to_frame(self.names, self.weights)

    def to_edge_frame(self) -> pd.DataFrame:
        """One line per edge: cause, effect, weight."""
        return convert.to_edge_frame(self.edges)

    def to_adjacency(self) -> Floats:
        """adjacency[cause, effect], the transpose of the weights, as graph libraries have it."""
        return self.weights.T.copy()

    @classmethod
    def from_adjacency(
        cls,
        adjacency: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
    ) -> Self:
        """A model from adjacency[cause, effect]."""
        return cls(np.asarray(adjacency).T, noise_variances, intercepts, names)

    def relabel(self, names: Iterable[str]) -> Self:
        """The same system with its nodes in another order."""
        labels = checked_names(names)
        if sorted(labels) != sorted(self.names):
            raise InvalidInputError(
                f"{', '.join(labels)} is not a reordering of {', '.join(self.names)}."
            )
        at = [self.names.index(name) for name in labels]
        return type(self)(
            self.weights[np.ix_(at, at)], self.noise_variances[at], self.intercepts[at], labels
        )

    def _require_same_names(self, other: LinearSEM) -> None:
        if self.names != other.names:
            raise InvalidInputError(
                f"The models have different nodes or orders of nodes: {', '.join(self.names)} "
                f"against {', '.join(other.names)}. Reorder one with relabel()."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearSEM):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.noise_variances, other.noise_variances)
            and np.array_equal(self.intercepts, other.intercepts)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.weights.tobytes(), self.noise_variances.tobytes()))

    def __repr__(self) -> str:
        edges = ", ".join(f"{cause} -> {effect}: {w:.3g}" for cause, effect, w in self.edges)
        return f"<LinearSEM of {self.p} nodes, weights[effect, cause]; {edges or 'no edges'}>"


def _checked_matrix(weights: ArrayLike) -> Floats:
    matrix = _as_floats("weights", weights)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidInputError(
            f"weights must be a square matrix with one row per node, got shape {matrix.shape}."
        )
    return matrix


def _checked_vector(what: str, given: ArrayLike, names: tuple[str, ...]) -> Floats:
    vector = _as_floats(what, given)
    if vector.ndim == 0:
        vector = np.full(len(names), float(vector))
    if vector.shape != (len(names),):
        raise InvalidInputError(
            f"{what} must be one number or {len(names)} of them, one per node; "
            f"got shape {vector.shape}."
        )
    return vector


def _as_floats(what: str, given: ArrayLike) -> Floats:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{what} must be numbers, got {given!r}.") from None
    if not np.all(np.isfinite(array)):
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InvalidInputError(f"{what} must be finite: the entry at {where} is not.")
    return array
