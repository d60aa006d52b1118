"""What follows from the evidence: what settings do, and which settings do what is wished.

By how much a mean moves when settings move is guaranteed where the rule's intervals hold whatever
the graph is (`guarantees.changes`). Its level is not: levels drift, and nothing that is set is
compared with nothing. So a prediction is the level at a reference, every variable that is set in
the middle of its range, as it is estimated, and what is certain of the change from there.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from causalfocus.arrays import Bools, Floats
from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.changes import Basis, EffectBounds
from causalfocus.system.action_set import ActionSet
from causalfocus.system.names import position
from causalfocus.system.sem import LinearSEM
from causalfocus.system.set_point import SetPoint, set_point


@dataclass(frozen=True, kw_only=True)
class Change:
    """By how much the mean of a variable moves.

    Attributes
    ----------
    name : of the variable
    estimate : by the model that is shown
    low, high : what the evidence leaves; infinite where there is no bound
    basis : "guaranteed" with probability 1 - delta, together with every other interval, verdict and
        change, at any time and whatever is asked; "given the graph": not rejected at delta if the
        effects of the estimate are all there are; "estimate": there is no bound
    """

    name: str
    estimate: float
    low: float
    high: float
    basis: Basis


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The mean of a variable under settings.

    Attributes
    ----------
    name : of the variable
    mean : as it is estimated
    low, high : the level as it is estimated, and from there every change that the evidence leaves;
        infinite where there is no bound
    basis : what the change rests on, see `Change`; the level is always an estimate
    level : the estimated mean at the reference, where what is set is in the middle of its range
    """

    name: str
    mean: float
    low: float
    high: float
    basis: Basis
    level: float


Line = TypeVar("Line", bound=Change | Prediction)


class _Lines(Sequence[Line]):
    """One line for every variable that is not set.

    Parameters
    ----------
    lines : one for each
    says : what they are, in a sentence
    """

    def __init__(self, lines: Iterable[Line], says: str) -> None:
        self._lines: tuple[Line, ...] = tuple(lines)
        self.says = says

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    def __getitem__(self, at: Any) -> Any:
        """A line by its place, or by the name of its variable."""
        if not isinstance(at, str):
            return self._lines[at]
        return self._lines[position(at, [one.name for one in self._lines])]

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON: infinite numbers are None."""
        return {
            one.name: {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in asdict(one).items()
                if key != "name"
            }
            for one in self._lines
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(one.name for one in self._lines)}>"

    def __str__(self) -> str:
        table = [("variable", *self._headings), *((one.name, *self._cells(one)) for one in self)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join([*(_align(cells, widths) for cells in table), self.says])

    _headings: tuple[str, ...]

    @abstractmethod
    def _cells(self, one: Line) -> tuple[str, ...]:
        """A line of the table, in words."""


def _align(cells: Iterable[str], widths: Iterable[int]) -> str:
    """Cells side by side, each as wide as its column."""
    pairs = zip(cells, widths, strict=True)
    return "  ".join(cell.ljust(width) for cell, width in pairs).rstrip()


class Changes(_Lines[Change]):
    """By how much the means of all free variables move."""

    _headings = ("change", "interval", "basis")

    def _cells(self, one: Change) -> tuple[str, ...]:
        return f"{one.estimate:+.4g}", _interval(one.low, one.high, "+.4g"), one.basis


class Predictions(_Lines[Prediction]):
    """The means of all free variables."""

    _headings = ("mean", "interval", "basis of the change")

    def _cells(self, one: Prediction) -> tuple[str, ...]:
        return f"{one.mean:.6g}", _interval(one.low, one.high, ".6g"), one.basis


def _interval(low: float, high: float, form: str) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no bound yet"
    return f"{low:{form}} to {high:{form}}"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Settings for what is wished, and what they will bring.

    Attributes
    ----------
    point : the settings
    predictions : of every variable that is not set
    """

    point: SetPoint
    predictions: Predictions

    def to_dict(self) -> dict[str, Any]:
        """A form for JSON."""
        return self.point.to_dict() | {"predictions": self.predictions.to_dict()}

    def __str__(self) -> str:
        return f"{self.point.words}\n{self.predictions}"


