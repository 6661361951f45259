"""``onkel demo``: two streams, four learners, a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for models, reports and curves.")] = Path(
        "demo-output"
    ),
    rows: Annotated[int, typer.Option(min=1, help="Rows of the generated stream.")] = 1_000_000,
    passes: Annotated[int, typer.Option(min=1, help="Shuffled passes over the digits.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
) -> None:
    """Learn handwritten digits and a generated stream, and compare."""
    from onkel.cli.console import say_if_cold, stdout
    from onkel.cli.demonstration import show_digits, show_generated

    out.mkdir(parents=True, exist_ok=True)
    say_if_cold()
    files = show_digits(out, passes=passes, seed=seed)
    files += show_generated(out, rows=rows, seed=seed)
    console = stdout()
    console.print("written:", style="bold")
    for path, what in files:
        console.print(f"  {path!s:<32} {what}", soft_wrap=True)
