"""The default learner on every data set that has a goal: one setting, one call.

What is measured is what ``onkel learn FILE --target y`` does: the default algorithm with nothing
set, every row predicted before it is learned. Only the task differs between data sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onkel import datasets
from onkel.algorithms import DEFAULT
from papers import goals
from papers.cases import Case, Experiment
from papers.goals import GOALS, Goal
from papers.published import Cell
from papers.results import Result
from papers.tables import Content, Layout, Line, mean_std


def case_of(goal: Goal) -> Case:
    """A row of the table. No parameter depends on the data set."""
    return Case(
        rows=goal.rows,
        algorithm=DEFAULT,
        parameters={},
        piped={},
        task=datasets.info(goal.dataset).task,
        metric=goal.metric,
        limit=goal.target,
        published=None if goal.published is None else Cell(goal.published),
        same_rows=False,
        n_runs=10,
        step="default",
        slow=1e-4,
    )


DEFAULT_TABLE = Experiment(
    "default", "onkel", "One setting for all data sets, against the papers and tuned rivals",
    "The default learner with nothing set: what 'onkel learn' does, in 10 random orders.",
    tuple(map(case_of, GOALS.values())), layout="goals",
)  # fmt: skip


_HEAD = ("data", "rows", "default", "asked for", "papers' best", "tuned rival", "rows/s")
_UNITS = (
    "Percent of mistakes; from housing to casp the mean squared error with the target in [0, 1]; "
    "airlines_delay: root mean squared error in minutes"
)
_INPUTS = {"papers": "rows scaled as in the papers", "online": "rows as the default gets them"}


def content(results: Sequence[Result]) -> Content:
    """One line per data set; missing sets are left out."""
    lines = [
        Line(_row(r), {3: "bad" if r.failed else "good"}) for r in results if not r.missing
    ]  # fmt: skip
    return Content(_HEAD, lines, _HEAD[:1])


def summary(results: Sequence[Result]) -> str:
    """On how many data sets the goal is met, and papers and tuned rivals are beaten."""
    found = [r for r in results if r.values]
    if not found:
        return ""
    runs = sorted({len(r.values) for r in found})
    orders = f"mean ± standard deviation over {' or '.join(map(str, runs))} random orders"
    parts = [_UNITS, "one order" if runs == [1] else orders]
    parts.append(_count("at most what is asked for", [not r.failed for r in found]))
    printed = [r.mean < r.case.published.value for r in found if r.case.published is not None]
    parts.append(_count("below the papers' best", printed))
    for inputs in goals.INPUTS:
        pairs = [(r.mean, _rival(r, inputs)) for r in found]
        beaten = [mean < best[1] for mean, best in pairs if best is not None]
        parts.append(_count(f"below the tuned rivals ({_INPUTS[inputs]})", beaten))
    return "; ".join(part for part in parts if part) + "."


def _rival(result: Result, inputs: str | None = None) -> tuple[str, float] | None:
    return goals.best_of(goals.stored().get(result.case.dataset, {}), inputs)


def _row(result: Result) -> list[str]:
    case, best = result.case, _rival(result)
    if not result.values:
        return [case.dataset, "", "failed", "", "", "", ""]
    return [
        case.dataset,
        f"{result.n_rows:,}",
        mean_std(result.mean, result.std if len(result.values) > 1 else None, case.metric),
        f"{case.limit:g} {'✗' if result.failed else '✓'}",
        "" if case.published is None else f"{case.published.value:g}",
        "" if best is None else f"{best[0].split(',')[0]} {best[1]:.4g}",
        f"{result.n_rows / float(np.median(result.seconds)):,.0f}",
    ]


def _count(what: str, held: list[bool]) -> str:
    return f"{what}: {sum(held)} of {len(held)}" if held else ""


GOALS_LAYOUT = Layout(content, summary)
