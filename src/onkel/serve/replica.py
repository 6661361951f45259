"""A model that only predicts, and follows the file that another process saves."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onkel.errors import ModelFileError
from onkel.serve.batches import Parts
from onkel.serve.live import LiveModel


class Replica:
    """The newest model of a file, as a service takes it; see `onkel.serve.one_model.Models`.

    A file is replaced as a whole, so what is read is one save or the next. It is loaded beside the
    model that predicts, and then replaces it at once: each request is answered by one of them.
    A file that cannot be read changes nothing, and is tried again.

    Parameters
    ----------
    path : path-like
        A file that `onkel serve`, `onkel live` or `onkel learn --save` writes.
    how : dict
        Arguments of the `LiveModel`.

    Raises
    ------
    ModelFileError
        There is no such file, or it holds no model of a table.

    Examples
    --------
    >>> import tempfile, onkel
    >>> path = tempfile.mkdtemp() + "/m.onkel"
    >>> live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")))
    >>> live.take({"id": 1, "size": 70.0, "y": 210.0})["model_rows"]
    0
    >>> live.save(path)
    >>> replica = Replica(path, {})
    >>> live.take({"id": 2, "size": 70.0, "y": 210.0})["model_rows"]
    1
    >>> live.save(path)
    >>> replica.tend()
    >>> replica.report()["model_rows"]
    2
    """

    keyed = False
    learns = False
    duty = "the model before is kept"
    moved: str | None = None

    def __init__(self, path: str | os.PathLike[str], how: dict[str, object]) -> None:
        self._path, self._how = Path(path), how
        self._live: LiveModel
        self._lock = threading.RLock()
        #: files that were loaded
        self.n_loaded: int = 0
        self._load()

    def tend(self) -> None:
        """Load the file, if it is another than the one before; ModelFileError if that fails."""
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise ModelFileError(f"{self._path}: cannot be read: {error.strerror}") from None
        if _signature(found) != self._signature:
            self._load()

    def _load(self) -> None:
        try:
            with self._path.open("rb") as file:
                found, content = os.fstat(file.fileno()), file.read()
        except OSError as error:
            raise ModelFileError(f"{self._path}: cannot be read: {error.strerror}") from None
        try:
            live = LiveModel.from_bytes(content, **self._how)
        except ModelFileError as error:
            raise ModelFileError(f"{self._path}: {error}") from None
        if self.n_loaded and live.model.task != self._live.model.task:
            raise ModelFileError(
                f"{self._path}: holds a model of {live.model.task} now; start anew to follow it"
            )
        with self._lock:
            self._live, self._signature, self._written = live, _signature(found), found.st_mtime
            self.n_loaded += 1

    @contextmanager
    def reading(self, key: str | None) -> Iterator[LiveModel]:
        """The live model, which nobody changes meanwhile."""
        with self._lock:
            yield self._live

    def names(self, key: str | None) -> LiveModel:
        """The live model of now."""
        return self._live

    def take(self, parts: Parts) -> list[Any]:
        """A replica takes no events."""
        raise RuntimeError(f"{self._path} is followed here; it learns elsewhere")

    def snapshot(self) -> None:
        """A replica writes nothing."""

    def close(self) -> None:
        """Nothing is left to do."""

    def age(self) -> dict[str, Any]:
        """When the file was written, how many seconds ago, and the rows of its model."""
        with self._lock:
            return {
                "snapshot_age_seconds": max(time.time() - self._written, 0.0),
                "snapshots_loaded": self.n_loaded,
                "model_rows": self._live.model.n_rows,
            }

    def report(self) -> dict[str, Any]:
        """Counts, score and alarms as of the file, and its age."""
        with self._lock:
            found = self._live.report() | {"forgotten": self._live.late.n_forgotten}
            return found | {"rings": len(found["alarms"])} | self.age()


def _signature(found: os.stat_result) -> tuple[int, ...]:
    """Tells a file from the one that replaces it."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
