"""Moments: all that the data, or a model under action weights, say to the engine.

The one interface between statistics and optimisation. For every node j it holds, over the samples
in which j was free, the number n_j and the matrix G_j of sums of products
(Eqs. alternative_local_weight to alternative_local_second_moment); the optimisers cannot tell
whether these came from samples or from a model.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from causalfocus.arrays import Floats
from causalfocus.errors import InvalidInputError
from causalfocus.kernels.records import Actions, Model
from causalfocus.kernels.sums import moment_sums
from causalfocus.moments.coin_record import CoinRecord
from causalfocus.moments.labels import by_label, in_order
from causalfocus.moments.marks import mark_at, marks_before, training_mark
from causalfocus.moments.state import State
from causalfocus.moments.views import RowMoments, Split, TimedRows
from causalfocus.moments.watched_rows import WatchedRows
from causalfocus.system.action_set import LARGEST_VALUE
from causalfocus.system.actions import (
    OBSERVE,
    Action,
    action_as_arrays,
    actions_as_arrays,
    require_action,
)
from causalfocus.system.names import checked_names, position
from causalfocus.system.sem import LinearSEM

ASSIGNMENT_SLACK: Final = 1e-9
"""Relative difference up to which a reported value of a node that was set counts as the assigned
one (it then is the assigned one exactly): room for text and unit conversions. What is further away
is what the setting achieved."""


class Moments:
    """Running sums of a stream of samples, or expected ones.

    The sums carry about 106 bits, so one by one, in bulk or merged from parts gives the same
    numbers.

    Parameters
    ----------
    names : the nodes in order

    Examples
    --------
    >>> from causalfocus import OBSERVE, do
    >>> moments = Moments(["X1", "X2"])
    >>> moments.add(OBSERVE, {"X1": 0.3, "X2": -0.1})
    >>> moments.add(do("X1", 2.0), [2.0, 1.1])
    >>> moments.n, moments.rows(intercept=False).counts.tolist()
    (2.0, [1.0, 2.0])
    """

    def __init__(self, names: Iterable[str]) -> None:
        checked = checked_names(names)
        self._hold(checked, State.empty(len(checked)))

    def _hold(self, names: tuple[str, ...], state: State, coins: CoinRecord | None = None) -> None:
        self.names, self._state, self.coins = names, state, coins

    @classmethod
    def from_state(
        cls, names: tuple[str, ...], state: State, coins: CoinRecord | None = None
    ) -> Self:
        """Moments that hold a state; the two share it, for it is never written to.

        names : the nodes in order, checked before
        coins : what a rule by coins remembers of the same rounds
        """
        moments = cls.__new__(cls)
        cls._hold(moments, names, state, coins)
        return moments

    @property
    def state(self) -> State:
        """All that was added up so far. It is never written to."""
        return self._state

    @classmethod
    def expected(cls, model: LinearSEM, weights: Mapping[Action, float]) -> Self:
        """The moments that `model` gives on average when each action is taken `weights` times.

        Parameters
        ----------
        model : the reference model
        weights : non-negative weight per action; counts or proportions
        """
        actions = weights_as_arrays(weights, model.names)
        reference = Model(model.weights, model.noise_variances, model.intercepts, model.order)
        sums = moment_sums.expected_sums(reference, actions)
        if not np.isfinite(sums).all():
            raise InvalidInputError(
                "The expected moments are too large for floating-point numbers: the model, the "
                "values that are set or the weights are beyond any measurement. Rescale them."
            )
        total = float(actions.weights.sum())
        origin = model.moments(OBSERVE).mean
        # Less its mean, the system is the same without constants.
        centred = reference._replace(intercepts=np.zeros(len(model.names)))
        shifted = np.where(actions.is_set, actions.values - origin, 0.0)
        about = moment_sums.expected_sums(centred, actions._replace(values=shifted))
        sums = np.stack([sums, about])
        marks = {m: sums * (mark_at(m) / total) for m in range(marks_before(total))}
        empty = State.empty(len(model.names))
        state = replace(
            empty, n=total, sums=sums, origins=origin[None, :], marks=marks, is_expected=True
        )
        return cls.from_state(model.names, state)

    @property
    def n(self) -> float:
        """Number of samples, or the total weight."""
        return self._state.n

    def add(self, action: Action, sample: Mapping[str, float | None] | ArrayLike) -> None:
        """Add one sample: a mapping from name to value, a pandas Series by its labels, or p numbers
        in the order of the names.

        A node that was set may be left out of a mapping; if it is there, its value is what the
        setting achieved, and that is what others are regressed on. On an error nothing is added.
        """
        self.add_row(action, self.as_row(action, sample))

    def add_row(self, action: Action, row: Floats) -> None:
        """Add one sample that `as_row` has checked."""
        is_set, values, _ = action_as_arrays(action, self.names)
        state = self._state.with_anchor(round(self.n) + 1, is_set[0], row)
        self._state = state.after(is_set, values, row[None, :])

    def count_row(self) -> None:
        """Count one sample of which nothing else is to be remembered here."""
        self._state = replace(self._state, n=self._state.n + 1.0)

    def add_many(self, actions: Sequence[Action], samples: ArrayLike) -> None:
        """Add samples in bulk, one row and one action each; the columns of a DataFrame go by their
        names. On an error nothing is added.
        """
        if isinstance(actions, Action):
            raise InvalidInputError("add_many takes one action per sample; use add for one sample.")
        matrix = _as_floats(in_order(samples, self.names))
        if matrix.ndim != 2 or matrix.shape != (len(actions), len(self.names)):
            raise InvalidInputError(
                f"samples must have one row for each of the {len(actions)} actions and one column "
                f"for each of the nodes {', '.join(self.names)}; got shape {matrix.shape}."
            )
        is_set, values, _ = actions_as_arrays(actions, self.names)
        for s, action in enumerate(actions):
            try:
                self._check(action, matrix[s])
            except InvalidInputError as error:
                raise InvalidInputError(f"Sample {s + 1} of {len(actions)}: {error}") from None
        state, start = self._state, 0
        for number, (chosen, row) in enumerate(zip(is_set, matrix, strict=True), round(self.n) + 1):
            state = state.with_anchor(number, chosen, row)
            if state.anchors.complete_after < math.inf or state.is_expected:
                break
        while start < len(matrix):
            end = start + mark_at(marks_before(state.n + 1)) - round(state.n)
            state = state.after(is_set[start:end], values[start:end], matrix[start:end])
            start = end
        self._state = state

    def merge(self, other: "Moments") -> None:
        """Add all that another set of moments over the same nodes holds, collected later.

        With intercepts, evidence takes the first sample as its origin; so merge in the order of
        collection. There is none if the first samples of the parts are a thousand standard
        deviations apart, and no test of the assumptions until the next mark if thirty. Of the sums
        at earlier times, those of this part are kept.
        """
        if other.names != self.names:
            raise InvalidInputError(
                f"Moments of different nodes cannot be merged: {', '.join(self.names)} "
                f"against {', '.join(other.names)}."
            )
        self._state = self._state.merge(other.state)

    def copy(self) -> Self:
        return self.from_state(self.names, self._state, self.coins)

    def rows(self, *, intercept: bool) -> RowMoments:
        """The per-node view that the engine reads."""
        state = self._state
        if intercept not in state.views:
            state.views[intercept] = self._rows(state.sums, intercept)
        return state.views[intercept]

    def _rows(self, sums: Floats, intercept: bool) -> RowMoments:
        grams, lows, counts, means = moment_sums.row_moments(sums[int(intercept)], intercept)
        if intercept:
            means += np.where(counts[:, None] > 0.0, self._own_origins, 0.0)
        return RowMoments(grams, lows, counts, means)

    @property
    def _own_origins(self) -> Floats:
        """(p, p), the origin of every row."""
        found: Floats = self._state.origins[self._state.own]
        return found

    def evidence_rows(self, *, intercept: bool) -> RowMoments:
        """The per-node view of the evidence certificate.

        Without intercept it is `rows`. With one, node j's samples are shifted by the first of
        them, which then counts for nothing, and the Gram matrices get a last row and column for
        the constant: (p, p + 1, p + 1). If the very first sample set some nodes, the first samples
        that leave these free count for nothing in every row: a sample must count for all rows that
        it can or for none, or the swapped rows could close a cycle.
        """
        return (
            self.rows(intercept=False) if not intercept else self._about_anchors(self._state.sums)
        )

    def _about_anchors(self, sums: Floats, *, is_later: bool = False) -> RowMoments:
        """About the anchors; those do not count, unless the sums are of later samples."""
        anchors = self._state.anchors
        if is_later or not anchors.samples:
            none = np.zeros((len(self.names), len(self._state.origins)), dtype=np.bool_)
            left_out = (0.0 if is_later else 1.0), self._state.origins, none
        else:
            left_out = 1.0, anchors.values, anchors.skips
        grams, lows, counts = moment_sums.anchored_moments(sums[1], *left_out, self._state.own)
        if not self._state.is_sure:
            grams[:] = math.nan
        return RowMoments(grams, lows, counts, self._own_origins)

    def timed_rows(self, *, intercept: bool) -> TimedRows:
        """`evidence_rows` as they were at every mark, and as they are; without marks at which some
        variable had lost its digits.
        """
        kept = (
            self._about_anchors(sums) if intercept else self._rows(sums, intercept=False)
            for _, sums in sorted(self._state.marks.items())
        )
        views = [view for view in kept if not np.isnan(view.grams).any()]
        views.append(self.evidence_rows(intercept=intercept))
        return TimedRows(
            np.array([view.grams for view in views]),
            np.array([view.lows for view in views]),
            np.array([view.counts for view in views]),
        )

    def split(self, *, intercept: bool) -> Split | None:
        """Training and later samples; None while there are too few.

        The training is the latest of the marks after 8, 32, 128, ... samples that holds no more
        than a quarter of all. Numerators that use it count the later samples only, so no sample has
        to count for nothing as an origin.
        """
        mark = training_mark(self._state.marks, self.n)
        if mark is None:
            return None
        before = self._state.marks[mark]
        estimation = self._rows(before, intercept)
        later = np.stack(
            [moment_sums.difference(*both) for both in zip(self._state.sums, before, strict=True)]
        )
        if not intercept:
            return Split(mark // 2, estimation, self._rows(later, intercept=False), estimation)
        training, after = (self._about_anchors(sums, is_later=True) for sums in (before, later))
        return Split(mark // 2, training, after, estimation)

    def assumption_rows(self, *, intercept: bool) -> WatchedRows | None:
        """Training and later samples with squares, time and actions; None while there are too few,
        and of expected moments, which have no times.
        """
        mark = training_mark(self._state.marks, self.n)
        if mark is None or mark not in self._state.watch.marks:
            return None
        if intercept and not self._state.is_sure:
            return None
        return self._state.watch.rows(mark, about_origins=intercept)

    def as_row(
        self,
        action: Action,
        sample: Mapping[str, float | None] | ArrayLike,
        *,
        allow_missing: bool = False,
        failed: Collection[str] = (),
    ) -> Floats:
        """A sample as p numbers, checked; of a node that was set what it achieved, or what was
        assigned to it if nothing is said.

        allow_missing : whether a value may be None or nan, for what could not be measured; such a
            row cannot be added
        failed : nodes whose setting failed: nobody knows their values but who measured them
        """
        given = by_label(sample)
        if isinstance(given, Mapping):
            row = self._row_from_mapping(action, given, failed)
        else:
            row = _as_floats(given)
            if row.shape != (len(self.names),):
                raise InvalidInputError(
                    f"A sample is {len(self.names)} numbers, for {', '.join(self.names)}; "
                    f"got shape {row.shape}."
                )
        self._check(action, row, allow_missing=allow_missing)
        return row

    def _row_from_mapping(
        self, action: Action, sample: Mapping[str, float | None], failed: Collection[str]
    ) -> Floats:
        for name in sample:
            if name not in self.names:
                raise InvalidInputError(
                    f"There is no node named {name!r}. The nodes are {', '.join(self.names)}. "
                    f"Leave it out of the sample, or give it the name of a node."
                )
        require_action(action)
        given = {**{n: v for n, v in action.settings if n not in failed}, **sample}
        missing = [name for name in self.names if name not in given]
        if missing:
            raise InvalidInputError(
                f"The sample lacks {', '.join(missing)}. It needs a value for every node: None, "
                f"or NA in a file, for what could not be measured."
            )
        values = (given[name] for name in self.names)
        return _as_floats([math.nan if value is None else value for value in values])

    def _check(self, action: Action, row: Floats, *, allow_missing: bool = False) -> None:
        """Raise on values that cannot be; write the assigned values over reports that mean them."""
        require_action(action)
        is_right = np.abs(row) <= LARGEST_VALUE
        if not is_right.all() and allow_missing:
            is_right |= np.isnan(row)
        if not is_right.all():
            j = int(np.flatnonzero(~is_right)[0])
            raise InvalidInputError(
                f"The value of {self.names[j]} is {row[j]:g}: every value must be a finite number "
                f"of size at most {LARGEST_VALUE:g}. Leave the sample out if it was not measured."
            )
        for name, value in action.settings:
            j = position(name, self.names)
            if abs(row[j] - value) <= ASSIGNMENT_SLACK * (abs(value) or 1.0):
                row[j] = value

    def __repr__(self) -> str:
        return f"<Moments of {len(self.names)} nodes, n = {self.n:g}>"


def weights_as_arrays(weights: Mapping[Action, float], names: Sequence[str]) -> Actions:
    """Actions and weights of a mapping from action to weight, checked, for the kernels."""
    if not isinstance(weights, Mapping):
        raise InvalidInputError(
            f"The weights must map actions to numbers, got {type(weights).__name__}. "
            f"For example {{cf.OBSERVE: 10, cf.do({names[0]!r}, 2.0): 5}}."
        )
    settings = actions_as_arrays(weights, names)
    try:
        amounts = np.array([float(weight) for weight in weights.values()])
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"The weights must be numbers, got {list(weights.values())!r}."
        ) from None
    if not (amounts >= 0).all() or not (amounts <= LARGEST_VALUE).all():
        action = next(a for a, w in weights.items() if not 0 <= w <= LARGEST_VALUE)
        raise InvalidInputError(
            f"The weight of {action} is {weights[action]}: weights must be finite and not negative."
        )
    return Actions(*settings, amounts)


def _as_floats(given: ArrayLike) -> Floats:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"A sample must consist of numbers, got {given!r}.") from None
