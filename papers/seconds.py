"""How long runs take, roughly: by their rows, and by what their learners store."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from onkel import ALGORITHMS, datasets
from papers.cases import Case, Experiment, Rows
from papers.searches import cases_of_search, on_part, parts_of

# seconds: per row; per stored row or feature, and for each of its columns
_A_ROW, _A_FEATURE, _A_COLUMN = 2e-6, 6e-9, 0.1e-9
# share of the rows that an unbounded learner stores, averaged over a pass, if no error is printed
_STORED = 0.1
# seconds of a run, for measures that take a fixed time
_TASKS = {"regret": 1.5, "alignment": 6.0, "chosen": 2.0, "kernel error": 5.0, "bounded": 20.0}


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
    points = cases_of_search(case)
    tries = points[0].n_runs
    return len(points) * tries * sum(seconds_of(on_part(points[0], m)) for m in parts_of(case))


def minutes_of(experiment: Experiment, n_runs: int | None = None) -> float:
    """Minutes of all runs whose data are on this machine, on one core."""
    shared = {}
    for case in experiment.cases:
        if not case.dataset or datasets.info(case.dataset).local:
            key = (case.rows, case.made_by, case.measure, repr(case.parameters))
            shared[key] = (n_runs or case.n_runs) * seconds_of(case) + seconds_of_search(case)
    return sum(shared.values()) / 60.0
