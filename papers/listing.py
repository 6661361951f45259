"""What there is, as a table for a terminal."""

from __future__ import annotations

from itertools import groupby

from rich import box
from rich.markup import escape
from rich.table import Table

from onkel import datasets
from papers.cases import PAPERS, Experiment
from papers.registry import EXPERIMENTS
from papers.seconds import minutes_of


def table_of_all() -> Table:
    """Papers, and below each its tables and figures: title, data, what is missing, minutes."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what, and its data", overflow="fold")
    table.add_column("min", justify="right", no_wrap=True)
    for paper, entries in groupby(EXPERIMENTS.values(), lambda entry: entry.paper):
        table.add_section()
        table.add_row(f"[bold]{paper}[/bold]", f"[bold]{escape(PAPERS[paper])}[/bold]", "")
        for entry in entries:
            minutes = minutes_of(entry)
            least = f"{max(1.0, minutes):,.0f}" if minutes else ""
            table.add_row(entry.name, f"{escape(entry.title)}\n{_data_of(entry)}", least)
    return table


def _data_of(entry: Experiment) -> str:
    """Its data sets, and which of them are not on this machine."""
    if not entry.cases:
        return f"[dim]your own: python -m papers {entry.name} FOLDER[/dim]"
    here = [name for name in entry.datasets if datasets.info(name).local]
    absent = [name for name in entry.datasets if name not in here]
    if not entry.datasets:
        return "[dim]generated[/dim]"
    parts = [f"[dim]{' '.join(here)}[/dim]"] if here else []
    if absent:
        parts.append(f"[yellow]missing here: {' '.join(absent)}[/yellow]")
    return "\n".join(parts)
