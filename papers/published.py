"""The 396 numbers of the papers' tables, as printed: ``published.csv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

Key = tuple[str, int, str, str, str]


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over the paper's runs, in its metric; None: not printed.

    ``loss``: the loss that the paper learned with; empty where it doesn't say. ``unit``: one in
    the last digit that is printed.
    """

    value: float
    std: float | None = None
    seconds: float | None = None
    test_seconds: float | None = None
    loss: str = ""
    unit: float = 0.0


@cache
def cells() -> dict[Key, Cell]:
    """All by (paper, table, data set, algorithm, setting)."""
    text = (resources.files("papers") / "published.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        key = (row["paper"], int(row["table"]), row["dataset"], row["algorithm"], row["setting"])
        std, seconds, test = (_number(row[name]) for name in ("std", "seconds", "test_seconds"))
        places = max(len(row[name].partition(".")[2]) for name in ("value", "std"))
        found[key] = Cell(float(row["value"]), std, seconds, test, row["loss"], 10.0**-places)
    return found


def cell(paper: str, table: int, dataset: str, algorithm: str, setting: str = "") -> Cell | None:
    """The published result; None where the table has none.

    Parameters
    ----------
    paper : {"lsokl", "rrf", "nolana"}
    table : int
    dataset, algorithm : str
    setting : str
        What else tells cells apart: ε in NOLANA's Table 1.

    Examples
    --------
    >>> from papers.published import cell
    >>> found = cell("lsokl", 5, "german", "nogd")
    >>> found.value, found.std
    (30.4, 0.8)
    """
    return cells().get((paper, table, dataset, algorithm, setting))


def _number(text: str) -> float | None:
    return float(text) if text else None
