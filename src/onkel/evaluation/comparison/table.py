"""The table of a comparison: means, tests, and the text for terminals, pages and papers."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from onkel.columns.failures import count
from onkel.evaluation.curves import by_name, sample_std
from onkel.evaluation.formatting import bytes_text, duration, short
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run_summary import one_class
from onkel.metrics import Metric


@dataclass(frozen=True)
class Summary:
    """One line of a comparison: a learner's main metric over its runs, and medians of times."""

    name: str
    metric: Metric
    mean: float
    #: the sample standard deviation (n - 1), 0 for a single run
    std: float
    runs: int
    #: rows of a run
    n_rows: int
    #: this and the next are of the time for learning only
    rows_per_second: float
    learn_seconds: float
    seconds: float
    #: the largest over the runs
    model_bytes: int

    @property
    def score(self) -> str:
        """Mean ± std as text."""
        mean = self.metric.format(self.mean)
        if self.runs == 1 or np.isnan(self.mean):
            return mean
        number, _, unit = mean.partition(" ")
        spread = f"{self.std:.2f}" if self.metric.unit == "%" else f"{self.std:.2g}"
        return f"{number} ± {spread}{' ' + unit if unit else ''}"


def summarize(results: Sequence[PrequentialResult]) -> list[Summary]:
    """One `Summary` per name, in the order of first appearance, not sorted by score."""
    return [
        Summary(
            name=name,
            metric=runs[0].metric,
            mean=fmean([run.value for run in runs]),
            std=sample_std([run.value for run in runs]),
            runs=len(runs),
            n_rows=runs[-1].n_rows,
            rows_per_second=median(run.rows_per_second for run in runs),
            learn_seconds=median(run.final.learn_seconds for run in runs),
            seconds=median(run.final.seconds for run in runs),
            model_bytes=max(run.final.model_bytes for run in runs),
        )
        for name, runs in by_name(results).items()
    ]


def best(summaries: Sequence[Summary]) -> set[str]:
    """Names of the best mean, and of every learner within its standard deviation of it.

    Empty for fewer than two learners, as then nothing was compared.
    """
    if len(summaries) < 2:
        return set()
    sign = 1.0 if summaries[0].metric.lower_is_better else -1.0
    top = min(summaries, key=lambda s: sign * s.mean)
    return {s.name for s in summaries if sign * (s.mean - top.mean) <= top.std}


LEVEL = 0.05
_FEWEST_RUNS = 3


def p_values(results: Sequence[PrequentialResult]) -> dict[str, float]:
    """p of each learner against the best mean: paired t-test over the orders, Holm's correction.

    Empty for fewer than three orders or two learners, and where no row was scored. The orders are
    of the same rows, so the test speaks of orders and seeds, not of other data. The best itself has
    p = 1. Source: Holm 1979; over several data sets, Demšar 2006.
    """
    groups = by_name(results)
    runs = min((len(group) for group in groups.values()), default=0)
    if len(groups) < 2 or runs < _FEWEST_RUNS or any(np.isnan(run.value) for run in results):
        return {}
    sign = 1.0 if results[0].metric.lower_is_better else -1.0
    values = {n: np.array([r.value for r in group[:runs]]) for n, group in groups.items()}
    best = min(values, key=lambda name: sign * values[name].mean())
    others = [name for name in values if name != best]
    found = holm([_p(values[best], values[name]) for name in others])
    return {best: 1.0, **dict(zip(others, found, strict=True))}


