"""Help for narrow terminals, where the columns of a table would cut names and words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from onkel.cli.console import WIDE, filled


class _Help:
    """A command that writes each option on a line of its own where a table does not fit."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, as Typer does."""
        width = shutil.get_terminal_size().columns
        if width < WIDE:
            typer.echo("\n\n".join(_parts(ctx, width)))
        else:
            super().format_help(ctx, formatter)  # type: ignore[misc]


class Verb(_Help, TyperCommand):
    """A command without commands of its own."""


class Group(_Help, TyperGroup):
    """A command that has commands."""


def _parts(ctx: Any, width: int) -> Iterator[str]:
    """The usage, what the command does, and its options by panel, in lines of this width."""
    command = ctx.command
    usage = " ".join(["Usage:", ctx.command_path, *command.collect_usage_pieces(ctx)])
    yield filled(usage, width, 0, 2)
    for paragraph in (command.help or "").split("\n\n"):
        yield filled(paragraph, width, 0, 0)
    panels: dict[str, list[tuple[str, str]]] = {}
    for own in command.get_params(ctx):
        if (record := own.get_help_record(ctx)) is not None:
            usual = "Arguments" if own.param_type_name == "argument" else "Options"
            panels.setdefault(own.rich_help_panel or usual, []).append(record)
    for name in command.list_commands(ctx) if isinstance(command, TyperGroup) else ():
        first = (command.get_command(ctx, name).help or "").partition("\n\n")[0]
        panels.setdefault("Commands", []).append((name, first))
    for title, records in panels.items():
        lines = [title]
        for name, text in records:
            lines += [filled(name, width, 2, 4), filled(text, width, 6, 6)]
        yield "\n".join(lines)
