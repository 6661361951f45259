"""Where data sets lie: the folder of ONKEL_DATA, then the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from onkel.datasets.registry import DATASETS, Entry, info

__all__ = ["available", "find", "folders", "path"]


def _cache_folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "onkel" / "data"


def folders() -> tuple[Path, ...]:
    """Folders looked through for data sets, first the one that :func:`fetch` writes to."""
    own = os.environ.get("ONKEL_DATA")
    cache = _cache_folder()
    return (Path(own).expanduser(), cache) if own else (cache,)


def find(entry: Entry) -> Path | None:
    """The file of a data set; None where it isn't on this machine."""
    for folder in folders():
        for name in entry.candidates:
            if (folder / name).is_file():
                return folder / name
    return None


def available() -> list[Entry]:
    """All data sets, on this machine or not; see ``entry.local``.

    Examples
    --------
    >>> from onkel import datasets
    >>> "german" in [entry.name for entry in datasets.available()]
    True
    """
    return list(DATASETS.values())


def path(name: str) -> Path:
    """The file of a data set that is on this machine.

    Parameters
    ----------
    name : str
        A name of :data:`onkel.datasets.DATASETS`.

    Raises
    ------
    ValueError
        Unknown name.
    FileNotFoundError
        The set isn't here; the message says where it was looked for and how to get it.
    """
    entry = info(name)
    found = find(entry)
    if found is None:
        raise FileNotFoundError(missing(entry))
    return found


def missing(entry: Entry) -> str:
    """What to say where a data set isn't there."""
    looked = " and ".join(str(folder) for folder in folders())
    if entry.openml is not None:
        how = f"get it with 'onkel datasets fetch {entry.name}', or"
    else:
        how = "it is not on OpenML in the papers' form:"
    return (
        f"data set {entry.name!r} is not on this machine (looked for "
        f"{' or '.join(entry.candidates)} in {looked}): {how} take it from {entry.source} and put "
        f"it there as Parquet (columns f0, f1, ..., y, and split if it has one); the environment "
        "variable ONKEL_DATA names another folder"
    )
