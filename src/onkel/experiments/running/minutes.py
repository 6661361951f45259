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

# a row by itself; a stored row or a feature, and each of its columns
_A_ROW, _A_FEATURE, _A_COLUMN = 2e-6, 6e-9, 0.1e-9
# share of the rows that an unbounded learner stores, in the mean over a pass, if none is printed
_STORED = 0.1
# measures that take their own time: a run
_TASKS = {"regret": 1.5, "alignment": 6.0, "kernel error": 5.0}


@cache
def rows_of(rows: Rows) -> int:
    """In the file, or else in the whole set; a part of them where the rows are one."""
    if rows.file:
        whole = _rows_in(Path(rows.file))
    else:
        entry = datasets.info(rows.dataset)
        # a file may hold test rows, too
        whole = min(entry.n_rows, _rows_in(entry.file))
    return int(min(rows.n_first or whole, whole) * rows.share)


def _rows_in(file: Path | None) -> float:
    """Infinite where nothing can be told: a run says what is wrong with a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return math.inf if file is None else pq.read_metadata(file).num_rows
    except (pa.ArrowInvalid, OSError):
        return math.inf


def seconds_of(case: Case) -> float:
    """Of one run, without a search."""
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
    """Half the printed share of mistakes; gradient steps are taken more often."""
    if case.published is None or case.metric != "mistakes":
        return _STORED
    return case.published.value / 100.0 * (0.5 if case.algorithm == "perceptron" else 1.5)


def seconds_of_search(case: Case) -> float:
    """Of the search that is part of a case's runs."""
    if case.search is None or not case.here:
        return 0.0
    points = 1
    for values in case.search.grid.values():
        points *= len(values)
    rows = replace(case.rows, share=case.search.share, most=case.search.most)
    tries = case.search.folds or case.search.orders
    return points * tries * seconds_of(replace(case, rows=rows))


def minutes_of(experiment: Experiment, n_runs: int | None = None) -> float:
    """Of all runs that the data here allow, on one core."""
    shared = {}
    for case in experiment.cases:
        if not case.dataset or datasets.info(case.dataset).local:
            key = (case.rows, case.made_by, case.measure, repr(case.parameters))
            shared[key] = (n_runs or case.n_runs) * seconds_of(case) + seconds_of_search(case)
    return sum(shared.values()) / 60.0
