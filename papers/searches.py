"""Searches: every point of a case's grid, on what its search may see, and a race over folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from onkel.evaluation.search import Point, points_of
from papers.cases import Case
from papers.results import Result


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


def parts_of(case: Case) -> tuple[int | None, ...]:
    """The most rows of each part that a search sees, one after another."""
    return () if case.search is None else (*case.search.heats, case.search.most)


def on_part(tried: Case, most: int | None) -> Case:
    """A point that is tried on so many rows."""
    return replace(tried, rows=replace(tried.rows, most=most))


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


def best_settings(
    cases: list[Case],
    run: Callable[[list[Case], int, int], list[Result]],
    dropped: Callable[[Case, int], object],
) -> list[Case]:
    """The cases with the best settings of their grids; as they are where data are missing.

    ``run(cases, n, since)`` makes the runs from ``since`` to n - 1. ``dropped(case, n)`` hears of n
    runs that will not be made.
    """
    found = []
    for case, tried in zip(cases, _tried(cases, run, dropped), strict=True):
        here = not any(result.missing for result in tried)
        trials = ranked(case, [(r.case, _whole_mean(r)) for r in tried])
        found.append(case.at(trials[0].parameters) if here else case)
    return found


def _tried(
    cases: list[Case],
    run: Callable[[list[Case], int, int], list[Result]],
    dropped: Callable[[Case, int], object],
) -> list[list[Result]]:
    """Points of each grid, on the last part of the rows that its search sees.

    Folds are a race, one after another, and so are parts: what is behind is not tried again.
    """
    left = [cases_of_search(case) for case in cases]
    tried: list[list[Result]] = [[] for _ in cases]
    for part in range(max((len(parts_of(case)) for case in cases), default=0)):
        here = [i for i, case in enumerate(cases) if part < len(parts_of(case))]
        for i in here:
            left[i] = [on_part(at, parts_of(cases[i])[part]) for at in left[i]]
        began = [len(points) for points in left]
        for fold in range(max(left[i][0].n_runs for i in here)):
            on = [i for i in here if fold < left[i][0].n_runs]
            results = iter(run([at for i in on for at in left[i]], fold + 1, fold))
            for i in on:
                tried[i] = [next(results) for _ in left[i]]
                if left[i][0].measure == "fold" and not any(r.missing for r in tried[i]):
                    later = parts_of(cases[i])[part + 1 :]
                    stay = _still_in(tried[i], began[i] if later else None, fold)
                    gone = len(left[i]) - len(stay)
                    dropped(stay[0], gone * (stay[0].n_runs - fold - 1))
                    for most in later:
                        dropped(on_part(stay[0], most), gone * stay[0].n_runs)
                    left[i] = stay
    return tried


def _still_in(tried: list[Result], began: int | None, fold: int) -> list[Case]:
    """The points that stay in a race.

    After the last fold of a heat at most half of those that began it, if ``began`` says how many.
    """
    left = sorted(in_reach(tried), key=lambda result: -result.mean)
    if began is not None and fold + 1 == tried[0].case.n_runs:
        left = left[: -(-began // 2)]
    return [result.case for result in left]


def _whole_mean(result: Result) -> float:
    """The mean; infinite if a run failed."""
    return math.inf if result.failures or not result.values else result.mean
