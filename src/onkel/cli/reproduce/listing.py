"""``onkel reproduce`` without a name: list the experiments."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from onkel.cli.console import note, stdout


def show() -> None:
    """Papers, and below each its tables and figures: title, data, what is missing, minutes."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from onkel.experiments import EXPERIMENTS, PAPERS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what, and its data", overflow="fold")
    table.add_column("min", justify="right", no_wrap=True)
    for paper, entries in groupby(EXPERIMENTS.values(), lambda entry: entry.paper):
        table.add_section()
        table.add_row(f"[bold]{paper}[/bold]", f"[bold]{escape(PAPERS[paper])}[/bold]", "")
        for entry in entries:
            table.add_row(entry.name, f"{escape(entry.title)}\n{_data(entry)}", _minutes(entry))
    stdout().print(table)
    note(
        "min: minutes on one core, roughly, for the data that are here. For options: 'onkel "
        "reproduce --help'; for data sets: 'onkel datasets list'."
    )


def _data(entry: Any) -> str:
    """Its data sets, and which of them are not on this machine."""
    from onkel import datasets

    if not entry.cases:
        return f"[dim]your own: onkel reproduce {entry.name} FOLDER[/dim]"
    here = [name for name in entry.datasets if datasets.info(name).local]
    absent = [name for name in entry.datasets if name not in here]
    if not entry.datasets:
        return "[dim]generated[/dim]"
    parts = [f"[dim]{' '.join(here)}[/dim]"] if here else []
    if absent:
        parts.append(f"[yellow]missing here: {' '.join(absent)}[/yellow]")
    return "\n".join(parts)


def _minutes(entry: Any) -> str:
    """At least 1 for what can be run; empty if nothing can."""
    from onkel.experiments.running.minutes import minutes_of

    minutes = minutes_of(entry)
    return f"{max(1.0, minutes):,.0f}" if minutes else ""
