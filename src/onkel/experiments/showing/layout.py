"""A table's layout: from results to lines, for every kind of output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onkel.experiments.formats import markdown_table, rich_table
from onkel.experiments.results import Result

if TYPE_CHECKING:
    from rich.table import Table

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
