"""The table of a comparison: for terminals, pages, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from onkel.evaluation.comparison.testing import LEVEL, p_values
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.summary import Summary, best, summarize
from onkel.evaluation.text import bytes_text, count, duration, short

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
    metric = summaries[0].metric
    head = ["learner", f"{metric.title} {'↓' if metric.lower_is_better else '↑'}"]
    head += ["p"] if p else []
    lines = []
    for s in summaries:
        name = f"{s.name} (linear)" if s.name in linear else s.name
        cells = [name, s.score + (_STAR if s.name in among else "")]
        if p:
            cells.append("best" if p[s.name] == 1.0 and s.name in among else _p_text(p[s.name]))
        size = bytes_text(s.model_bytes) if s.model_bytes else "-"
        cells += [short(s.rows_per_second), duration(s.learn_seconds), duration(s.seconds), size]
        lines.append(Line(s, tuple(cells), s.name in among, p.get(s.name)))
    head += ["rows/s", "learning", "in all", "model"]
    return Comparison(tuple(head), lines, _note(summaries, bool(p)))


def write_table(table: Comparison, form: str) -> str:
    """The table as text.

    Parameters
    ----------
    table : Comparison
    form : {"markdown", "csv", "latex"}
        Markdown and LaTeX have the cells as people read them, CSV the numbers.

    Raises
    ------
    ValueError
        If the form is none of these.
    """
    if form == "csv":
        return _csv(table)
    rows = [line.cells for line in table.lines]
    if form == "markdown":
        rule = ["---", *["---:"] * (len(table.head) - 1)]
        parts = [table.head, rule, *rows]
        return "".join(_markdown_row(row) for row in parts)
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


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + " \\\\"


def _latex(text: str) -> str:
    for char in "%&#$_":
        text = text.replace(char, f"\\{char}")
    for char, word in (("±", "\\pm"), ("↓", "\\downarrow"), ("↑", "\\uparrow")):
        text = text.replace(char, f"${word}$")
    return text


def _p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _note(summaries: Sequence[Summary], tested: bool) -> str:
    runs = {s.runs for s in summaries}
    told = " to ".join(str(n) for n in sorted({min(runs), max(runs)}))
    rows = count(summaries[0].n_rows, "row")
    note = f"{told} run{'' if runs == {1} else 's'} of {rows}"
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
