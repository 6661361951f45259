"""Earlier runs, found again by their data, settings, code and number."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

import onkel
from papers.cases import Case
from papers.measures import MEASURES
from papers.rows import fingerprint


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
        write_whole(self.path, text + "\n")

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


#: rooms of onkel that no run depends on, and files here that all runs do
_BESIDE = ("cli", "compat", "distributed", "evaluation", "export", "persistence", "serve")
_ALL = ("rows", "measures")


def default_folder() -> Path:
    """Where runs are kept by default."""
    return user_cache_path("onkel", appauthor=False) / "papers"


@cache
def code(measure: str) -> str:
    """A hash of the sources that learn and measure: with other code a run is another run."""
    root, here = Path(onkel.__file__).parent, Path(__file__).parent
    files = {f for f in root.rglob("*.py") if f.relative_to(root).parts[0] not in _BESIDE}
    files |= {here / f"{name}.py" for name in _ALL}
    files.add(Path(MEASURES[measure].__code__.co_filename))
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(root if file.is_relative_to(root) else here)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def about(case: Case) -> dict[str, Any]:
    """What identifies the runs of a case, JSON-able; the same for cases that share runs.

    Raises
    ------
    FileNotFoundError
        The data set isn't on this machine; the message says how to get it.
    """
    names = ("task", "metric", "unit", "measure", "parameters", "piped")
    return {
        "rows": asdict(replace(case.rows, file="")),
        "data": fingerprint(case.rows),
        "learner": case.made_by,
        **{name: getattr(case, name) for name in names},
        "code": code(case.measure),
    }


class Cache:
    """Runs in a folder, one file for all runs of a case.

    Parameters
    ----------
    folder : Path or None
        None keeps all in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._records: dict[str, Record] = {}

    def record(self, case: Case) -> Record:
        """The runs of a case by number, as text; those that failed have an ``error``."""
        text = json.loads(json.dumps(about(case), default=str))
        key = hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()[:24]
        if key not in self._records:
            file = None if self._folder is None else self._folder / f"{key}.json"
            self._records[key] = Record(file, text)
        return self._records[key]


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
