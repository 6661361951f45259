"""A model's file is written by a thread of its own, while rows are answered."""

from __future__ import annotations

import threading
from collections.abc import Callable

from onkel.persistence.untouched import Untouched


class BackgroundSave:
    """Saves of one file, one after another.

    Parameters
    ----------
    file : Untouched
        The file; if another process writes it meanwhile, saves go beside it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "m.onkel"
    >>> saves = BackgroundSave(Untouched(path))
    >>> saves.begin(lambda: b"content")
    >>> saves.finish()
    >>> path.read_bytes()
    b'content'
    """

    def __init__(self, file: Untouched) -> None:
        self._file = file
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    @property
    def is_running(self) -> bool:
        """Whether a save that was begun is not finished."""
        return self._thread is not None

    def begin(self, content: Callable[[], bytes]) -> None:
        """Begin a save of what ``content`` makes, as of now; the one before must be finished."""
        if self.is_running:
            raise RuntimeError("the save before is not finished")
        self._thread = threading.Thread(target=self._write, args=(content,), name="save")
        self._thread.start()

    def finish(self, wait: bool = True) -> None:
        """End a save, or let it go on if it is not written yet and ``wait`` is not set.

        If it failed, its error is raised here, once.
        """
        if self._thread is None or not (wait or not self._thread.is_alive()):
            return
        self._thread.join()
        self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _write(self, content: Callable[[], bytes]) -> None:
        try:
            self._file.write(content())
        except Exception as error:
            self._error = error
