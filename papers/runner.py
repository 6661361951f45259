"""Runs of cases in processes of one BLAS thread each; what was run before comes from the cache.

Searches come first. Progress counts in seconds of work, as estimated from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from onkel import datasets
from onkel.evaluation.processes import in_processes
from papers.cache import Cache, Record
from papers.cases import Case
from papers.measures import MEASURES, Outcome
from papers.results import Result, result_of
from papers.searches import best_settings
from papers.seconds import seconds_of, seconds_of_search

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
        """The cases with the best settings of their grids."""
        return best_settings(
            cases, self.results, lambda case, n: self._advance(n * seconds_of(case))
        )

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
