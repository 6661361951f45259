"""``onkel.compare``: several learners over the same rows, from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.evaluation.comparison.contest import Contest, permuted, read_all
from onkel.evaluation.comparison.entries import entry, named
from onkel.evaluation.comparison.table import Comparison, comparison, write_table
from onkel.evaluation.curves import plot
from onkel.evaluation.prequential import blocks_of
from onkel.evaluation.processes import jobs_for
from onkel.evaluation.report import write_html
from onkel.evaluation.result import PrequentialResult
from onkel.learners.base import OnlineEstimator
from onkel.pipeline.summary import html_table

ORDERS = ("shuffled", "stream")


@dataclass(repr=False)
class ComparisonResult:
    """What `compare` returns."""

    #: every run, learner by learner
    results: list[PrequentialResult]
    #: names of the learners that are linear in the inputs
    linear: set[str]

    @property
    def table(self) -> Comparison:
        """Titles, lines, and what the stars mean."""
        return comparison(self.results, self.linear)

    def __repr__(self) -> str:
        return f"{self.to_markdown()}\n{self.table.note}"

    def _repr_html_(self) -> str:
        rows = [(line.cells[0], " · ".join(line.cells[1:])) for line in self.table.lines]
        return html_table(" · ".join(self.table.head), rows)

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return write_table(self.table, "markdown")

    def to_csv(self) -> str:
        """The numbers of the table as CSV."""
        return write_table(self.table, "csv")

    def to_latex(self) -> str:
        """The table as a LaTeX ``tabular`` (package booktabs)."""
        return write_table(self.table, "latex")

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the curves; ``path`` (PNG, SVG or PDF by its ending) is where to write them."""
        return plot(self.results, path)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report of one HTML page."""
        write_html(self.results, path, title="Comparison", linear=self.linear)


def compare(
    learners: str | Sequence[Any] | Mapping[str, Any],
    source: Any,
    *,
    target: str | None = None,
    task: str = "classification",
    runs: int = 5,
    order: str = "shuffled",
    seed: int = 0,
    limit: int | None = None,
    scaling: str = "auto",
    progress: bool = False,
    jobs: int | None = None,
) -> ComparisonResult:
    """Compare learners: the same rows in the same orders, each row predicted before it is learned.

    Parameters
    ----------
    learners : str, sequence, or mapping of str
        Names of algorithms with settings ("fogd", "fogd:n_components=100"), estimators of onkel,
        estimators of scikit-learn with ``partial_fit``, River's models, or their names
        ("sklearn.linear_model:SGDClassifier"). Keys of a mapping are the names in the table.
    source : (X, y), frame, path or stream
        What `onkel.open_stream` opens. The rows are held in memory.
    target : str, optional
        Target column of a table.
    task : {"classification", "regression"}, default="classification"
        Which kind of learner a name stands for.
    runs : int, default=5
        Orders of the rows, at least 1. Run r has the seed ``seed + r``.
    order : {"shuffled", "stream"}, default="shuffled"
        With "stream" all runs see the rows in the order of the stream; only random features
        differ.
    seed : int, default=0
    limit : int, optional
        Use only the first ``limit`` rows.
    scaling : str, default="auto"
        How features are scaled, as in `StreamModel`; with "auto", learners of other libraries get
        standardised ones.
    progress : bool, default=False
        Show a bar on stderr.
    jobs : int, optional
        Processes of one thread each, which share the runs. By default one per core if 500 000 rows
        or more are learned in all, else this process alone.

    Returns
    -------
    ComparisonResult
        With ``to_markdown``, ``to_csv``, ``to_latex``, ``plot`` and ``report``. A star marks the
        best and what is not significantly worse: paired t-test over the orders, Holm's correction.

    Raises
    ------
    ValueError
        If there is no such learner or order, two have one name, or they learn different tasks.
    DataError
        If a row is bad.

    Examples
    --------
    >>> import onkel
    >>> from sklearn.datasets import make_moons
    >>> rows = make_moons(1000, noise=0.2, random_state=0)
    >>> found = onkel.compare(["fogd:n_components=50", "pa"], rows, runs=3)
    >>> [(line.summary.name, line.among_best) for line in found.table.lines]
    [('fogd:n_components=50', True), ('pa', False)]
    """
    from rich.console import Console

    if order not in ORDERS:
        raise ValueError(f"order={order!r}: must be one of {', '.join(ORDERS)}")
    if runs < 1:
        raise ValueError(f"runs={runs}: must be at least 1")
    names, several = _named(learners)
    if not several:
        raise ValueError("learners: there is none; name at least one")
    tasks = {type(one).__name__: one._task for one in several if isinstance(one, OnlineEstimator)}
    tasks |= {one: task for one in several if isinstance(one, str)}
    if len(set(tasks.values())) > 1:
        found = ", ".join(f"{name} ({its})" for name, its in tasks.items())
        raise ValueError(f"the learners learn different tasks: {found}; a name stands for task=")
    rows = read_all(blocks_of(source, target), np.inf, limit)
    assert rows is not None
    X, y = rows
    classes = np.unique(y) if task == "classification" else None
    entries = named(
        [
            entry(one, task, name=name, classes=classes)
            for name, one in zip(names, several, strict=True)
        ]
    )
    contest = Contest(entries, scaling, seed)
    console = Console(stderr=True) if progress else Console(quiet=True)
    contest.play(
        lambda seed: permuted(X, y, seed if order == "shuffled" else None),
        console,
        runs=runs,
        total=len(y),
        jobs=jobs_for(len(y) * runs * len(entries), jobs),
    )
    return ComparisonResult(contest.results, {one.name for one in entries if one.linear})


def _named(learners: Any) -> tuple[list[Any], list[Any]]:
    """The names given to learners, None where there is none, and the learners."""
    if isinstance(learners, Mapping):
        return list(learners), list(learners.values())
    several = [learners] if isinstance(learners, str) else list(learners)
    return [None] * len(several), several
