"""All experiments by name, and finding some of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from fnmatch import fnmatchcase

from onkel.algorithms import DEFAULT
from onkel.experiments.entry import Case, Experiment, Rows
from onkel.experiments.own.goals import GOALS
from onkel.experiments.papers import kernels, lsokl, lsokl_batch, lsokl_figures, nolana, rrf
from onkel.experiments.published import Cell

_DEFAULT = tuple(
    Case(
        rows=Rows(name, scaling="none", dtype="float32"), algorithm=DEFAULT, parameters={},
        task=goal.task, metric=goal.metric, measure="default", limit=goal.target, n_runs=10,
        published=None if goal.published is None else Cell(goal.published), step="default",
    )
    for name, goal in GOALS.items()
)  # fmt: skip

#: onkel's own measurements; alone on the command line they have options of their own
OWN = (
    Experiment(
        "default", "onkel", "One setting for all data sets, against the papers and tuned rivals",
        "The default learner with nothing set, 10 random orders; printed: the papers' best.",
        _DEFAULT,
    ),
    Experiment(
        "rivals", "onkel", "FOGD, NOGD and RRF at the best of the papers' grids",
        "A grid on a random tenth of the rows, then three other orders of all rows.",
    ),
    Experiment(
        "streams", "onkel", "Streams in the order of time, beside River's forests",
        "Every row predicted before it is learned; wants a folder of Parquet files.",
    ),
)  # fmt: skip

#: all by name, papers first
EXPERIMENTS: dict[str, Experiment] = {
    entry.name: entry
    for entry in (
        *lsokl_batch.EXPERIMENTS, *lsokl.EXPERIMENTS, *lsokl_figures.EXPERIMENTS,
        *rrf.EXPERIMENTS, *nolana.EXPERIMENTS, *kernels.EXPERIMENTS, *OWN,
    )
}  # fmt: skip


def find(names: Iterable[str] = ()) -> list[Experiment]:
    """Experiments of these names, in the list's order.

    Parameters
    ----------
    names : iterable of str
        Names, globs ("lsokl.*"), or "all".

    Raises
    ------
    ValueError
        A name is none; the message suggests the nearest.

    Examples
    --------
    >>> from onkel.experiments import find
    >>> [entry.name for entry in find(["lsokl.table?"])]
    ['lsokl.table3', 'lsokl.table5', 'lsokl.table7', 'lsokl.table9']
    """
    wanted = ["*" if name == "all" else name for name in names]
    for name in wanted:
        if not any(fnmatchcase(known, name) for known in EXPERIMENTS):
            near = difflib.get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"no experiment {name!r}; {hint}'onkel reproduce' lists them")
    return [
        entry
        for known, entry in EXPERIMENTS.items()
        if any(fnmatchcase(known, name) for name in wanted)
    ]
