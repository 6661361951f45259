"""Runs of cases in processes of one BLAS thread each; what was run before comes from the cache.

Searches come first. Progress counts in seconds of work, as estimated from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from onkel import ALGORITHMS, datasets
from onkel.evaluation.processes import in_processes
from onkel.evaluation.search import Point, points_of
from papers.cache import Cache, Record
from papers.cases import Case, Experiment, Rows
from papers.measures import MEASURES, Outcome
from papers.results import Result, result_of


@dataclass(frozen=True)
class Trial:
    """One point of a grid and its metric, the mean over the search's orders or folds."""

    parameters: Point
    value: float


def cases_of_search(case: Case) -> list[Case]:
    """The case at every point of its grid, on what its search may see."""
    if case.search is None:
        raise ValueError(f"{case.name} has no grid to search")
    search = case.search
    rows = replace(case.rows, share=search.share, most=search.most)
    measure = "fold" if search.folds else "searched"
    tried = replace(case, rows=rows, measure=measure, n_runs=search.folds or search.orders,
                    here=False, take="value")  # fmt: skip
    return [tried.at(point) for point in points_of(search.grid)]


def ranked(case: Case, tried: Iterable[tuple[Case, float]]) -> list[Trial]:
    """Trials, best first; a learner that diverged is last."""
    grid = case.search.grid if case.search else {}
    names = [name for joined in grid for name in joined.split(",")]
    trials = [Trial({name: at.parameters[name] for name in names}, value) for at, value in tried]
    sign = -1.0 if case.more_is_better else 1.0
    return sorted(trials, key=lambda t: sign * t.value if math.isfinite(t.value) else math.inf)


def in_reach(tried: Sequence[Result]) -> list[Result]:
    """Points of a grid whose accuracy on the folds so far may still be that of the best.

    They are at most twice the standard deviation of a difference behind: of two shares p, each of
    n independent rows, 2 √(2p (1 - p) / n).
    """
    best = max(_share(result) for result in tried)
    n = len(tried[0].values) * tried[0].n_rows / tried[0].case.n_runs
    reach = 2.0 * math.sqrt(2.0 * (best * (1.0 - best) + 1.0 / n) / n)
    return [result for result in tried if _share(result) >= best - reach]


def _share(result: Result) -> float:
    """Rows that are right; 0 if a run failed."""
    return 0.0 if result.failures or not math.isfinite(result.mean) else result.mean / 100.0


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


#: called with seconds of work done and to do, as estimated
Progress = Callable[[float, float], object]


@dataclass(frozen=True)
class _Job:
    case: Case
    run: int
    record: Record


def measure(case: Case, run: int) -> Outcome:
    """One run; if it fails, its ``error``."""
    try:
        with threadpool_limits(1):
            return MEASURES[case.measure](case, run)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def run_cases(
    cases: Sequence[Case],
    n_runs: int | None = None,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    progress: Progress | None = None,
    search: bool = False,
) -> list[Result]:
    """Run cases, after the searches that they ask for.

    Parameters
    ----------
    cases : sequence of Case
    n_runs : int, optional
        Orders of each; by default the paper's number.
    jobs : int, default=1
        Processes.
    cache : Cache, optional
        Without one, nothing is kept.
    progress : callable, optional
    search : bool, default=False
        Search all that have a grid, not only those whose search is part of the run.

    Returns
    -------
    list of Result
        In the order of the cases. They name missing data and runs that failed.

    Raises
    ------
    ValueError
        n_runs or jobs below 1.
    """
    for name, value in (("runs", n_runs), ("jobs", jobs)):
        if value is not None and value < 1:
            raise ValueError(f"{name}={value!r} must be at least 1")
    work = _Work(cache or Cache(None), jobs, progress)
    asked = [i for i, case in enumerate(cases) if case.search and (case.here or search)]
    settled = list(cases)
    work.expect(sum(seconds_of_search(replace(cases[i], here=True)) for i in asked))
    work.expect(sum((n_runs or case.n_runs) * seconds_of(case) for case in cases))
    for i, case in zip(asked, work.best([cases[i] for i in asked]), strict=True):
        settled[i] = case
    return work.results(settled, n_runs)


