"""A JSON file that grows during a long run, and from which the run can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onkel.persistence.files import atomic_file


class Record:
    """Named results of one measurement, written after every step, whole or not at all.

    Parameters
    ----------
    path : Path or None
        Read if it is there; None keeps all in memory.
    about : dict
        JSON-able: what is measured. A file about something else is refused.

    Attributes
    ----------
    results : dict
        JSON-able results by name.

    Raises
    ------
    ValueError
        The file holds no such results, or is about something else.
    """

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self.path = path
        self.about = json.loads(json.dumps(about, default=str))
        self.results: dict[str, Any] = {}
        if path is not None and path.exists():
            self.results = self._read(path)

    def save(self) -> None:
        """Write the results so far."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"about": self.about, "results": self.results}, indent=1)
        with atomic_file(self.path) as file:
            file.write(text.encode() + b"\n")

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            about, results = found["about"], found["results"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} holds no results to go on from ({error})") from error
        if about != self.about:
            keys = [k for k in {**about, **self.about} if about.get(k) != self.about.get(k)]
            said = "; ".join(
                f"{k}: {about.get(k)!r} there, {self.about.get(k)!r} now" for k in keys
            )
            raise ValueError(f"{path} is about something else ({said}); name another file")
        return dict(results)
