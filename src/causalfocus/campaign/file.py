"""The SQLite file of a campaign: opening, waiting for others, and errors that say what to do.

Write-ahead log with full synchronisation: what a transaction has written survives a kill or a power
cut once it returns, one process writes at a time, and who reads never waits.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from causalfocus.campaign.schema import APPLICATION_ID, MIGRATIONS, READABLE_SINCE, VERSION
from causalfocus.errors import CausalFocusError

PATIENCE: Final = 60.0
"""Seconds that a writer waits for another."""


OLDEST_SQLITE: Final = (3, 37, 0)
"""The first with strict tables."""


class CampaignError(CausalFocusError):
    """A campaign file cannot be read or written; the message says why and what to do."""


class CampaignFile:
    """A connection to a campaign file.

    Parameters
    ----------
    path : of a file that exists
    read_only : to look and never to write
    patience : seconds to wait for another writer
    """

    def __init__(self, path: Path, *, read_only: bool = False, patience: float = PATIENCE) -> None:
        self.path = path
        self._place = path.absolute()  # the working folder may change
        self.read_only = read_only
        self._patience = patience
        self._connect()

    def _connect(self) -> None:
        self._connection, self._is_frozen = _connect_to(
            self._place, read_only=self.read_only, patience=self._patience
        )
        self._identity = _identity(self._place)
        self._looks = _looks(self._place)
        try:
            with self._explain_errors():
                self._require_campaign()
                if not self.read_only and self.version < READABLE_SINCE:
                    with self.write_transaction():
                        pass
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, first: str, values: tuple[Any, ...]) -> "CampaignFile":
        """A new file with the tables; an existing one is left alone.

        first, values : a statement that fills it. Should anything fail, no file is left
        """
        if path.is_dir() or not path.parent.is_dir():
            raise CampaignError(f"{path} cannot be made: give a file in a folder that exists.")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            raise CampaignError(
                f"{path} exists already and is left as it is. Choose another name, or open it."
            ) from None
        except OSError as error:
            raise CampaignError(f"{path} cannot be made: {error.strerror}.") from None
        file = None
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            file = cls(path)
            with file.write_transaction() as connection:
                connection.execute(first, values)
            file._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except BaseException as error:
            if file is not None:
                file.close()
            _remove(path)
            if isinstance(error, sqlite3.Error):
                raise CampaignError(f"{path} cannot be made: {error}.") from None
            raise
        return file

    def close(self) -> None:
        self._connection.close()

    def remove(self) -> None:
        """Close the file and delete it: one that was made and is of no use."""
        self.close()
        _remove(self._place)

    def read(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows that a query gives."""
        with self._explain_errors():
            if self._is_frozen and _looks(self._place) != self._looks:
                self.close()  # somebody can write here after all
                self._connect()
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction of the only writer: all of it is kept, durably, or nothing."""
        if self.read_only:
            raise CampaignError(f"{self.path} was opened for reading only.")
        with self._explain_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._require_in_place()
                self._migrate()
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def copy_to(self, path: Path) -> None:
        """A copy in one file, consistent though others write."""
        if path.exists():
            raise CampaignError(f"{path} exists already and is left as it is.")
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        try:
            with closing(sqlite3.connect(part)) as target:
                self._connection.backup(target)
            part.replace(path)
        except (OSError, sqlite3.Error) as error:
            raise CampaignError(f"{path} cannot be written: {error}.") from None
        finally:
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{part}{end}").unlink(missing_ok=True)

    def _require_in_place(self) -> None:
        """What is written to a file that was moved or deleted would be acknowledged and lost."""
        if _identity(self._place) != self._identity:
            raise CampaignError(
                f"{self.path} was moved, replaced or deleted while it was in use. This was not "
                f"recorded. Put the file back, with those that end in -wal and -shm, and open it "
                f"anew."
            )

    def _require_campaign(self) -> None:
        found = self._pragma("application_id")
        if found != APPLICATION_ID:
            raise CampaignError(
                f"{self.path} is a database but not a campaign. Make one with `causalfocus "
                f"campaign new` or Campaign.create."
            )
        version = self.version
        if version > VERSION:
            raise CampaignError(
                f"{self.path} has version {version} and this causalfocus reads up to {VERSION}: "
                f"it was written by a newer one. Upgrade causalfocus; the file is unharmed."
            )
        if version < READABLE_SINCE and self.read_only:
            raise CampaignError(
                f"{self.path} has version {version} and must be brought to {READABLE_SINCE} "
                f"first: open it once for writing."
            )

    @property
    def version(self) -> int:
        """Of the file as it is now; who writes brings it up to date."""
        return self._pragma("user_version")

    def _migrate(self) -> None:
        """Bring an older file up to date, step by step, within the transaction of a writer."""
        for version in range(self.version, VERSION):
            for statement in _statements(MIGRATIONS[version]):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={version + 1}")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise CampaignError(_explanation(self.path, error)) from error


def _connect_to(path: Path, *, read_only: bool, patience: float) -> tuple[sqlite3.Connection, bool]:
    """A connection, and whether it sees a file at rest that nobody here can write to."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise CampaignError(
            f"Campaigns need SQLite {'.'.join(map(str, OLDEST_SQLITE))} or later, and this Python "
            f"has {sqlite3.sqlite_version}. Install a newer Python."
        )
    if not path.is_file():
        raise CampaignError(f"There is no file {path}. Make a campaign with `campaign new`.")
    if not read_only and not os.access(path, os.W_OK):
        raise CampaignError(
            f"{path} may not be written to. Change its permissions, or open it for reading only."
        )
    how = "mode=ro" if read_only else "mode=rw"
    real = path.resolve()
    is_frozen = read_only and _is_at_rest(real) and not os.access(real.parent, os.W_OK)
    if is_frozen:
        how = "immutable=1"  # no help files can be made beside it, and none are needed
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(real))}?{how}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=patience,
        )
    except sqlite3.Error as error:
        raise CampaignError(_explanation(path, error)) from error
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
    except sqlite3.Error as error:
        connection.close()
        raise CampaignError(_explanation(path, error)) from error
    return connection, is_frozen


