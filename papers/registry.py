"""All experiments by name, the layouts of their tables, and how to find some of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from fnmatch import fnmatchcase

from papers import aligned, lsokl, lsokl_batch, lsokl_figures, nolana, olk, rrf
from papers.cases import Experiment
from papers.default import DEFAULT_TABLE, GOALS_LAYOUT
from papers.goals import RIVALS_TABLE
from papers.streams import STREAMS, STREAMS_LAYOUT
from papers.tables import CELLS, SETTINGS, Layout

#: all by name, papers first
EXPERIMENTS: dict[str, Experiment] = {
    entry.name: entry
    for entry in (
        *lsokl_batch.EXPERIMENTS, *lsokl.EXPERIMENTS, *lsokl_figures.EXPERIMENTS,
        *rrf.EXPERIMENTS, *nolana.EXPERIMENTS, *aligned.EXPERIMENTS, *olk.EXPERIMENTS,
        DEFAULT_TABLE, RIVALS_TABLE, STREAMS,
    )
}  # fmt: skip

LAYOUTS: dict[str, Layout] = {
    "cells": CELLS,
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
