"""All experiments by name, and finding some of them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from onkel.experiments import linear, lsokl, lsokl_support, rrf, rrf_baselines
from onkel.experiments.entry import Experiment

__all__ = ["EXPERIMENTS", "find"]


def _lsokl() -> list[Experiment]:
    """Cell by cell: a data set's support-vector learners before its FOGD and NOGD."""
    cells = list(dict.fromkeys((entry.table, entry.dataset) for entry in lsokl.EXPERIMENTS))
    both = (*lsokl_support.EXPERIMENTS, *lsokl.EXPERIMENTS)
    return sorted(both, key=lambda entry: cells.index((entry.table, entry.dataset)))


def _ordered() -> list[Experiment]:
    """The papers' order; the linear row of a data set follows its last entry in a table."""
    entries: list[Experiment] = []
    linears = {entry.dataset: entry for entry in linear.EXPERIMENTS}
    for entry in (*_lsokl(), *rrf_baselines.EXPERIMENTS, *rrf.EXPERIMENTS):
        if entries and entries[-1].dataset != entry.dataset:
            entries.extend(_taken(linears, entries[-1].dataset))
        entries.append(entry)
    return entries + list(linears.values())


def _taken(linears: dict[str, Experiment], dataset: str) -> list[Experiment]:
    return [linears.pop(dataset)] if dataset in linears else []


EXPERIMENTS: dict[str, Experiment] = {entry.name: entry for entry in _ordered()}


def find(patterns: Iterable[str] = ()) -> list[Experiment]:
    """Experiments whose name matches one of the patterns, in the table's order.

    Parameters
    ----------
    patterns : iterable of str
        Names, globs ("lsokl-5-*"), or parts of names ("german"); none means all.

    Raises
    ------
    ValueError
        A pattern matches nothing.

    Examples
    --------
    >>> from onkel.experiments import find
    >>> [entry.name for entry in find(["*-german-?ogd"])]
    ['lsokl-5-german-bogd', 'lsokl-5-german-fogd', 'lsokl-5-german-nogd']
    """
    patterns = list(patterns)
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in EXPERIMENTS):
            raise ValueError(
                f"no experiment matches {pattern!r}; names are like 'lsokl-5-german-fogd' "
                "(see --list)"
            )
    return [
        entry
        for name, entry in EXPERIMENTS.items()
        if not patterns or any(_matches(name, pattern) for pattern in patterns)
    ]


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or ("*" not in pattern and pattern in name)