class _Work:
    def __init__(self, cache: Cache, jobs: int, progress: Progress | None) -> None:
        self._cache, self._jobs, self._progress = cache, jobs, progress
        self._done = self._total = 0.0

    def expect(self, seconds: float) -> None:
        self._total += seconds

    def best(self, cases: list[Case]) -> list[Case]:
        """The cases with the best settings of their grids; folds are a race, one after another."""
        left = [cases_of_search(case) for case in cases]
        tried: list[list[Result]] = [[] for _ in cases]
        for run in range(max((points[0].n_runs for points in left), default=0)):
            on = [i for i, points in enumerate(left) if run < points[0].n_runs]
            results = iter(self.results([at for i in on for at in left[i]], run + 1, since=run))
            for i in on:
                tried[i] = [next(results) for _ in left[i]]
                if cases[i].search.folds and not any(r.missing for r in tried[i]):  # type: ignore[union-attr]
                    left[i] = [r.case for r in in_reach(tried[i])]
                    rest = (len(tried[i]) - len(left[i])) * (left[i][0].n_runs - run - 1)
                    self._advance(rest * seconds_of(left[i][0]))
        found = []
        for case, of_it in zip(cases, tried, strict=True):
            here = not any(result.missing for result in of_it)
            trials = ranked(case, [(r.case, _whole_mean(r)) for r in of_it])
            found.append(case.at(trials[0].parameters) if here else case)
        return found

    def results(
        self, cases: Sequence[Case], n_runs: int | None = None, since: int = 0
    ) -> list[Result]:
        """Results of the cases; runs that several share are made once, those before are there."""
        records: list[Record | str] = []
        todo: dict[tuple[int, int], _Job] = {}
        for case in cases:
            wanted = n_runs or case.n_runs
            try:
                record = self._cache.record(case)
            except FileNotFoundError:
                records.append(_absent(case.dataset))
                self._advance((wanted - since) * seconds_of(case))
                continue
            records.append(record)
            for run in range(since, wanted):
                if "value" in record.results.get(str(run), {}) or (id(record), run) in todo:
                    self._advance(seconds_of(case))
                else:
                    todo[id(record), run] = _Job(case, run, record)
        for job, outcome in self._made(list(todo.values())):
            job.record.results[str(job.run)] = outcome
            job.record.save()
            self._advance(seconds_of(job.case))
        return [_result(*pair, n_runs) for pair in zip(cases, records, strict=True)]

    def _made(self, todo: list[_Job]) -> Iterator[tuple[_Job, Outcome]]:
        if self._jobs > 1:
            # the longest first, so that no process is left with a long one at the end
            todo.sort(key=lambda job: -seconds_of(job.case))
        calls = [partial(measure, job.case, job.run) for job in todo]
        for number, outcome in in_processes(calls, self._jobs):
            yield todo[number], outcome

    def _advance(self, seconds: float) -> None:
        self._done += seconds
        if self._progress is not None:
            self._progress(self._done, self._total)


def _result(case: Case, record: Record | str, n_runs: int | None) -> Result:
    if isinstance(record, str):
        return Result(case=case, n_rows=0, values=(), seconds=(), missing=record)
    runs: Iterable[Any] = (record.results[str(run)] for run in range(n_runs or case.n_runs))
    return result_of(case, list(runs))


def _absent(dataset: str) -> str:
    """Says that a data set isn't here, and where to get it."""
    entry = datasets.info(dataset)
    fetched = f"'onkel datasets fetch {dataset}', or " if entry.openml is not None else ""
    return f"data set {dataset!r} is not on this machine; get it: {fetched}{entry.source}"


def _whole_mean(result: Result) -> float:
    """The mean; infinite if a run failed."""
    return math.inf if result.failures or not result.values else result.mean
