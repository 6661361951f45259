"""Work on data sets one after the other, with a bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def work_on(
    items: Sequence[Item],
    name: Callable[[Item], str],
    work: Callable[[Item, Callable[[int, int], None]], Result],
) -> Iterator[tuple[Item, Result]]:
    """What ``work(item, progress)`` gives, item by item; data sets that are not here are said.

    Raises
    ------
    FileNotFoundError
        None of the data sets is on this machine.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, highlight=False)
    absent: dict[str, None] = {}
    found = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        total = bar.add_task("in all", total=len(items))
        for item in items:
            task = bar.add_task(name(item), total=None)

            def said(done: int, of: int, task: Any = task) -> None:
                bar.update(task, completed=done, total=of)

            try:
                result = work(item, said)
            except FileNotFoundError as error:
                absent[str(error)] = None
            else:
                found += 1
                yield item, result
            bar.remove_task(task)
            bar.advance(total)
    for message in absent:
        console.print(f"left out: {message}", style="dim", markup=False, soft_wrap=True)
    if absent and not found:
        raise FileNotFoundError("none of the data sets asked for is on this machine")
