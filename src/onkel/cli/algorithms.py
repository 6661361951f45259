"""``onkel algorithms``: list all algorithms, or describe one."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from onkel.cli import options

# what a docstring has for the pages of the site, and digits in threes
_ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")
_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}\b)")

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Show its parameters.", autocompletion=options.names),
]


def algorithms(name: Name = None, as_json: options.Json = False) -> None:
    """List the algorithms: name, parts, tasks, paper; with a NAME, its parameters.

    Example: onkel algorithms fogd
    """
    if name is not None:
        _show_one(name, as_json)
        return
    from onkel.algorithms import ALGORITHMS, ALL_TASKS, DEFAULT
    from onkel.cli.console import plain_table, print_json, print_listing, stdout

    if as_json:
        names = "name", "title", "loss", "rule", "representation", "finite", "paper", "reference"
        listed = [
            {name: getattr(a, name) for name in names} | {"tasks": list(a.tasks)}
            for a in ALGORITHMS.values()
        ]
        print_json({"default": DEFAULT, "algorithms": listed})
        return
    table, entries = plain_table(), []
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
        entries.append((name, tasks, f"{axes}. {a.paper}"))
    console = stdout()
    print_listing(console, table, entries)
    console.print(
        f"* default   tasks: {', '.join(ALL_TASKS)}   ε: ε-insensitive, in regression\n"
        "parameters: onkel algorithms NAME; to set them: onkel learn ... --set name=value",
        style="dim",
    )


def _show_one(name: str, as_json: bool) -> None:
    """The parameters of one algorithm, as its docstring has them."""
    from onkel.cli.console import plain_table, print_json, print_listing, stdout
    from onkel.learners.factory import described

    about = described(name)
    if as_json:
        print_json(about)
        return
    from rich.text import Text

    console = stdout()
    console.print(Text.assemble((name, "bold"), f"  {about['title']}"))
    console.print(Text(about["summary"]))
    table, entries = plain_table(), []
    table.add_column("parameter", no_wrap=True, style="bold")
    table.add_column("default", overflow="fold")
    table.add_column("what it is", min_width=20)
    for parameter in about["parameters"]:
        kind = f"{parameter['kind']}. " if parameter["kind"] else ""
        doc = (kind + _ROLE.sub(r"\1", parameter["doc"])).replace("``", "").replace("\\|", "|")
        doc = _THOUSANDS.sub("\N{NO-BREAK SPACE}", doc)
        table.add_row(parameter["name"], parameter["default"], Text(doc))
        entries.append((parameter["name"], parameter["default"], doc))
    print_listing(console, table, entries)
    first = about["parameters"][0]
    value = first["default"].split()[0].strip('"')
    console.print(f"onkel learn ... -a {name} --set {first['name']}={value}", style="dim")
