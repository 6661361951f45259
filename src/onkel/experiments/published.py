"""Published results: all 396 cells of the papers' tables, as the file published.csv holds them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

Key = tuple[str, int, str, str, str]


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over the paper's runs, in its metric; None: not printed."""

    value: float
    std: float | None = None
    seconds: float | None = None
    test_seconds: float | None = None


@cache
def cells() -> dict[Key, Cell]:
    """All by (paper, table, data set, algorithm, setting)."""
    text = (resources.files("onkel.experiments") / "published.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        key = (row["paper"], int(row["table"]), row["dataset"], row["algorithm"], row["setting"])
        std, seconds, test = (_number(row[name]) for name in ("std", "seconds", "test_seconds"))
        found[key] = Cell(float(row["value"]), std, seconds, test)
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
    >>> from onkel.experiments.published import cell
    >>> found = cell("lsokl", 5, "german", "nogd")
    >>> found.value, found.std
    (30.4, 0.8)
    """
    return cells().get((paper, table, dataset, algorithm, setting))


def _number(text: str) -> float | None:
    return float(text) if text else None
