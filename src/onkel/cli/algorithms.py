"""``onkel algorithms``: what there is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = ["algorithms"]


def algorithms(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the algorithms: name, axes, tasks, paper."""
    from onkel.algorithms import ALGORITHMS, ALL_TASKS, DEFAULT
    from onkel.cli.console import print_json, stdout

    if as_json:
        print_json({"default": DEFAULT, "algorithms": [_record(a) for a in ALGORITHMS.values()]})
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    for title in ("loss · rule · map or budget", "tasks", "paper"):
        table.add_column(title)
    for a in ALGORITHMS.values():
        name = f"{a.name} *" if a.name == DEFAULT else a.name
        tasks = "all" if set(a.tasks) >= set(ALL_TASKS) else ", ".join(a.tasks)
        table.add_row(name, f"{a.loss} · {a.rule} · {a.finite}", tasks, a.paper)
    console = stdout()
    console.print(table)
    console.print(
        f"* default   all: {', '.join(ALL_TASKS)}\nparameters: onkel learn ... --set name=value",
        style="dim",
    )


def _record(a: Any) -> dict[str, Any]:
    fields = ("name", "title", "loss", "rule", "representation", "finite", "paper", "reference")
    return {field: getattr(a, field) for field in fields} | {"tasks": list(a.tasks)}
