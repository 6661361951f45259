"""Results of the papers' experiments as tables: for a terminal, and as Markdown for the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from onkel.experiments.entry import PAPERS, Experiment
from onkel.experiments.formats import markdown_table, mean_std, parameters, rich_table
from onkel.experiments.runner import Result

if TYPE_CHECKING:
    from rich.table import Table

_INTRODUCTION = """# The papers' numbers, repeated

Written by

```
OPENBLAS_NUM_THREADS=1 python -m onkel.experiments --markdown > docs/experiments.md
```

with the data sets in the folder of `ONKEL_DATA` (see `onkel datasets list`). Every run streams the
rows once in a seeded order of its own; each row is predicted, then learned. Mean ± sample standard
deviation over the runs, 20 where nothing else is said; s/run is the median time to predict and
learn, one thread.

Verdicts: *met*, within two of the paper's standard deviations; *better*, below that; *not met*,
above. *rows differ*: other rows than the paper's, so the published value is no yardstick; *within*
or *over* the limit that the project set itself instead. *reference*: nothing published. Every data
set has a linear row (`pa`, passive-aggressive, default settings).

Settings are ours: features are normalised, so that FOGD's η is the paper's times D; N is the
damping of the widths' step. Steps: *authors*, from their scripts; *search*, the best of
`python -m onkel.experiments --search NAME`, on orders that are not reported; *prior*, set
beforehand."""

_UNITS = {"mistakes": "mistakes, %", "mse": "mean squared error, target in [0, 1]"}
_USUAL_RUNS = 20
_HEAD = ("data set", "rows", "algorithm", "ours", "published", "verdict", "s/run")
_LEFT = ("data set", "algorithm", "verdict", "settings", "step")


def _row(result: Result) -> tuple[str, ...]:
    e = result.experiment
    cell = e.published
    return (
        e.dataset,
        f"{result.n_rows:,}".replace(",", " "),
        _label(e),
        mean_std(result.mean, result.std, e.metric),
        "" if cell is None else mean_std(cell.value, cell.std, e.metric),
        result.verdict,
        f"{float(np.median(result.seconds)):.2g}",
    )


def terminal_table(results: Iterable[Result]) -> Table:
    """A table for a terminal; what isn't met is red."""
    rows = []
    for result in results:
        colour = "red" if result.failed else "green" if result.experiment.published else "dim"
        name, _, *rest = _row(result)
        rest[3] = f"[{colour}]{rest[3]}[/{colour}]"
        rows.append([name, *rest])
    return rich_table([title for title in _HEAD if title != "rows"], rows, left=_LEFT)


def markdown(results: Sequence[Result]) -> str:
    """A page: what was run, then one table a paper's table with its notes.

    A data set's linear row follows its others in every table.
    """
    linear = {r.experiment.dataset: r for r in results if not r.experiment.table}
    groups: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        if result.experiment.table:
            key = (result.experiment.paper, result.experiment.table)
            groups.setdefault(key, []).append(result)
    parts = [_group(group, linear) for group in groups.values()]
    if not groups and linear:
        parts = [_lines(list(linear.values()))]
    return "\n\n".join([_head(results), *parts])


def _head(results: Sequence[Result]) -> str:
    counts = Counter(r.verdict for r in results if r.verdict != "reference")
    counted = ", ".join(f"{word}: {n}" for word, n in counts.most_common())
    runs = sorted({len(r.values) for r in results})
    said = " or ".join(map(str, runs))
    return f"{_INTRODUCTION}\n\nHere: {said} orders a row. {counted or 'Nothing to compare with'}."


def _group(group: list[Result], linear: dict[str, Result]) -> str:
    first = group[0].experiment
    rows: list[Result] = []
    for i, result in enumerate(group):
        rows.append(result)
        dataset = result.experiment.dataset
        last = i + 1 == len(group) or group[i + 1].experiment.dataset != dataset
        if last and dataset in linear:
            rows.append(linear[dataset])
    notes = [
        f"- *{r.experiment.dataset}, {_label(r.experiment)}*: {r.experiment.note}"
        for r in group
        if r.experiment.note
    ]
    title = f"## {first.reference}: {_UNITS[first.metric]}\n\n{PAPERS[first.paper]}."
    return "\n\n".join([title, _lines(rows), *(["\n".join(notes)] if notes else [])])


def _label(experiment: Experiment) -> str:
    """The algorithm, and what tells apart its entries on one data set."""
    p = experiment.parameters
    if experiment.algorithm == "rrf":
        return f"rrf, D = {p['n_components']}"
    if experiment.algorithm == "nogd" and p["rank"] == p["n_components"]:
        return "nogd, k = B"
    return experiment.algorithm


def _lines(results: list[Result]) -> str:
    rows = []
    for result in results:
        row = list(_row(result))
        if result.failed:
            row[5] = f"**{row[5]}**"
        orders = len(result.values)
        said = [
            parameters(result.experiment.parameters),
            f"{orders} orders" if orders != _USUAL_RUNS else "",
        ]
        row[6:6] = [", ".join(filter(None, said)), result.experiment.step]
        rows.append(row)
    return markdown_table([*_HEAD[:-1], "settings", "step", _HEAD[-1]], rows, left=_LEFT)
