"""All experiments by name, and finding some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import groupby

from onkel.experiments import lsokl, rrf
from onkel.experiments.entry import Experiment


def _linear(entry: Experiment) -> Experiment:
    """Passive-aggressive on the same rows in the same orders."""
    regression = entry.task == "regression"
    return Experiment(
        name=f"linear-{entry.dataset}-pa",
        paper="linear",
        table=0,
        dataset=entry.dataset,
        algorithm="pa",
        task=entry.task,
        parameters={"dtype": "float64"} | ({"epsilon": 0.1} if regression else {}),
        metric=entry.metric,
        n_first=entry.n_first,
        step="default",
    )


def _ordered() -> Iterator[Experiment]:
    """The papers' order; a linear row follows a data set's entries in its first table."""
    done: set[str] = set()
    entries = (*lsokl.EXPERIMENTS, *rrf.EXPERIMENTS)
    for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
        last = None
        for last in group:
            yield last
        if last is not None and dataset not in done:
            done.add(dataset)
            yield _linear(last)


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
