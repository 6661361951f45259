"""Find data sets on this machine, and explain how to get the others."""

from __future__ import annotations

from pathlib import Path

from onkel.datasets.folders import folders
from onkel.datasets.registry import DATASETS, Entry, info


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
        The set isn't on this machine; the message says where it was looked for and how to get it.
    """
    entry = info(name)
    if entry.file is None:
        raise FileNotFoundError(missing(entry))
    return entry.file


def missing(entry: Entry) -> str:
    """The message for a data set that isn't on this machine."""
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
