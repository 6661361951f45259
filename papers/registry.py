"""All experiments by name, the layouts of their tables, and how to find some of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from papers import aligned, bounds, lsokl, lsokl_batch, lsokl_figures, nolana, olk, reasons, rrf
from papers.cases import PAPERS, Case, Experiment
from papers.default import DEFAULT_TABLE, GOALS_LAYOUT
from papers.goals import RIVALS_TABLE
from papers.seconds import minutes_of
from papers.streams import STREAMS, STREAMS_LAYOUT
from papers.tables import CELLS, SETTINGS, Layout

_ALL = (
    *lsokl_batch.EXPERIMENTS, *lsokl.EXPERIMENTS, *lsokl_figures.EXPERIMENTS, *rrf.EXPERIMENTS,
    *nolana.EXPERIMENTS, *aligned.EXPERIMENTS, *olk.EXPERIMENTS, *bounds.EXPERIMENTS,
    *reasons.EXPERIMENTS, DEFAULT_TABLE, RIVALS_TABLE, STREAMS,
)  # fmt: skip
#: all by name, paper by paper
EXPERIMENTS: dict[str, Experiment] = {
    entry.name: entry for entry in sorted(_ALL, key=lambda entry: list(PAPERS).index(entry.paper))
}

LAYOUTS: dict[str, Layout] = {
    "cells": CELLS,
    "reasons": CELLS,
    "settings": SETTINGS,
    "goals": GOALS_LAYOUT,
    "streams": STREAMS_LAYOUT,
}


def find(names: Iterable[str] = ()) -> list[Experiment]:
    """Experiments of these names, in the list's order.

    Parameters
    ----------
    names : iterable of str
        Names, globs ("lsokl.*"), or "all".

    Raises
    ------
    ValueError
        There is no experiment of a name; the message suggests the nearest.

    Examples
    --------
    >>> from papers import find
    >>> [entry.name for entry in find(["lsokl.table?"])]
    ['lsokl.table3', 'lsokl.table5', 'lsokl.table7', 'lsokl.table9']
    """
    wanted = ["*" if name == "all" else name for name in names]
    for name in wanted:
        if not any(fnmatchcase(known, name) for known in EXPERIMENTS):
            near = difflib.get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"no experiment {name!r}; {hint}'python -m papers' lists them")
    return [
        entry
        for known, entry in EXPERIMENTS.items()
        if any(fnmatchcase(known, name) for name in wanted)
    ]


def limited(found: Sequence[Experiment], data: list[str], learners: list[str]) -> list[Experiment]:
    """The experiments that can be run, limited to these data and learners.

    Raises
    ------
    ValueError
        None of them has such data, or such a learner.
    """
    _refuse_unknown("--data", data, [name for entry in found for name in entry.datasets])
    _refuse_unknown("--learner", learners, [name for entry in found for name in entry.algorithms])
    chosen = []
    for entry in found:
        part = entry.on(data, learners)
        if part.cases:
            chosen.append(part)
    if not chosen:
        raise ValueError(
            "no experiment has these learners on these data; leave --data or --learner out"
        )
    return chosen


def _refuse_unknown(option: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            among = ", ".join(dict.fromkeys(known))
            raise ValueError(f"{option} {name}: must be among {among}{hint}")


def quick(found: Sequence[Experiment], runs: int | None, minutes: float) -> list[Experiment]:
    """Of each experiment the data sets that are here and take at most so many minutes."""
    chosen = []
    for entry in found:
        cases: list[Case] = []
        for name in dict.fromkeys(case.dataset for case in entry.cases):
            part = replace(entry, cases=tuple(c for c in entry.cases if c.dataset == name))
            if 0.0 < minutes_of(part, runs) <= minutes:
                cases += part.cases
        if cases:
            chosen.append(replace(entry, cases=tuple(cases)))
    if not chosen:
        raise ValueError(f"--within {minutes:g}: nothing is as quick as that")
    return chosen
