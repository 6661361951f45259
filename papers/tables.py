"""Results as tables, for a terminal and as Markdown, and the text around them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from papers.cases import METRICS
from papers.published import Cell
from papers.results import Result

if TYPE_CHECKING:
    from rich.table import Table

_DIGITS = {
    "mistakes": 2, "accuracy": 2, "mse": 5, "rmse": 2, "error": 4, "regret": 2, "moves": 0,
    "bound": 0, "rate": 2, "length": 3, "offset": 3, "turn": 0, "axis": 0,
}  # fmt: skip
#: the papers' symbols of parameters
SYMBOLS = {
    "n_components": "D",
    "budget": "B",
    "rank": "k",
    "learning_rate": "η",
    "learning_rate_gamma": "η_γ",
    "damping": "N",
    "alpha": "λ",
    "nu": "ν",
    "C": "C",
    "tol": "tolerance",
    "threshold": "ε",
    "epsilon": "ε",
    "weighted": "weighted",
    "variant": "variant",
    "gamma": "gamma",
    "orthogonal": "orthogonal",
    "schedule": "η_t",
    "loss": "loss",
}
_SHORT = {"inverse_sqrt": "η/√t"}


def mean_std(value: float, std: float | None, metric: str, least: int = 0) -> str:
    """Mean ± standard deviation in the digits of the metric; the mean alone for None."""
    digits = max(least, 3 if metric == "rmse" and value < 1.0 else _DIGITS[metric])
    return f"{value:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def parameters(given: Mapping[str, Any]) -> str:
    """Parameters of an estimator in the papers' symbols."""
    parts = []
    for name, symbol in SYMBOLS.items():
        if name in given:
            value = given[name]
            # for landmarks, n_components is the budget
            symbol = "B" if name == "n_components" and "rank" in given else symbol
            text = _width(value) if name == "gamma" else _text(value)
            parts.append(f"{symbol} = {text}")
    return ", ".join(parts)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _SHORT.get(value, str(value))


def _width(value: Any) -> str:
    """As other numbers, but powers of two below 1 as fractions, such as 1/128."""
    inverse = 1.0 / value if isinstance(value, float) and 0.0 < value < 1.0 else 0.5
    whole = inverse.is_integer() and int(inverse).bit_count() == 1
    return f"1/{inverse:.0f}" if whole else _text(value)


