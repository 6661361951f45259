"""Results as tables: for a terminal, and as Markdown for the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.experiments.entry import PAPERS, Experiment
from onkel.experiments.runner import Result

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["markdown", "mean_std", "parameters", "rich_table", "settings"]

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

_DIGITS = {"mistakes": 2, "mse": 5, "rmse": 2}
_UNITS = {"mistakes": "mistakes, %", "mse": "mean squared error, target in [0, 1]"}
_SYMBOLS = {
    "n_components": "D",
    "budget": "B",
    "rank": "k",
    "learning_rate": "η",
    "learning_rate_gamma": "η_γ",
    "damping": "N",
    "alpha": "λ",
    "nu": "ν",
    "C": "C",
    "variant": "variant",
    "gamma": "gamma",
    "orthogonal": "orthogonal",
    "schedule": "η_t",
    "loss": "loss",
}
_SHORT = {"inverse_sqrt": "η/√t"}
_USUAL_RUNS = 20
_HEAD = ("data set", "rows", "algorithm", "ours", "published", "verdict", "s/run")


def mean_std(value: float, std: float, metric: str) -> str:
    """Mean ± standard deviation in the digits of the metric."""
    digits = _DIGITS[metric]
    return f"{value:.{digits}f} ± {std:.{digits}f}"


def settings(experiment: Experiment) -> str:
    """The learner's parameters in the papers' symbols."""
    return parameters(experiment.parameters)


def parameters(given: Mapping[str, Any]) -> str:
    """Parameters of an estimator in the papers' symbols."""
    parts = []
    for name, symbol in _SYMBOLS.items():
        if name in given:
            value = given[name]
            text = f"{value:.4g}" if isinstance(value, float) else _SHORT.get(value, str(value))
            parts.append(f"{symbol} = {text}")
    return ", ".join(parts)


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


def rich_table(results: Iterable[Result]) -> Table:
    """A table for a terminal; what isn't met is red."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in _HEAD:
        if title != "rows":
            right = title in ("ours", "published", "s/run")
            table.add_column(title, justify="right" if right else "left", no_wrap=True)
    for result in results:
        colour = "red" if result.failed else "green" if result.experiment.published else "dim"
        name, _, *rest = _row(result)
        rest[3] = f"[{colour}]{rest[3]}[/{colour}]"
        table.add_row(name, *rest)
    return table


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
    if experiment.algorithm == "nogd" and p["rank"] == p["budget"]:
        return "nogd, k = B"
    return experiment.algorithm


def _lines(rows: list[Result]) -> str:
    head = [*_HEAD[:-1], "settings", "step", _HEAD[-1]]
    lines = ["| " + " | ".join(head) + " |", "|---|--:|---|--:|--:|---|---|---|--:|"]
    for result in rows:
        row = list(_row(result))
        if result.failed:
            row[5] = f"**{row[5]}**"
        orders = len(result.values)
        said = [settings(result.experiment), f"{orders} orders" if orders != _USUAL_RUNS else ""]
        row[6:6] = [", ".join(filter(None, said)), result.experiment.step]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)
