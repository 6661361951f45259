"""About how long an experiment takes: rows times what a row costs, measured once on one core."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

from onkel import datasets
from onkel.algorithms import ALGORITHMS
from onkel.experiments.entry import Case, Rows
from onkel.experiments.experiment import Experiment

# seconds: per row; per stored row or feature, and for each of its columns
_A_ROW, _A_FEATURE, _A_COLUMN = 2e-6, 6e-9, 0.1e-9
# share of the rows that an unbounded learner stores, averaged over a pass, if no error is printed
_STORED = 0.1
# seconds of a run, for measures that take a fixed time
_TASKS = {"regret": 1.5, "alignment": 6.0, "kernel error": 5.0}


@cache
def rows_of(rows: Rows) -> int:
    """The number of rows: of the file or else the whole set, or of the part that is used."""
    if rows.file:
        whole = _rows_in(Path(rows.file))
    else:
        entry = datasets.info(rows.dataset)
        # a file may hold test rows, too
        whole = min(entry.n_rows, _rows_in(entry.file))
    return int(min(rows.n_first or whole, whole) * rows.share)


def _rows_in(file: Path | None) -> float:
    """Rows of a file; infinite where it cannot be read: a run then says what is wrong with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return math.inf if file is None else pq.read_metadata(file).num_rows
    except (pa.ArrowInvalid, OSError):
        return math.inf


def seconds_of(case: Case) -> float:
    """Seconds of one run, without a search."""
    if case.measure in _TASKS:
        return _TASKS[case.measure]
    n_rows = min(rows_of(case.rows), case.rows.most or math.inf)
    if case.measure == "in order" or (case.piped is not None and not case.search):
        return n_rows * case.slow
    size = float(max(case.parameters.get(name, 0) for name in ("n_components", "budget")))
    algorithm = ALGORITHMS.get(case.made_by)
    if not size and not (algorithm and algorithm.linear):
        size = _stored(case) * n_rows
    d = datasets.info(case.dataset).n_features
    return n_rows * (_A_ROW + case.slow + size * (_A_FEATURE + d * _A_COLUMN))


def _stored(case: Case) -> float:
    """Mean share of rows stored: half the printed mistakes, or 1.5 times with gradient steps."""
    if case.published is None or case.metric != "mistakes":
        return _STORED
    return case.published.value / 100.0 * (0.5 if case.algorithm == "perceptron" else 1.5)


def seconds_of_search(case: Case) -> float:
    """Seconds of the search that is part of a case's runs."""
    if case.search is None or not case.here:
        return 0.0
    points = 1
    for values in case.search.grid.values():
        points *= len(values)
    rows = replace(case.rows, share=case.search.share, most=case.search.most)
    tries = case.search.folds or case.search.orders
    return points * tries * seconds_of(replace(case, rows=rows))


def minutes_of(experiment: Experiment, n_runs: int | None = None) -> float:
    """Minutes of all runs whose data are on this machine, on one core."""
    shared = {}
    for case in experiment.cases:
        if not case.dataset or datasets.info(case.dataset).local:
            key = (case.rows, case.made_by, case.measure, repr(case.parameters))
            shared[key] = (n_runs or case.n_runs) * seconds_of(case) + seconds_of_search(case)
    return sum(shared.values()) / 60.0