@dataclass(frozen=True, eq=False)
class Consequences:
    """What follows from what is known at some time.

    Attributes
    ----------
    model : shown then, with constants from which levels can be told
    bounds : what the evidence leaves of all effects
    actions : what can be set, and in which ranges
    delta : how often what is guaranteed may be wrong
    """

    model: LinearSEM
    bounds: EffectBounds
    actions: ActionSet
    delta: float

    def change(self, start: Mapping[str, float], end: Mapping[str, float]) -> Changes:
        """Return by how much every free mean moves when settings move; see below."""
        before, after = self._within_ranges("before", start), self._within_ranges("after", end)
        if before.keys() != after.keys():
            odd = sorted(before.keys() ^ after.keys())
            raise InvalidInputError(
                f"A change is from values to other values of the same variables, and of "
                f"{', '.join(odd)} only one is given. Give both, the same twice for what is held; "
                f"what is not named is free both times."
            )
        moves = ", ".join(f"{name} from {before[name]:.6g} to {after[name]:.6g}" for name in after)
        says = f"What moves: {moves or 'nothing'}. {self._basis()}"
        return Changes(self._changes(before, after), says)

    def predict(self, settings: Mapping[str, float]) -> Predictions:
        """Return the mean of every variable that is not set; see below."""
        given = self._within_ranges("settings", settings)
        reference = self._reference(given)
        levels = self.model.predict(reference)
        says = (
            f"Levels are estimated, where {_in_words(reference)}. {self._basis()}"
            if given
            else "Nothing is set: these are estimates, and no interval speaks of them."
        )
        return Predictions(
            (
                Prediction(
                    name=one.name,
                    mean=levels[one.name] + one.estimate,
                    low=levels[one.name] + one.low if given else -math.inf,
                    high=levels[one.name] + one.high if given else math.inf,
                    basis=one.basis if given else "estimate",
                    level=levels[one.name],
                )
                for one in self._changes(reference, given)
            ),
            says,
        )

    def settings_for(
        self, wished: Mapping[str, float], using: Iterable[str] | None = None
    ) -> Proposal:
        """Return the settings that bring means to wished values; see below."""
        point = set_point(self.model, wished, self.actions, using)
        return Proposal(point=point, predictions=self.predict(point.settings))

    def _changes(self, before: Mapping[str, float], after: Mapping[str, float]) -> list[Change]:
        names = self.model.names
        is_set: Bools = np.array([name in after for name in names])
        steps: Floats = np.array([after[n] - before[n] if n in after else 0.0 for n in names])
        least, most = self.bounds.change(is_set, steps)
        start, end = self.model.predict(before), self.model.predict(after)
        found = []
        for j in np.flatnonzero(~is_set):
            low, high, name = float(least[j]), float(most[j]), names[j]
            found.append(
                Change(
                    name=name,
                    estimate=min(max(end[name] - start[name], low), high),
                    low=low,
                    high=high,
                    basis=self.bounds.basis if math.isfinite(high - low) else "estimate",
                )
            )
        return found

    def _reference(self, settings: Iterable[str]) -> dict[str, float]:
        """The middles of the ranges; of a switch, which has none, the lower end."""
        found = {}
        for name in settings:
            low, high = self._range(name)
            found[name] = low if name in self.actions.switches else 0.5 * (low + high)
        return found

    def _range(self, name: str) -> tuple[float, float]:
        names = self.model.names
        span = self.actions.ranges[position(name, names)]
        if span is None:
            pairs = zip(names, self.actions.ranges, strict=True)
            known = [one for one, other in pairs if other is not None]
            raise InvalidInputError(
                f"{name} has no range and was never set: no coin speaks of what it does. What can "
                f"be set is {', '.join(known) or 'nothing'}."
            )
        return span

    def _within_ranges(self, what: str, given: Mapping[str, float]) -> dict[str, float]:
        """Settings within the ranges: that effects are linear was watched there alone."""
        if not isinstance(given, Mapping):
            raise InvalidInputError(f'{what}: give values by name, such as {{"X1": 2}}.')
        for name, value in given.items():
            low, high = self._range(name)
            is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (is_number and low <= value <= high):
                raise InvalidInputError(
                    f"{name} = {value!r} is no number in its range, {low:g} to {high:g}. Beyond it "
                    f"nothing was watched: give a value within, or widen the range and go on."
                )
        return {name: float(value) for name, value in given.items()}

    def _basis(self) -> str:
        """What an interval rests on, in a sentence."""
        if self.bounds.basis == "guaranteed":
            return (
                f"Changes are guaranteed: all intervals, of whatever is asked, hold at the same "
                f"time, except with probability {self.delta:g}."
            )
        if self.bounds.basis == "given the graph":
            return (
                f"Changes are estimates: their intervals, at {self.delta:g}, take for granted that "
                f"the effects that are shown are all there are."
            )
        return "Nothing is certain of these: the assumptions are refuted."


class HasConsequences(ABC):
    """A learner or a result, which can be asked what follows from it."""

    @property
    @abstractmethod
    def consequences(self) -> Consequences:
        """What follows from what is known then."""

    def predict(self, settings: Mapping[str, float]) -> Predictions:
        """Return the mean of every variable that is not set, as it is estimated, with an interval.

        Under the randomized rule the interval holds every change that the evidence leaves from the
        middle of the ranges on, which is guaranteed; the level there is an estimate, and always
        will be. Under the other rules intervals take the graph for granted.

        Parameters
        ----------
        settings : value of every variable that is set, by name, in its range

        Examples
        --------
        >>> import causalfocus as cf
        >>> actions = cf.ActionSet({"heat": (20, 80), "flow": (1, 3)})
        >>> learner = cf.Focus(actions, cf.ModelClass(0.2), epsilon=0.1, seed=1)
        >>> learner.predict({"heat": 60})["flow"].basis
        'estimate'
        """
        return self.consequences.predict(settings)

    def change(self, before: Mapping[str, float], after: Mapping[str, float]) -> Changes:
        """Return by how much the mean of every free variable moves when settings move.

        Under the randomized rule the intervals are guaranteed: all of them, of whatever is asked
        and at any moment, hold together with all verdicts, except with probability delta. `before`
        may also say where the variables stood by themselves.

        Parameters
        ----------
        before, after : values of the same variables, by name, in their ranges; the same value twice
            for one that is held. What is not named is free both times
        """
        return self.consequences.change(before, after)

    def settings_for(
        self, wished: Mapping[str, float], using: Iterable[str] | None = None
    ) -> Proposal:
        """Return the settings, within the ranges, that bring means to wished values, as estimated,
        with the intervals of what will come; or the nearest, if they cannot be reached.

        Of all settings that do, those that leave the middles of the ranges least: the sum of
        squares, in half ranges, is the smallest.

        Parameters
        ----------
        wished : means, by name, of variables that are not set
        using : variables that are set. By default every one with a range and no wish, or those of
            them that come nearest if to set all is too much
        """
        return self.consequences.settings_for(wished, using)


def _in_words(settings: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in settings.items())
