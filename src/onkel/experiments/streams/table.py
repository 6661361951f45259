"""The streams' table, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from onkel.evaluation.text import short
from onkel.experiments.formats import markdown_table, rich_table
from onkel.experiments.results import Measured
from onkel.experiments.streams.learners import Learner
from onkel.experiments.streams.measuring import Outcome

if TYPE_CHECKING:
    from rich.table import Table


def terminal_table(outcomes: Sequence[Outcome], learners: Sequence[Learner]) -> Table:
    """A table for a terminal."""
    return rich_table(
        _head(learners), _rows(outcomes, learners, "[bold]{}[/bold]"), left=("stream",)
    )


def markdown(outcomes: Sequence[Outcome], learners: Sequence[Learner]) -> str:
    """The same table for a page, and the summary under it."""
    rows = _rows(outcomes, learners, "**{}**")
    return f"{markdown_table(_head(learners), rows, left=('stream',))}\n\n{summary(outcomes)}"


def summary(outcomes: Sequence[Outcome]) -> str:
    """What the numbers are, and where the default stands."""
    runs = max((len(r.values) for o in outcomes for r in o.runs.values()), default=1)
    seeds = f", mean ± standard deviation of {runs} seeds where something is random" * (runs > 1)
    parts = [
        "Mistakes in percent, or root mean squared error; in brackets rows a second of "
        f"processor time. The first row is not scored{seeds}. Published: of the whole stream."
    ]
    for name in ("default", "fast"):
        pairs = [(o.runs[name].mean, _better(o)) for o in outcomes if name in o.runs]
        known = [(own, best) for own, best in pairs if best is not None]
        if known:
            ahead = sum(own <= best for own, best in known)
            far = sum(own <= 0.95 * best for own, best in known)
            parts.append(
                f"{name}: no worse than the better of the last value and what is published on "
                f"{ahead} of {len(known)}, at least 5 % better on {far}."
            )
    return "\n".join(parts)


def _better(outcome: Outcome) -> float | None:
    """The better of persistence and the published number of the same rows; None without either."""
    known = [outcome.runs["last"].mean] if "last" in outcome.runs else []
    if outcome.published is not None and outcome.whole:
        known.append(outcome.published.value)
    return min(known, default=None)


def _head(learners: Sequence[Learner]) -> list[str]:
    return ["stream", "rows", "published", *(learner.name for learner in learners)]


def _rows(outcomes: Sequence[Outcome], learners: Sequence[Learner], mark: str) -> list[list[str]]:
    rows = []
    for outcome in outcomes:
        published = "" if outcome.published is None else f"{outcome.published.value:.4g}"
        least = min(run.mean for run in outcome.runs.values())
        cells = [_cell(outcome.runs.get(learner.name), least, mark) for learner in learners]
        rows.append([outcome.stream, f"{outcome.n_rows:,}", published, *cells])
    return rows


def _cell(run: Measured | None, least: float, mark: str) -> str:
    if run is None:
        return ""
    value = f"{run.mean:.4g}" + (f" ± {run.std:.2g}" if len(run.values) > 1 else "")
    value = mark.format(value) if run.mean == least else value
    rate = run.n_rows / max(float(np.median(run.seconds)), 1e-9)
    return value if rate > 1e7 else f"{value} ({short(rate)})"
