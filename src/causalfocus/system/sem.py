"""Linear-Gaussian structural equation models: X = A X + c + noise (Eq. sem), with intercepts.

The paper's have no cycles. One that is asked for with ``loops=True`` may; see `system.feedback`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Bools, Floats, Ints
from causalfocus.errors import InvalidInputError
from causalfocus.system import convert, feedback
from causalfocus.system import names as node_names
from causalfocus.system.action_moments import ActionMoments
from causalfocus.system.actions import (
    OBSERVE,
    Action,
    action_as_arrays,
    actions_as_arrays,
    do,
    require_action,
)
from causalfocus.system.equations import equations_of
from causalfocus.system.graph import loop_in_words, require_no_self_loops, topological_order
from causalfocus.system.names import checked_names, default_names
from causalfocus.system.numbers import checked_matrix, checked_variances, checked_vector

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from causalfocus.system.action_set import ActionSet
    from causalfocus.system.set_point import SetPoint


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LinearSEM:
    """A system of linear structural equations with independent Gaussian noise.

    ``weights[effect, cause]``, as in the paper: row j is the structural equation of node j.

    Parameters
    ----------
    weights : (p, p), acyclic unless `loops`; zero where there is no edge
    noise_variances : (p,) positive, or one number for all
    intercepts : (p,) or one number; 0 by default
    names : p names; X1, ..., Xp by default
    loops : whether nodes may act on each other in a circle. Samples are then of the settled system

    Examples
    --------
    >>> system = LinearSEM([[0, 0], [0.5, 0]], 1.0, names=["heat", "yield"])
    >>> system.edges
    (('heat', 'yield', 0.5),)
    >>> print(system.equations())
    heat  = N(0, 1)
    yield = 0.5 heat + N(0, 1)
    >>> room = LinearSEM([[0, -0.5], [0.8, 0]], 1.0, names=["heat", "warmth"], loops=True)
    >>> room.has_loops, room.is_stable()
    (True, True)
    >>> room.predict({"heat": 1.0})
    {'heat': 1.0, 'warmth': 0.8}
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
        *,
        loops: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
        *,
        loops: bool = False,
    ) -> None: ...
    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike = 0.0,
        names: Iterable[str] | None = None,
        *,
        loops: bool = False,
    ) -> None:
        matrix = checked_matrix(weights)
        p = matrix.shape[0]
        labels = default_names(p) if names is None else checked_names(names)
        if len(labels) != p:
            raise InvalidInputError(
                f"There are {len(labels)} names for {p} nodes: {', '.join(labels)}. "
                f"Give one name for every row of the weights."
            )
        if not isinstance(loops, bool):
            raise InvalidInputError(f"loops must be True or False, got {loops!r}.")
        variances = checked_variances(noise_variances, labels)
        constants = checked_vector("intercepts", intercepts, labels)
        require_no_self_loops(matrix, labels)
        order = None if loops else topological_order(matrix, labels)
        self._set(matrix, variances, constants, labels)
        if order is not None:
            order.setflags(write=False)
            self.__dict__["order"] = order

    @classmethod
    def from_fit(
        cls, weights: Floats, variances: Floats, intercepts: Floats, names: tuple[str, ...]
    ) -> Self:
        """A model from the engine, which has made sure of everything that __init__ checks. It may
        have loops, and need not settle.
        """
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
        """A topological order of the nodes, causes first; ties go to the earlier name. A model with
        loops has none, and this is an error.
        """
        from causalfocus.kernels.sums import population

        order = population.causal_order(self.weights)
        if order[-1] < 0:
            loop = loop_in_words(self.weights, self.names)
            raise InvalidInputError(
                f"The model has the loop {loop}: no order of its nodes has all causes first. What "
                f"was asked for needs a model without loops."
            )
        order.setflags(write=False)
        return order

    @cached_property
    def has_loops(self) -> bool:
        """Whether some node acts on itself through others."""
        from causalfocus.kernels.sums import population

        return "order" not in self.__dict__ and bool(population.causal_order(self.weights)[-1] < 0)

    def is_stable(self, action: Action = OBSERVE) -> bool:
        """Whether the system settles under an action; without loops it always does. It does if the
        spectral radius of the weights among free nodes is below 1: what runs round dies away.
        """
        is_set, _, _ = actions_as_arrays([action], self.names)
        return not self.has_loops or feedback.spectral_radius(self.weights, is_set[0]) < 1.0

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
        effects = self._effects(action, is_set[0])
        return ActionMoments(
            population.action_mean(effects, self.intercepts, is_set[0], values[0]),
            population.action_covariance(effects, self.noise_variances, is_set[0], spreads[0]),
        )

    def _effects(self, action: Action, is_set: Bools) -> Floats:
        """What a unit of noise, or of a setting, of every node does; (p, p), [effect, cause]."""
        from causalfocus.kernels.sums import population

        if not self.has_loops:
            return population.total_effects(self.weights, self.order, is_set)
        feedback.require_settling(self.weights, is_set, self.names, action)
        return feedback.settled_effects(self.weights, is_set)

    def total_effects(self) -> Floats:
        """What setting a node by one unit more does to every node, along all ways; (p, p), [effect,
        cause]. The cause alone is set and everything else is free; the diagonal is 1.
        """
        if not self.has_loops:
            return self._effects(OBSERVE, np.zeros(self.p, dtype=np.bool_))
        columns = [
            self._effects(do(name, 0.0), np.arange(self.p) == k)[:, k]
            for k, name in enumerate(self.names)
        ]
        return np.column_stack(columns)

    def predict(self, settings: Mapping[str, float]) -> dict[str, float]:
        """The mean of every node when some are set; of the observed system if none is.

        Parameters
        ----------
        settings : value of every node that is set, by name
        """
        mean = self.moments(do(settings)).mean
        return dict(zip(self.names, mean.tolist(), strict=True))

    def settings_for(
        self, wished: Mapping[str, float], actions: ActionSet, using: Iterable[str] | None = None
    ) -> SetPoint:
        """The settings of least change that bring means to wished values, see `set_point`."""
        from causalfocus.system.set_point import set_point

        return set_point(self, wished, actions, using)

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
        if self.has_loops:
            feedback.require_settling(self.weights, is_set[0], self.names, action)
            samples[:, is_set[0]] = values[0, is_set[0]]
            return feedback.settle(self.weights, samples, is_set[0])
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

        node_names.require_same_names(self.names, other.names)
        settings = actions_as_arrays([action], self.names)
        theirs = Parameters(other.weights, other.noise_variances, other.intercepts)
        if self.has_loops or other.has_loops:
            is_set, mine = settings[0][0], self.moments(action)
            feedback.require_settling(other.weights, is_set, other.names, action)
            own = Parameters(self.weights, self.noise_variances, self.intercepts)
            return feedback.divergence(own, theirs, is_set, mine.mean, mine.covariance)
        model = Model(self.weights, self.noise_variances, self.intercepts, self.order)
        return float(population.divergences(model, theirs, *settings)[0])

    def shd(self, other: LinearSEM) -> int:
        """Structural Hamming distance: edges missing, extra or reversed; a reversal counts once."""
        node_names.require_same_names(self.names, other.names)
        mine, theirs = self.weights != 0, other.weights != 0
        is_reversed = mine & ~mine.T & theirs.T & ~theirs
        return int(np.count_nonzero(mine != theirs) - np.count_nonzero(is_reversed))

    def equations(self, digits: int = 3) -> str:
        """The structural equations as text, one line per node."""
        return equations_of(self.names, self.weights, self.intercepts, self.noise_variances, digits)

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON. ``weights[effect][cause]``; `loops` only if there are some."""
        plain = {
            "names": list(self.names),
            "weights": self.weights.tolist(),
            "noise_variances": self.noise_variances.tolist(),
            "intercepts": self.intercepts.tolist(),
        }
        return plain | {"loops": True} if self.has_loops else plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The model that `to_dict` described; names, intercepts and loops may be left out."""
        return cls(**convert.from_dict(data))

    def to_networkx(self) -> nx.DiGraph:
        """A directed graph from cause to effect. Edges carry `weight`, nodes `noise_variance` and
        `intercept`; a graph with loops says `loops`.
        """
        return convert.to_networkx(
            *(self.names, self.weights, self.noise_variances, self.intercepts), loops=self.has_loops
        )

    @classmethod
    def from_networkx(
        cls,
        graph: nx.DiGraph,
        *,
        noise_variances: float | Mapping[str, float] | None = None,
        loops: bool | None = None,
    ) -> Self:
        """The model of a directed graph whose edges have a `weight`.

        noise_variances : of nodes without a `noise_variance` of their own: one for all, or by name
        loops : whether there may be some; by default if the graph says so, as that of `to_networkx`
        """
        return cls(**convert.from_networkx(graph, noise_variances, loops))

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
        *,
        loops: bool = False,
    ) -> Self:
        """A model from adjacency[cause, effect]."""
        return cls(np.asarray(adjacency).T, noise_variances, intercepts, names, loops=loops)

    def relabel(self, names: Iterable[str]) -> Self:
        """The same system with its nodes in another order."""
        labels = node_names.names_in_order(names, self.names)
        at = [self.names.index(name) for name in labels]
        return type(self)(
            self.weights[np.ix_(at, at)],
            self.noise_variances[at],
            self.intercepts[at],
            labels,
            loops=self.has_loops,
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
        nodes = f"{self.p} nodes with loops" if self.has_loops else f"{self.p} nodes"
        return f"<LinearSEM of {nodes}, weights[effect, cause]; {edges or 'no edges'}>"
