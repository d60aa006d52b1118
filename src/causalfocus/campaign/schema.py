"""The tables of a campaign file, and how files of earlier versions are brought up to date.

`specification` and `events` are the truth, and nothing in them is ever changed: triggers refuse it.
`checkpoint` and `curve` can be computed from them at any time, and are thrown away when in doubt.
"""

from typing import Final

APPLICATION_ID: Final = 0x43464F43
"""In the header of the file, by which it is known to be a campaign: CFOC."""

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE specification (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        made TEXT NOT NULL,
        salt BLOB NOT NULL,
        digest BLOB NOT NULL,
        document TEXT NOT NULL
    ) STRICT;

    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        note TEXT NOT NULL,
        ask INTEGER,
        round INTEGER,
        target TEXT,
        value REAL,
        sample TEXT,
        facts TEXT,
        digest BLOB NOT NULL
    ) STRICT;

    CREATE UNIQUE INDEX an_action_is_asked_once ON events (ask) WHERE kind = 'asked';
    CREATE UNIQUE INDEX an_action_is_answered_once ON events (ask)
        WHERE kind IN ('told', 'rejected') AND ask IS NOT NULL;
    CREATE UNIQUE INDEX a_round_has_one_sample ON events (round)
        WHERE kind IN ('told', 'imported');

    CREATE INDEX samples ON events (sample) WHERE kind IN ('told', 'imported');
    CREATE INDEX corrections ON events (seq) WHERE kind = 'corrected';

    CREATE TRIGGER events_stay BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the log of a campaign is only ever added to'); END;
    CREATE TRIGGER events_are_kept BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the log of a campaign is only ever added to'); END;
    CREATE TRIGGER the_specification_stays BEFORE UPDATE ON specification
        BEGIN SELECT RAISE(ABORT, 'the specification of a campaign does not change'); END;
    CREATE TRIGGER the_specification_is_kept BEFORE DELETE ON specification
        BEGIN SELECT RAISE(ABORT, 'the specification of a campaign does not change'); END;

    CREATE TABLE checkpoint (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        seq INTEGER NOT NULL,
        chain BLOB NOT NULL,
        code TEXT NOT NULL,
        contents BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT;

    CREATE TABLE curve (
        round INTEGER PRIMARY KEY,
        evidence REAL,
        code TEXT NOT NULL
    ) STRICT;
    """,
    "",
    """
    ALTER TABLE events ADD COLUMN settings TEXT;
    ALTER TABLE events ADD COLUMN coins TEXT;
    ALTER TABLE events ADD COLUMN failed TEXT;
    ALTER TABLE events ADD COLUMN reason TEXT;
    ALTER TABLE events ADD COLUMN performed TEXT;
    ALTER TABLE events ADD COLUMN key TEXT;

    CREATE UNIQUE INDEX a_request_is_done_once ON events (kind, key, COALESCE(ask, 0))
        WHERE key IS NOT NULL;
    CREATE INDEX changes ON events (seq)
        WHERE kind IN ('widened', 'added', 'seeded');
    CREATE INDEX amendments ON events (seq)
        WHERE kind IN ('corrected', 'withdrawn') AND round IS NOT NULL;
    """,
)
"""Script number i takes a file from version i to i + 1; none is ever changed once released."""

VERSION: Final = len(MIGRATIONS)
"""Of the files that are made now. Version 1 has the same tables as version 2; its specification
says `stopping` where version 2 says `rule`, and knows the rules by other names. Version 3 has more
columns (`LATER_COLUMNS`), and its specification more keys."""

READABLE_SINCE: Final = 1
"""Files from this version on are read as they are, and brought up to date when they are first
written to. What they hold already keeps its words and its digests."""

LATER_COLUMNS_SINCE: Final = 3

LATER_COLUMNS: Final = ("settings", "coins", "failed", "reason", "performed", "key")
"""Columns of events that files of earlier versions lack. An event is hashed with those of them that
it has, so that the digests of events without any are what they always were."""
