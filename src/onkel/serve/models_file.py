"""The SQLite file of models by key.

All models that leave memory together, and the cut up to which all are written, go in at once.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from onkel.errors import JournalError, ModelFileError
from onkel.persistence.atomic import sync_folder
from onkel.persistence.untouched import Untouched, place_of
from onkel.serve.journal import Journal

_HOW = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")
_SETUP = (
    *_HOW,
    "CREATE TABLE IF NOT EXISTS models (key TEXT PRIMARY KEY, content BLOB)",
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BLOB)",
)
# SQLite's own files beside it
_BESIDE = ("-wal", "-shm")


class ModelsFile:
    """The SQLite file: bytes by key, and up to which cut all of them are written.

    If it is removed while it is used, all of it is written anew. Another file in its place stays,
    and all is written beside it; see ``moved``.
    """

    def __init__(self, path: Path, template: bytes) -> None:
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            for line in _SETUP:
                self._db.execute(line)
            self._db.executemany(
                "INSERT OR IGNORE INTO about VALUES (?, ?)",
                [("template", template), ("number", 0), ("highest", 0)],
            )
            about = dict(self._db.execute("SELECT name, value FROM about"))
            #: the keys whose models it has
            self.known: set[str] = {key for (key,) in self._db.execute("SELECT key FROM models")}
        except sqlite3.Error as error:
            if "_db" in vars(self):
                self._db.close()
            raise ModelFileError(f"{path}: cannot be used as a file of models: {error}") from None
        self._path = path
        self._know_files()
        self._place = Untouched(path, place_of)
        self.template: bytes = about["template"]
        #: the cut up to which all models are written, and the last that any of them has learned
        self.number: int = int(about["number"])
        self.highest: int = int(about["highest"])

    def require_options(self, options: dict[str, Any], journal: Journal) -> None:
        """Refuse other options than those with which the cuts of the journal were taken."""
        known = dict(self._db.execute("SELECT name, value FROM about"))
        text = repr(sorted(options.items()))
        if known.get("options", text) != text and not journal.is_empty:
            raise JournalError(
                f"{journal.folder}: its cuts were taken with other options ({known['options']}); "
                "start with those, end, and change them then"
            )
        self._db.execute("INSERT OR REPLACE INTO about VALUES ('options', ?)", [text])

    def get(self, key: str) -> bytes | None:
        if key not in self.known:
            return None
        found = self._db.execute("SELECT content FROM models WHERE key = ?", [key]).fetchone()
        return None if found is None else bytes(found[0])

    def put(self, contents: dict[str, bytes], number: int | None, highest: int) -> None:
        """Write all or nothing."""
        numbers = {"highest": highest} | ({} if number is None else {"number": number})
        try:
            self._stay()
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO models VALUES (?, ?)", contents.items())
            for name, value in numbers.items():
                self._db.execute("UPDATE about SET value = ? WHERE name = ?", [value, name])
            self._db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise ModelFileError(f"{self._path}: models could not be saved: {error}") from None
        self.known.update(contents)
        self.number, self.highest = numbers.get("number", self.number), highest

    @property
    def moved(self) -> str | None:
        """What there is to say if another file is in its place."""
        return self._place.moved

    def close(self) -> None:
        self._db.close()

    def _stay(self) -> None:
        """Go on in a copy, if the file was removed or another is in its place."""
        path = self._place.path()
        assert path is not None
        if path == self._path and path.exists():
            return
        for beside, own in self._beside.items():
            # SQLite would take it for a part of the file that is there, or of the copy
            if own is not None and place_of(beside) == own:
                beside.unlink()
        copy = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            self._db.backup(copy)
            for line in _HOW:
                copy.execute(line)
            sync_folder(path.parent)
        except BaseException:
            copy.close()
            with suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        self._db.close()
        self._db, self._path = copy, path
        self._place.is_written()
        self._know_files()

    def _know_files(self) -> None:
        """Know the files beside it as SQLite has made them."""
        names = [Path(f"{self._path}{end}") for end in _BESIDE]
        self._beside = {name: place_of(name) for name in names}
