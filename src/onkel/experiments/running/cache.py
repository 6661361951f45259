"""Earlier runs, found again by their data, settings, code and number."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

import onkel
from onkel.experiments.data import fingerprint
from onkel.experiments.entry import Case
from onkel.experiments.records import Record
from onkel.experiments.running.measures import MEASURES

#: parts of the package that no run depends on, and files here that all do
_BESIDE = ("cli", "compat", "evaluation", "persistence", "experiments")
_ALL = ("data", "running/learners", "running/measures", "running/piped")
_MORE = {"in order": ("files", "streams/learners")}


def default_folder() -> Path:
    """Where runs are kept by default."""
    return user_cache_path("onkel", appauthor=False) / "reproduce"


@cache
def code(measure: str) -> str:
    """A hash of the sources that learn and measure: with other code a run is another run."""
    root = Path(onkel.__file__).parent
    files = {f for f in root.rglob("*.py") if f.relative_to(root).parts[0] not in _BESIDE}
    files |= {root / "experiments" / f"{name}.py" for name in (*_ALL, *_MORE.get(measure, ()))}
    files.add(Path(MEASURES[measure].__code__.co_filename))
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(root)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def about(case: Case) -> dict[str, Any]:
    """What identifies the runs of a case, JSON-able; the same for cases that share runs.

    Raises
    ------
    FileNotFoundError
        The data set isn't on this machine; the message says how to get it.
    """
    told = ("task", "metric", "unit", "measure", "parameters", "piped")
    return {
        "rows": asdict(replace(case.rows, file="")),
        "data": fingerprint(case.rows),
        "learner": case.made_by,
        **{name: getattr(case, name) for name in told},
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
        told = json.loads(json.dumps(about(case), default=str))
        key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]
        if key not in self._records:
            file = None if self._folder is None else self._folder / f"{key}.json"
            self._records[key] = Record(file, told)
        return self._records[key]
