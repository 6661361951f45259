"""A page of the command line, made from the commands themselves."""

from __future__ import annotations

import re
from typing import Any

_EXIT = """\
## Exit status

| status | what |
|--:|---|
| 0 | all went well |
| 1 | a file or the result could not be written |
| 2 | bad input or options |
| 129 | the terminal was closed |
| 130 | Ctrl-C |
| 143 | SIGTERM |

What was read is learned and saved first. A run that is cut short replaces no model: it writes
`NAME.partial.EXT` beside it.
"""


def page() -> str:
    """All verbs, with their arguments and options."""
    import typer

    from onkel.cli import app

    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line\n",
        "`onkel VERB --help` shows the same in a terminal. [Five minutes](../start.md) is a better "
        "place to begin.\n",
        *_verbs(group, "onkel"),
        _EXIT,
    ]
    return "\n".join(lines)


def _verbs(group: Any, path: str) -> list[str]:
    lines = []
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            lines += _verbs(command, f"{path} {name}")
        elif not command.hidden:
            lines += _verb(command, f"{path} {name}")
    return lines


def _verb(command: Any, name: str) -> list[str]:
    about = (command.help or "").replace("\f", "").strip()
    lines = [f"## {name}\n", *_about(about), "| | default | what it is |", "|---|---|---|"]
    for option in command.params:
        if option.name in ("help", "install_completion", "show_completion"):
            continue
        if option.param_type_name == "argument":
            called = f"`{option.metavar or option.name.upper()}`"
        else:
            called = ", ".join(f"`{text}`" for text in (*option.opts, *option.secondary_opts))
        default = option.show_default if isinstance(option.show_default, str) else option.default
        shown = "" if default in (None, (), [], "") or callable(default) else f"`{default}`"
        lines.append(f"| {called} | {shown} | {_cell(option.help or '')} |")
    return [*lines, ""]


def _about(text: str) -> list[str]:
    """What a verb does, and its examples as code."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text):
        said = " ".join(paragraph.split())
        example = said.removeprefix("Example: ")
        code = f"```console\n$ {example}\n```\n"
        lines.append(f"{_cell(said)}\n" if example == said else code)
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
