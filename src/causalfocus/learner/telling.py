"""Many rounds at once, from a DataFrame: all of them are taken in, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Told, checked_failures
from causalfocus.learner.state import Asks, LearnerState
from causalfocus.moments.moments import Moments
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action
from causalfocus.system.convert import frame_of
from causalfocus.system.tables import (
    FRAME,
    Unread,
    ask_number_in,
    checked_unread,
    given_in,
    texts_in,
    without_blanks,
)
from causalfocus.system.words import ACTION_COLUMNS, action_in_columns, names_in, value_in

if TYPE_CHECKING:
    import pandas as pd

MORE: Final = ("ask", "failed", "performed", "not_done")
"""Columns beside the action and the variables; the last two are for people."""

OURS: Final = (*ACTION_COLUMNS, "ask", "failed")
"""Columns that cannot be variables."""

Became = Literal["evidence", "not asked for", "far", "lost"]


class TakesLines(Protocol):
    """What a learner needs to be told many rounds."""

    actions: ActionSet

    @property
    def rounds(self) -> int: ...
    @property
    def state(self) -> Any: ...
    def take(self, told: Told) -> None: ...
    def adopt(self, state: Any) -> None: ...


class Telling:
    """What every learner can be told beside single samples."""

    def tell_many(
        self: TakesLines,
        frame: pd.DataFrame,
        *,
        columns: Mapping[str, str] | None = None,
        all_observed: bool = False,
        unread: Unread | None = None,
    ) -> pd.DataFrame:
        """Take in a DataFrame, a row for every round in the order of the rounds: all, or none.

        Every row says what was done, in a column `action` (`observe`, `flow=3`,
        `flow=3; heater=20`, or an action) or in `target` and `value`, as in the CSV files of a
        campaign. A column `ask` says by its number which pending ask a row answers, and stands for
        the action where there is none; rows without a number answer as in `tell`. A column
        `failed` names settings that failed. Every variable has a column; what is missing was not
        measured. Columns of our own exports that are no samples are passed over.

        What comes back has the same rows: `round`, `action`, `ask`, and in `became`

        - "evidence";
        - "not asked for": it informs the estimate, and a rule by coins counts what was asked for;
        - "far": a setting missed by more than is tolerated, so it informs no estimate; a rule by
          coins counts it as it was asked for;
        - "lost": a value is missing, so it counts for nothing.

        Parameters
        ----------
        frame : a row for every round
        columns : from a column's name to a variable or to one of the columns above
        all_observed : whether nothing was set in any round, and the frame does not say so
        unread : what an empty cell of a variable that was set means: "nominal", it is as it was
            asked for, or "lost", what it achieved could not be measured. Without it such a row is
            refused

        Examples
        --------
        >>> import causalfocus as cf, pandas as pd
        >>> actions = cf.ActionSet({"heat": (20, 80), "yield": None})
        >>> space = cf.ModelClass(0.2, outcomes=["yield"])
        >>> learner = cf.Focus(actions, space, rule="gaussian", seed=1)
        >>> past = pd.DataFrame({"action": ["observe", "heat=80"],
        ...                      "heat": [51.2, 80.0], "yield": [9.1, None]})
        >>> learner.tell_many(past)["became"].tolist()
        ['evidence', 'lost']
        """
        reader = _Reader(self.actions, self.state, checked_unread(unread))
        lines = reader.lines(frame, columns or {}, all_observed=all_observed)
        before = self.state
        try:
            for told in lines:
                self.take(told)
        except BaseException:  # also if somebody interrupts it: then nothing has happened
            self.adopt(before)
            raise
        first = self.rounds - len(lines) + 1
        rows = {
            "round": range(first, first + len(lines)),
            "action": [str(told.action) for told in lines],
            "ask": [told.ask for told in lines],
            "became": [reader.became(told) for told in lines],
        }
        return frame_of(rows, index=frame.index, types={"ask": "Int64"})


@dataclass(frozen=True)
class _Reader:
    actions: ActionSet
    state: LearnerState
    unread: Unread | None

    def lines(
        self, frame: Any, columns: Mapping[str, str], *, all_observed: bool
    ) -> Sequence[Told]:
        """The lines of the log that the rows will be, or an error with all that are wrong."""
        names = self.actions.names
        for name in names:
            if name in OURS:
                raise InvalidInputError(
                    f"A variable is called {name!r}, and in a table of rounds that column says "
                    f"what was done. Tell its rounds one by one, or give it another name."
                )
        header, rows = texts_in(frame, names, columns)
        FRAME.require_known(header, names, MORE)
        if all_observed or "ask" not in header:
            FRAME.require_actions(header, all_observed=all_observed)
        found, errors, asks = list[Told](), list[str](), self.state.asks
        named = set[str]()
        if "ask" in header:
            named = {cells[header.index("ask")] for _, cells in rows}
        for where, cells in rows:
            try:
                given = given_in(header, cells)
                number = ask_number_in(given.get("ask", ""))
                rest = asks if number is not None else _without(asks, named)
                told = self._line(given, rest, number, all_observed=all_observed)
            except InvalidInputError as error:
                errors.append(f"{where}: {error}")
            else:
                found.append(told)
                asks = asks.settle(told.ask)
        FRAME.refuse_wrong(errors, len(rows))
        self._refuse_any_order(found, named)
        return found

    def _refuse_any_order(self, found: Sequence[Told], named: AbstractSet[str]) -> None:
        """Raise if rows without a number could each be the answer to several asks of one action: a
        table that is sorted by an outcome would match outcomes to coins of later draws.
        """
        if self.state.coins is None:
            return
        pending = Counter(ask.action for ask in self.state.asks.pending)
        told = Counter(one.asked.action for one in found if one.asked is not None)
        numbers = {ask_number_in(text) for text in named}
        free = [one for one in found if one.asked is not None and one.ask not in numbers]
        for one in free:
            action = one.action
            if told[action] > 1 and pending[action] > 1:
                raise InvalidInputError(
                    f"{told[action]} rows are of {action}, and {pending[action]} such asks are "
                    f"open: which row is which? Add a column ask with their numbers, as in "
                    f"learner.pending, so that the order of the rows does not matter."
                )

    def _line(
        self, given: Mapping[str, str], asks: Asks, number: int | None, *, all_observed: bool
    ) -> Told:
        names = self.actions.names
        action = OBSERVE if all_observed else self._action(given, asks, number)
        failed = checked_failures(action, names_in(given.get("failed", ""), names))
        cells = without_blanks(given, action, self.unread)
        sample = {n: value_in(cells[n], n) for n in names if cells.get(n, "") != ""}
        row = Moments(names).as_row(action, sample, allow_missing=True, failed=failed)
        asked = asks.find(action, number)
        told = Told(action, row, None if asked is None else asked.number, failed, asked=asked)
        return told if told.is_complete else replace(told, mark="lost")

    def _action(self, given: Mapping[str, str], asks: Asks, number: int | None) -> Action:
        """What was done, as the row says, or as was asked for by the number that it has."""
        says = any(given.get(name) for name in ("action", "target"))
        if number is not None and not says:
            return asks.require(number).action
        done = action_in_columns(given, self.actions.names)
        if done is None:
            raise InvalidInputError(
                "ask: the cell is empty, and there is no column action that says what was done"
            )
        return done

    def became(self, told: Told) -> Became:
        """What a line counts for."""
        if told.mark == "lost":
            return "lost"
        if self.actions.misses(told.effective_action, told.sample):
            return "far"
        return "not asked for" if self.state.coins is not None and told.ask is None else "evidence"


def _without(asks: Asks, cells: AbstractSet[str]) -> Asks:
    """Asks without the pending ones that rows name by their numbers."""
    if not cells:
        return asks
    kept = tuple(ask for ask in asks.pending if not {f"{ask.number}", f"{ask.number}.0"} & cells)
    return replace(asks, pending=kept)
