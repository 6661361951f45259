"""What can be found wrong before hours of learning, not after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["check_outputs", "check_resumable"]


def check_outputs(*paths: Path | None, inputs: Sequence[str] = ()) -> None:
    """See that files can be written where they are wanted.

    Parameters
    ----------
    *paths : Path or None
        Files to be written, each another.
    inputs : sequence of str
        What is read, and must not be written over.

    Raises
    ------
    ValueError
        If a folder does not exist or cannot be written, or a file is named twice.
    """
    taken = {Path(name).resolve() for name in inputs if name != "-"}
    for path in paths:
        if path is None:
            continue
        if path.resolve() in taken:
            raise ValueError(f"cannot write {path}: this command has another use for that file")
        taken.add(path.resolve())
        if path.is_dir():
            raise ValueError(f"cannot write {path}: it is a folder, name a file in it")
        if not path.parent.is_dir():
            raise ValueError(f"cannot write {path}: the folder {path.parent} does not exist")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"cannot write {path}: no permission in the folder {path.parent}")


def check_resumable(path: Path, wanted: dict[str, Any], task: str, held: dict[str, Any]) -> None:
    """See that a checkpoint was begun with the same settings.

    Parameters
    ----------
    path : Path
        The checkpoint, for the message.
    wanted : dict
        Settings of this command.
    task : str
        As asked; "auto" goes with either.
    held : dict
        Settings in the checkpoint.

    Raises
    ------
    ValueError
        If one differs: the result would be neither of the two runs.
    """
    if not held:
        raise ValueError(f"{path} was not written by 'onkel learn --checkpoint'")
    asked = wanted if task == "auto" else {**wanted, "task": task}
    for name, value in asked.items():
        if held.get(name) != value:
            raise ValueError(
                f"--resume: {path} was begun with {name}={held.get(name)!r}, this command has "
                f"{name}={value!r}; give the same settings, or begin anew without --resume"
            )