def _p(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p of a paired t-test; differences that are all the same are certain."""
    from scipy.stats import ttest_rel

    difference = a - b
    if np.ptp(difference) == 0.0:
        return 1.0 if difference[0] == 0.0 else 0.0
    return float(ttest_rel(a, b).pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's correction of several p: the smallest times n, the next times n - 1, ..."""
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    corrected = np.maximum.accumulate(np.array(p)[order] * factors).clip(max=1.0)
    out = np.empty(len(p))
    out[order] = corrected
    return out.tolist()


FORMATS = ("markdown", "csv", "latex")
_STAR = " *"


class Line(NamedTuple):
    """A learner, its cells as text, and whether it is among the best."""

    summary: Summary
    cells: tuple[str, ...]
    among_best: bool
    p: float | None


class Comparison(NamedTuple):
    """Titles, lines, and what the stars mean."""

    head: tuple[str, ...]
    lines: list[Line]
    note: str


def comparison(results: Sequence[PrequentialResult], linear: Collection[str] = ()) -> Comparison:
    """The table of several learners, one line each, in the order in which they ran.

    A star marks the best mean and every learner that is not significantly worse, or, with fewer
    than three orders, that is within the best's standard deviation.
    """
    summaries, p = summarize(results), p_values(results)
    among = {name for name, value in p.items() if value >= LEVEL} if p else best(summaries)
    only = one_class(results)
    if only is not None:
        p, among = {}, set()
    metric = summaries[0].metric
    # Holm's correction makes a p of 1 of others, too
    top = (min if metric.lower_is_better else max)(s.mean for s in summaries)
    head = ["learner", f"{metric.title} {'↓' if metric.lower_is_better else '↑'}"]
    head += ["p"] if p else []
    lines = []
    for s in summaries:
        name = f"{s.name} (linear)" if s.name in linear else s.name
        cells = [name, s.score + (_STAR if s.name in among else "")]
        if p:
            shown = f"{p[s.name]:.3f}" if p[s.name] >= 0.001 else "< 0.001"
            cells.append("best" if s.mean == top else shown)
        size = bytes_text(s.model_bytes) if s.model_bytes else "-"
        cells += [short(s.rows_per_second), duration(s.learn_seconds), duration(s.seconds), size]
        lines.append(Line(s, tuple(cells), s.name in among, p.get(s.name)))
    head += ["rows/s", "learning", "in all", "model"]
    note = _note(summaries, bool(p))
    if only is not None:
        note = f"only one class came, {only!r}: there was nothing to tell apart"
    return Comparison(tuple(head), lines, note)


def write_table(table: Comparison, form: str) -> str:
    """The table as text: "markdown", "csv" or "latex"; ValueError for any other form.

    Markdown and LaTeX have the cells as people read them, CSV the numbers.
    """
    if form == "csv":
        return _csv(table)
    rows = [line.cells for line in table.lines]
    if form == "markdown":
        rule = ["---", *["---:"] * (len(table.head) - 1)]
        parts = [table.head, rule, *rows]
        escaped = ([cell.replace("|", "\\|") for cell in row] for row in parts)
        return "".join(f"| {' | '.join(row)} |\n" for row in escaped)
    if form != "latex":
        raise ValueError(f"table={form!r}: must be one of {', '.join(FORMATS)}")
    body = [_latex_row(table.head) + " \\midrule", *map(_latex_row, rows)]
    inner = "\n".join(f"  {row}" for row in ["\\toprule", *body, "\\bottomrule"])
    return f"\\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}\n{inner}\n\\end{{tabular}}\n"


def _csv(table: Comparison) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = ("mean", "std", "runs", "n_rows", "rows_per_second", "learn_seconds", "seconds",
              "model_bytes")  # fmt: skip
    writer.writerow(["learner", "metric", *fields, "p", "among_best"])
    for line in table.lines:
        numbers = [vars(line.summary)[name] for name in fields]
        p = "" if line.p is None else line.p
        name, metric = line.summary.name, line.summary.metric.name
        writer.writerow([name, metric, *numbers, p, int(line.among_best)])
    return out.getvalue()


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + " \\\\"


def _latex(text: str) -> str:
    for char in "%&#$_":
        text = text.replace(char, f"\\{char}")
    for char, word in (("±", "\\pm"), ("↓", "\\downarrow"), ("↑", "\\uparrow")):
        text = text.replace(char, f"${word}$")
    return text


def _note(summaries: Sequence[Summary], tested: bool) -> str:
    runs = {s.runs for s in summaries}
    counts = " to ".join(str(n) for n in sorted({min(runs), max(runs)}))
    rows = count(summaries[0].n_rows, "row")
    note = f"{counts} run{'' if runs == {1} else 's'} of {rows}"
    if max(runs) > 1:
        note += ": mean ± standard deviation (n - 1); speeds and times are medians"
    if tested:
        return (
            f"{note}. p: paired t-test over the orders against the best mean, with Holm's "
            f"correction. *: the best, or not significantly worse (p >= {LEVEL})"
        )
    return f"{note}. *: the best, or within its standard deviation" if len(summaries) > 1 else note


def as_records(table: Comparison, linear: Collection[str]) -> list[dict[str, Any]]:
    """The table for machines, one dict per learner."""
    records = []
    for line in table.lines:
        s = line.summary
        of_metric = {"metric": s.metric.name, "lower_is_better": s.metric.lower_is_better}
        more = {"linear": s.name in linear, "p": line.p, "among_best": line.among_best}
        records.append(vars(s) | of_metric | more)
    return records
