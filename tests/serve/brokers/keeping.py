"""``onkel`` with a journal that keeps all cuts, so that a test can take them again.

It is forked from a process that has imported and compiled everything, as a start takes seconds.
That process itself takes minutes to compile on a busy machine: no clock of a test may run then.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_WARM = "tests.serve.brokers.warm"


def start(words: list[str], said: Path, *ends: Any) -> Any:
    """Begin ``onkel`` with words; what it says is added to a file.

    ``ends``: of pipes of `multiprocessing`, for its input and its output.
    """
    process = warmed().Process(target=_run, args=(words, said, *ends), daemon=True)
    process.start()
    return process


@cache
def warmed() -> Any:
    """What begins processes, once the one that they are forked from has compiled everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_WARM])
    # it answers only then
    first = context.Process(target=os.getpid, daemon=True)
    first.start()
    first.join()
    return context


def _run(words: list[str], said: Path, *ends: Any) -> None:
    from onkel.cli import main
    from onkel.serve.journal import Journal

    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    if ends:
        # what the parent's streams knew of theirs is not true of these
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    file = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(file, 2)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = ["onkel", *words]
    # what would be forgotten after a snapshot is kept
    Journal.forget = lambda self, number: None  # type: ignore[method-assign]
    main()
