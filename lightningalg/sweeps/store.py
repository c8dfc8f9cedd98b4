"""Results of a sweep in SQLite: one transaction for each row, safe to end at any moment."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lightningalg.certificates.records import canonical_json
from lightningalg.errors import InputError, shown
from lightningalg.sweeps.agreement import disagreement, stored_certificate
from lightningalg.sweeps.locking import one_at_a_time
from lightningalg.sweeps.spec import Architecture
from lightningalg.sweeps.work import FAILED, Row

_FORMAT = "lightningalg-sweep/1"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS architectures (
  key TEXT PRIMARY KEY, position INTEGER NOT NULL, family TEXT NOT NULL, architecture TEXT NOT NULL,
  network TEXT NOT NULL, parameters INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS results (
  key TEXT PRIMARY KEY REFERENCES architectures(key), status TEXT NOT NULL, dimension INTEGER,
  lower_bound INTEGER, upper_bound INTEGER, upper_bound_by TEXT NOT NULL, predicted INTEGER,
  strength TEXT NOT NULL, engine TEXT NOT NULL, seconds REAL NOT NULL, sha256 TEXT NOT NULL,
  certificate BLOB NOT NULL, problem TEXT NOT NULL, verified TEXT
) WITHOUT ROWID;
"""

_ACCEPTED = "accepted is a new name or a store of this program"
#: what to do, by the start of SQLite's name of the error
_ADVICE = {
    "SQLITE_FULL": "make room, then run the same command again: what is stored stays",
    "SQLITE_READONLY": "a sweep needs to write to the file and its folder",
    "SQLITE_IOERR": "the disk or its file system has a fault, or no room",
    "SQLITE_CORRUPT": "the file is damaged: restore it from a copy, or give a new name",
    "SQLITE_BUSY": "another program is writing to it",
    "SQLITE_LOCKED": "another program is writing to it",
}

#: files that SQLite and this program keep beside a store
_BESIDE = ("", "-wal", "-shm", "-journal", "-lock")

#: the columns of exports, in their order
COLUMNS = (
    "architecture", "family", "parameters", "status", "dimension", "lower_bound", "upper_bound",
    "upper_bound_by", "predicted", "strength", "verified", "engine", "seconds", "sha256", "problem",
)  # fmt: skip


