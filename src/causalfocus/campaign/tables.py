"""Many past rounds at once, and the rounds of a campaign as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from causalfocus.campaign.entry import as_text, by_whom
from causalfocus.campaign.events import Event
from causalfocus.campaign.matching import refuse_known
from causalfocus.campaign.mending import Mending
from causalfocus.campaign.playback import Playback
from causalfocus.campaign.rounds import rounds_frame, standing_rounds, told_event
from causalfocus.campaign.samples import read_frame
from causalfocus.campaign.settings import Details
from causalfocus.errors import InvalidInputError
from causalfocus.learner.protocol import Sample
from causalfocus.system.actions import OBSERVE, Action
from causalfocus.system.tables import Unread

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mending):
    """A campaign that takes in past rounds and shows its own."""

    def import_samples(
        self,
        samples: Sequence[tuple[Action, Sample] | tuple[Action, Sample, Details]],
        *,
        who: str | None = None,
        note: str = "",
        again: bool = False,
        force: str = "",
        on_learned: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Keep past samples with the actions that they came from: all of them, or none.

        They count in the given order, which should be that of their collection. They are learned
        from before they are written, so an interruption leaves nothing behind.

        Parameters
        ----------
        samples : actions and what came of them, and what is said beside
        who, note : free texts
        again : take them although some are in the log already, to the last digit; without it they
            are refused. To count samples twice would certify what is not certain
        force : the word for actions that are not allowed now, such as values outside of a range
        on_learned : called with the rounds so far while the learner takes them in
        """
        by, about = by_whom(who), as_text(note)

        def events(playback: Playback) -> list[Event]:
            found = []
            for number, (action, sample, *more) in enumerate(samples, 1):
                details = replace(more[0], force=force) if more else Details(force=force)
                try:
                    event = told_event(playback, action, sample, details)
                except InvalidInputError as error:
                    raise InvalidInputError(f"Sample {number}: {error}") from None
                place = playback.n_samples + number
                found.append(replace(event, kind="imported", round=place, who=by, note=about))
            if not again:
                refuse_known(found, playback, self._log)
            return found

        return len(self._ledger.learn_and_write(events, on_learned))

    def import_frame(
        self,
        frame: pd.DataFrame,
        *,
        columns: Mapping[str, str] | None = None,
        all_observed: bool = False,
        unread: Unread | None = None,
        as_read: bool = False,
        force: str = "",
        who: str | None = None,
        note: str = "",
        again: bool = False,
        on_learned: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Keep the past samples of a DataFrame, a row each: all of them, or none. The columns are
        those of the CSV files that `causalfocus campaign import` reads, and so are the checks.

        Parameters
        ----------
        frame : with the columns `action`, or `target` and `value`; the variables; and if you like
            `failed` and `performed`. A missing value was not measured
        columns : from a column's name to a variable, or to one of the others
        all_observed : whether nothing was ever set, and the frame does not say what was done
        unread : what an empty cell of a variable that was set means: "nominal", it is as it was
            asked for, or "lost", what it achieved could not be measured. Without it such a row is
            refused
        as_read : as in `record`, for all rows
        force, who, note, again, on_learned : as in `import_samples`
        """
        lines = read_frame(
            frame,
            self.specification.actions,
            columns=columns,
            all_observed=all_observed,
            unread=unread,
            as_read=as_read,
            force=force,
        )
        return self.import_samples(
            [(line.action or OBSERVE, line.sample, line.details) for line in lines],
            who=who,
            note=note,
            again=again,
            force=force,
            on_learned=on_learned,
        )

    def to_frame(self) -> pd.DataFrame:
        """The rounds as they stand, one line each, with the columns of the CSV export; those that
        were withdrawn are left out. `import_frame` reads it.
        """
        rounds = standing_rounds(self.iterate(), self.amendments(), self.names)
        return rounds_frame(rounds, self.names)
