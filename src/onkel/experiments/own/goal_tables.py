"""Tables of the goals: the default learner beside the papers and its rivals, and the rivals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.evaluation.curves import sample_std
from onkel.experiments.formats import markdown_table, mean_std, parameters, rich_table
from onkel.experiments.own import rivals
from onkel.experiments.own.default import Outcome
from onkel.experiments.own.goals import Goal

if TYPE_CHECKING:
    from rich.table import Table

_HEAD = ("data", "rows", "default", "asked for", "papers' best", "tuned rival", "rows/s")
_RIVALS_HEAD = ("data", "rows", "rival", "inputs", "result", "settings")
_RIVALS_LEFT = ("data", "rival", "inputs", "settings")
_UNITS = (
    "Percent of mistakes; from housing to casp the mean squared error with the target in [0, 1]; "
    "airlines_delay: root mean squared error in minutes"
)
_INPUTS = {"papers": "rows scaled as in the papers", "online": "rows as the default gets them"}

# ``found`` below: the rivals' results, as from `onkel.experiments.own.rivals.stored`


def default_table(outcomes: Sequence[Outcome], found: dict[str, Any]) -> Table:
    """The default learner's table for a terminal; what isn't met is red."""
    rows = []
    for outcome in outcomes:
        row = _row(outcome, found)
        colour = "green" if outcome.met else "red"
        row[3] = f"[{colour}]{row[3]}[/{colour}]"
        rows.append(row)
    return rich_table(_HEAD, rows, left=_HEAD[:1])


def default_markdown(outcomes: Sequence[Outcome], found: dict[str, Any]) -> str:
    """The same table for a page, and the summary under it."""
    rows = [_row(outcome, found) for outcome in outcomes]
    return f"{markdown_table(_HEAD, rows, left=_HEAD[:1])}\n\n{summary(outcomes, found)}"


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


def rivals_table(goals: Sequence[Goal], found: dict[str, Any]) -> Table:
    """What the tuned rivals reached, and with what settings; for a terminal."""
    return rich_table(_RIVALS_HEAD, _rival_rows(goals, found), _RIVALS_LEFT, folded=("settings",))


def rivals_markdown(goals: Sequence[Goal], found: dict[str, Any]) -> str:
    """The same table for a page."""
    return markdown_table(_RIVALS_HEAD, _rival_rows(goals, found), _RIVALS_LEFT)


def _row(outcome: Outcome, found: dict[str, Any]) -> list[str]:
    goal = outcome.goal
    best = rivals.best_of(found.get(goal.dataset, {}))
    return [
        goal.dataset,
        f"{outcome.n_rows:,}",
        mean_std(outcome.mean, outcome.std, goal.metric),
        f"{goal.target:g} {'✓' if outcome.met else '✗'}",
        "" if goal.published is None else f"{goal.published:g}",
        "" if best is None else f"{best[0].split(',')[0]} {best[1]:.4g}",
        f"{outcome.rows_per_second:,.0f}",
    ]


def _rival_rows(goals: Sequence[Goal], found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for goal, inputs, rival in itertools.product(goals, rivals.INPUTS, rivals.RIVALS):
        entry = found[goal.dataset].get(f"{rival}, {inputs}")
        if entry is not None:
            values = entry["values"]
            result = mean_std(float(np.mean(values)), sample_std(values), goal.metric)
            settings = parameters(entry["parameters"])
            rows.append([goal.dataset, f"{entry['rows']:,}", rival, inputs, result, settings])
    return rows


def _count(what: str, held: list[bool]) -> str:
    return f"{what}: {sum(held)} of {len(held)}" if held else ""