class Store:
    """A file of results. Any number of readers and one writer at a time; a second writer waits a minute.

    Parameters
    ----------
    path
        Made if it does not exist. Always the name of a file, also where SQLite would take it for something
        else, such as ``:memory:``.

    Raises
    ------
    InputError
        If there is something that is not a regular file, or a file of something else, or it cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.sqlite") as store:
    ...     store.counts()
    {}
    """

    def __init__(self, path: Path):
        self.path = path
        self._file = _regular(path)
        try:
            self._connection = sqlite3.connect(self._file, timeout=60, isolation_level=None)
        except sqlite3.Error as error:
            raise InputError(f"store {path}: {error}; {_ACCEPTED}") from None
        try:
            with self._errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        tables = {name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "about" not in tables:
            raise InputError(f"store {self.path}: a database of something else; give a new name")
        if tables:
            self._check_format()  # before anything is changed: a later version's store stays as it is
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # what is committed survives a loss of power
        run("PRAGMA foreign_keys = ON")
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    run(statement)
            run("INSERT OR IGNORE INTO about VALUES ('format', ?)", (_FORMAT,))

    def _check_format(self) -> None:
        query = "SELECT value FROM about WHERE name = 'format'"
        found = (self._connection.execute(query).fetchone() or ("none",))[0]
        if found != _FORMAT:
            raise InputError(
                f"store {self.path}: its format is {shown(found, 40)}, this version of lightningalg reads "
                f"{_FORMAT}; use the version that made it, or give a new name"
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Say in one line what SQLite cannot do: no space, no permission, a damaged file."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            advice = next((text for start, text in _ADVICE.items() if name.startswith(start)), _ACCEPTED)
            raise InputError(f"store {self.path}: {error}; {advice}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite has given up some of them by itself
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Return a context that keeps other sweeps from this store: two would do the same work twice.

        Readers are not affected. The system ends this with the process, however that ends.

        Raises
        ------
        InputError
            If another sweep has the store; the message has its process' number.
        """
        with one_at_a_time(Path(f"{self._file}-lock"), f"store {self.path}"):
            yield

    def settle(self, name: str, value: str) -> None:
        """Fix a setting of the whole store, such as the seed.

        Raises
        ------
        InputError
            If the store was made with another value.
        """
        with self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))
            (found,) = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        if found != value:
            raise InputError(
                f"store {self.path} was made with the {name} {shown(found)!r}, not "
                f"{shown(value)!r}: give another"
            )

    def add(self, architectures: Iterable[Architecture]) -> list[Architecture]:
        """Enter the architectures that are new; return all of them, in their order.

        How a network is written, and its number of parameters, follow from the network: they are entered anew
        where the store says otherwise.
        """
        found = list(architectures)
        with self._transaction():
            (last,) = self._connection.execute(
                "SELECT coalesce(max(position), 0) FROM architectures"
            ).fetchone()
            rows = (
                (a.key, last + i, a.family, a.text, canonical_json(a.table), a.parameters)
                for i, a in enumerate(found, start=1)
            )
            self._connection.executemany(
                "INSERT INTO architectures VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "architecture = excluded.architecture, network = excluded.network, "
                "parameters = excluded.parameters WHERE (architecture, network, parameters) IS NOT "
                "(excluded.architecture, excluded.network, excluded.parameters)",
                rows,
            )
        return found

    def finished(self, *, with_failures: bool = True) -> set[str]:
        """Return the keys of architectures that have a result; ``with_failures``: also those that failed."""
        extra = "" if with_failures else " WHERE status != 'failed'"
        with self._errors():
            return {key for (key,) in self._connection.execute(f"SELECT key FROM results{extra}")}

    def put(self, row: Row, *, replace: bool = False) -> None:
        """Enter one ``row``, a result; an earlier one stays, unless it was a failure.

        With ``replace`` it stays only where the new one is a failure. Either is done in one transaction: at
        no moment is there no result, or two.
        """
        values = (
            row.key, row.status, row.dimension, row.lower_bound, row.upper_bound, row.upper_bound_by,
            row.predicted, row.strength, row.engine, row.seconds, row.sha256, row.certificate, row.problem,
        )  # fmt: skip
        with self._transaction():
            outdated = "" if replace and row.status != FAILED else f" AND status = '{FAILED}'"
            self._connection.execute(f"DELETE FROM results WHERE key = ?{outdated}", (row.key,))
            marks = ", ".join("?" * len(values))
            self._connection.execute(f"INSERT OR IGNORE INTO results VALUES ({marks}, NULL)", values)

    def unverified(self, limit: int) -> list[tuple[str, dict[str, Any]]]:
        """Return up to ``limit`` certificates that the verifier has not seen, with their keys.

        Raises
        ------
        InputError
            Naming a row that says something else than its certificate.
        """
        found = self._checked(f"WHERE verified IS NULL AND status != '{FAILED}' LIMIT {int(limit)}")
        return [(row["key"], row["certificate"]) for row in found]

    def count_unverified(self) -> int:
        """Return how many certificates the verifier has not seen."""
        with self._errors():
            query = "SELECT count(*) FROM results WHERE verified IS NULL AND status != ?"
            return self._connection.execute(query, (FAILED,)).fetchone()[0]

    def set_verified(self, verdicts: Mapping[str, str]) -> None:
        """Note the verifier's verdicts."""
        with self._transaction():
            self._connection.executemany(
                "UPDATE results SET verified = ? WHERE key = ?",
                [(text, key) for key, text in verdicts.items()],
            )

    def counts(self) -> dict[str, int]:
        """Return how many results have each status."""
        with self._errors():
            query = "SELECT status, count(*) FROM results GROUP BY status ORDER BY status"
            return dict(self._connection.execute(query))

    def check(self, progress: Callable[[int, int, str], None] = lambda done, total, what: None) -> None:
        """Compare every result with its certificate: hash, network, numbers. About 0.2 ms for each.

        Raises
        ------
        InputError
            Naming the first row that says something else than its certificate.
        """
        total = sum(self.counts().values())
        for number, _ in enumerate(self._checked("ORDER BY position, key"), start=1):
            progress(number, total, "comparing the store with its certificates")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every finished architecture in the order of the sweep, without its certificate.

        Raises
        ------
        InputError
            Naming a row that says something else than its certificate.
        """
        for row in self._checked("ORDER BY position, key"):
            yield {name: row[name] for name in COLUMNS}

    def certificates(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield key and certificate of every result that has one.

        Raises
        ------
        InputError
            Naming a row that says something else than its certificate.
        """
        for row in self._checked(f"WHERE status != '{FAILED}'"):
            yield row["key"], row["certificate"]

    def _checked(self, which: str) -> Iterator[dict[str, Any]]:
        """Yield results with their architectures and certificates; the first that was altered is an error."""
        names = ("key", "network", "certificate", *COLUMNS)
        query = f"SELECT {', '.join(names)} FROM results JOIN architectures USING (key) {which}"
        with self._errors():
            for values in self._connection.execute(query):
                row = dict(zip(names, values, strict=True))
                certificate = None if row["status"] == FAILED else stored_certificate(row["certificate"])
                problem = disagreement(row, certificate)
                if problem is not None:
                    raise InputError(
                        f"store {self.path}: the row of {shown(row['architecture'], 200)} "
                        f"({shown(row['key'], 16)}) "
                        f"was altered: {problem}. Restore a copy, or run its sweep with --force, which "
                        "certifies everything again"
                    )
                yield {**row, "certificate": certificate}


def _regular(path: Path) -> str:
    """Return the absolute name of a store's file, before SQLite opens anything.

    Raises
    ------
    InputError
        If there is a device, a pipe, a socket, a folder or a link to nothing, also beside it where SQLite and
        this program keep files.
    """
    irregular = None
    try:
        # absolute: SQLite then takes no name for a database in memory, or an address
        file = os.path.realpath(path)
        if os.path.islink(path) and not os.path.exists(path):
            irregular = str(path)
        for name in (file + end for end in _BESIDE):
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(os.lstat(name).st_mode):
                    irregular = irregular or (str(path) if name == file else name)
    except (OSError, ValueError) as error:
        raise InputError(f"store {path}: {getattr(error, 'strerror', None) or error}") from None
    if irregular is not None:
        raise InputError(f"store {irregular}: not a regular file; {_ACCEPTED}")
    return file