def _remove(path: Path) -> None:
    """Delete a campaign's file with its help files."""
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is under a name."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _looks(path: Path) -> tuple[tuple[int, int] | None, ...]:
    """What changes when somebody writes."""
    real = path.resolve()
    found = []
    for name in (real, real.with_name(real.name + "-wal")):
        state = name.stat() if name.exists() else None
        found.append(None if state is None else (state.st_mtime_ns, state.st_size))
    return tuple(found)


def _is_at_rest(path: Path) -> bool:
    """Whether nothing waits in the write-ahead log."""
    waiting = path.with_name(path.name + "-wal")
    return not waiting.exists() or waiting.stat().st_size == 0


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; triggers hold semicolons of their own."""
    found = ""
    for part in script.split(";"):
        found += part + ";"
        if sqlite3.complete_statement(found):
            if found.strip(" \n;"):
                yield found
            found = ""


def _explanation(path: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    kept = "What was recorded before is safe, and this was not recorded."
    if name.startswith("SQLITE_FULL"):
        return f"There is no room on the disk of {path}. {kept} Make room and do it again."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"Another process has been writing to {path} for too long. {kept} Try again."
    if name.startswith("SQLITE_READONLY"):
        return f"{path}, or its folder, may not be written to. {kept} Change the permissions."
    if name.startswith("SQLITE_NOTADB"):
        return f"{path} is no campaign: it is not an SQLite database."
    if name.startswith("SQLITE_CORRUPT"):
        return f"{path} is damaged: {error}. Restore it from a copy."
    if name.startswith("SQLITE_CANTOPEN"):
        return f"{path} cannot be opened: {error}. Its folder must exist and allow writing."
    if name.startswith("SQLITE_IOERR"):
        return f"The disk of {path} reports an error: {error}. {kept}"
    return f"{path}: {error}. {kept}"
