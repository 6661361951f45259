"""The default learner's table: its goals, the papers' best, and the rivals at their best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onkel.experiments import rivals
from onkel.experiments.default import Outcome
from onkel.experiments.table import mean_std

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["markdown", "rich_table", "summary"]

_HEAD = ("data", "rows", "default", "asked for", "papers' best", "tuned rival", "rows/s")
_UNITS = (
    "Percent of mistakes; from housing to casp the mean squared error with the target in [0, 1]; "
    "airlines_delay: root mean squared error in minutes"
)
_MARKS = {True: "✓", False: "✗"}


def _row(outcome: Outcome, found: dict[str, Any]) -> tuple[str, ...]:
    goal = outcome.goal
    best = rivals.best_of(found.get(goal.dataset, {}))
    return (
        goal.dataset,
        f"{outcome.n_rows:,}",
        mean_std(outcome.mean, outcome.std, goal.metric),
        f"{goal.target:g} {_MARKS[outcome.met]}",
        "" if goal.published is None else f"{goal.published:g}",
        "" if best is None else f"{best[0].split(',')[0]} {best[1]:.4g}",
        f"{outcome.rows_per_second:,.0f}",
    )


def rich_table(outcomes: Sequence[Outcome], found: dict[str, Any]) -> Table:
    """A table for a terminal; what isn't met is red.

    Parameters
    ----------
    outcomes : sequence of Outcome
    found : dict
        The rivals' results, as from :func:`onkel.experiments.rivals.stored`.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(_HEAD):
        table.add_column(title, justify="right" if i else "left", no_wrap=True)
    for outcome in outcomes:
        row = list(_row(outcome, found))
        colour = "green" if outcome.met else "red"
        row[3] = f"[{colour}]{row[3]}[/{colour}]"
        table.add_row(*row)
    return table


def markdown(outcomes: Sequence[Outcome], found: dict[str, Any]) -> str:
    """The table for a page, and the summary under it."""
    lines = ["| " + " | ".join(_HEAD) + " |", "|---" + "|--:" * 6 + "|"]
    for outcome in outcomes:
        lines.append("| " + " | ".join(_row(outcome, found)) + " |")
    return "\n".join([*lines, "", summary(outcomes, found)])


def summary(outcomes: Sequence[Outcome], found: dict[str, Any]) -> str:
    """On how many data sets the goal is met, and papers and tuned rivals are beaten."""
    runs = sorted({len(outcome.values) for outcome in outcomes})
    parts = [_UNITS, f"mean ± standard deviation over {' or '.join(map(str, runs))} random orders"]
    parts.append(_count("at most what is asked for", [outcome.met for outcome in outcomes]))
    published = [o.mean < o.goal.published for o in outcomes if o.goal.published is not None]
    parts.append(_count("below the papers' best", published))
    for inputs in rivals.INPUTS:
        pairs = [(o.mean, rivals.best_of(found.get(o.goal.dataset, {}), inputs)) for o in outcomes]
        beaten = [mean < best[1] for mean, best in pairs if best is not None]
        parts.append(_count(f"below the tuned rivals ({_INPUTS[inputs]})", beaten))
    return "; ".join(part for part in parts if part) + "."


_INPUTS = {"papers": "rows scaled as in the papers", "online": "rows as the default gets them"}


def _count(what: str, held: list[bool]) -> str:
    return f"{what}: {sum(held)} of {len(held)}" if held else ""
