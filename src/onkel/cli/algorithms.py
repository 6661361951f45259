"""``onkel algorithms``: what there is."""

from __future__ import annotations

from typing import Any

from onkel.cli import options


def algorithms(
    as_json: options.Json = False,
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
    table.add_column("loss · rule · map or budget")
    for title in ("tasks", "paper"):
        table.add_column(title, no_wrap=True)
    for a in ALGORITHMS.values():
        name = f"{a.name} *" if a.name == DEFAULT else a.name
        tasks = " ".join(task[0] if task in a.tasks else " " for task in ALL_TASKS)
        rule = a.rule if a.loss.startswith(a.rule) else f"{a.loss} · {a.rule}"
        axes = f"{rule.replace('ε-insensitive', 'ε')} · {a.finite}"
        table.add_row(name, axes, tasks, a.paper)
    console = stdout()
    console.print(table)
    console.print(
        f"* default   tasks: {', '.join(ALL_TASKS)}   ε: ε-insensitive, in regression\n"
        "parameters: onkel learn ... --set name=value",
        style="dim",
    )


def _record(a: Any) -> dict[str, Any]:
    fields = ("name", "title", "loss", "rule", "representation", "finite", "paper", "reference")
    return {field: getattr(a, field) for field in fields} | {"tasks": list(a.tasks)}