def rich_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: Collection[str],
    folded: Collection[str] = (),
) -> Table:
    """A table for a terminal; columns in ``left`` are text, those in ``folded`` may be wrapped."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in head:
        table.add_column(
            title, justify="left" if title in left else "right", no_wrap=title not in folded
        )
    for row in rows:
        table.add_row(*row)
    return table


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[str]
) -> str:
    """A table for a page; columns in ``left`` are text."""
    rule = "|" + "|".join("---" if title in left else "--:" for title in head) + "|"
    return "\n".join([_row(head), rule, *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


Mark = Literal["bad", "good", "best", "weak"]
_STYLES = {"bad": "red", "good": "green", "best": "bold", "weak": "dim"}
_BOLD = ("bad", "best")


@dataclass(frozen=True)
class Line:
    """Texts of a line, and which of them stand out."""

    cells: list[str]
    marks: dict[int, Mark] = field(default_factory=dict)


@dataclass(frozen=True)
class Content:
    """A table: its head, its lines, and which columns hold text."""

    head: tuple[str, ...]
    lines: list[Line]
    left: tuple[str, ...]

    def kept(self, names: Sequence[str]) -> Content:
        """Only these columns, without those that are empty."""
        places = [
            i for i, name in enumerate(self.head)
            if name in names and any(line.cells[i] for line in self.lines)
        ]  # fmt: skip
        lines = [
            Line(
                [line.cells[i] for i in places],
                {new: line.marks[old] for new, old in enumerate(places) if old in line.marks},
            )
            for line in self.lines
        ]
        return Content(tuple(self.head[i] for i in places), lines, self.left)


@dataclass(frozen=True)
class Layout:
    """How an experiment's results become a table.

    ``content``: the table of a page; ``short``: its columns on a terminal, all if empty;
    ``summary``: what the numbers are and what they come to, in sentences.
    """

    content: Callable[[Sequence[Result]], Content]
    summary: Callable[[Sequence[Result]], str]
    short: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    def whole(self, results: Sequence[Result]) -> Content:
        """All columns that are not empty."""
        content = self.content(results)
        return content.kept(content.head)

    def terminal(self, results: Sequence[Result]) -> Table:
        """For a terminal: what is bad is red, what is best is bold."""
        from rich.markup import escape

        content = self.content(results)
        content = content.kept(self.short or content.head)
        rows = []
        for line in content.lines:
            cells = [escape(cell) for cell in line.cells]
            for i, mark in line.marks.items():
                cells[i] = f"[{_STYLES[mark]}]{cells[i]}[/{_STYLES[mark]}]"
            rows.append(cells)
        return rich_table(content.head, rows, left=content.left, folded=self.folded)

    def markdown(self, results: Sequence[Result]) -> str:
        """As Markdown: what is bad or best is bold."""
        content = self.whole(results)
        rows = []
        for line in content.lines:
            bold = [i for i, mark in line.marks.items() if mark in _BOLD and line.cells[i]]
            cells = [f"**{text}**" if i in bold else text for i, text in enumerate(line.cells)]
            rows.append(cells)
        return markdown_table(content.head, rows, left=content.left)


HEAD = ("data set", "rows", "algorithm", "ours", "printed", "verdict", "settings", "step", "runs",
        "s/run", "printed s", "÷ fogd, printed")  # fmt: skip
_LEFT = ("data set", "algorithm", "verdict", "settings", "step")
_VERDICT = HEAD.index("verdict")


def content(results: Sequence[Result]) -> Content:
    """One line per result; "÷ fogd": seconds over FOGD's on the same data."""
    fogd = {r.case.dataset: r for r in results if r.case.algorithm == "fogd" and r.values}
    lines = []
    for result in results:
        mark: Mark = "bad" if result.failed else "good" if result.case.published else "weak"
        lines.append(Line(_line(result, fogd.get(result.case.dataset)), {_VERDICT: mark}))
    return Content(HEAD, lines, _LEFT)


def _line(result: Result, fogd: Result | None) -> list[str]:
    case, cell = result.case, result.case.published
    said = "" if cell is None else mean_std(cell.value, cell.std, case.quantity, _places(cell))
    std = result.std if len(result.values) > 1 else None
    ratios = ""
    if fogd is not None and result.values and fogd.case.published is not None:
        ours = np.median(result.seconds) / np.median(fogd.seconds)
        ratios = _ratio(ours)
        base = fogd.case.published.seconds
        if cell is not None and cell.seconds and base:
            ratios += f", {_ratio(cell.seconds / base)}"
    return [
        case.panel or case.dataset,
        f"{result.n_rows:,}" if result.n_rows else "",
        (case.label or case.algorithm) + ("" if case.x is None else f", {case.x:g}"),
        mean_std(result.mean, std, case.quantity) if result.values else "",
        said,
        result.verdict,
        parameters(case.parameters) if result.values else "",
        _step(result),
        str(len(result.values)) if result.values else "",
        f"{float(np.median(result.seconds)):.2g}" if result.values else "",
        "" if cell is None or cell.seconds is None else f"{cell.seconds:g}",
        ratios,
    ]


def _places(cell: Cell) -> int:
    """Decimal places that are printed."""
    return round(-np.log10(cell.unit)) if cell.unit else 0


def _step(result: Result) -> str:
    """Where the settings come from, and how many rows a search in the run saw."""
    if not result.values:
        return ""
    return f"search here, {result.searched:,}" if result.searched else result.case.step


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _said(results: Sequence[Result]) -> str:
    units = dict.fromkeys(METRICS[result.case.quantity] for result in results)
    return f"Values: {'; '.join(units)}."


CELLS = Layout(
    content, _said, short=("data set", "algorithm", "ours", "printed", "verdict", "s/run")
)
#: for tables where nothing was printed, and settings are what a reader wants
SETTINGS = Layout(
    content, _said, short=("data set", "algorithm", "ours", "settings", "s/run"),
    folded=("settings",),
)  # fmt: skip
