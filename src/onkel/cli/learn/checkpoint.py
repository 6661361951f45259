"""The file that ``onkel learn`` resumes from: the model, its curve, and what was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onkel.cli.console import complain, note
from onkel.evaluation.run import PrequentialRun
from onkel.persistence import load_with_info, save
from onkel.pipeline import StreamModel


class Checkpoint:
    """Written every so many rows and at the end; a full disk does not end the run.

    Parameters
    ----------
    path : Path or None
        None: nothing is written.
    every : int
        Rows between two checkpoints.

    Attributes
    ----------
    failed : bool
        Whether the last one could not be written.
    """

    def __init__(self, path: Path | None, every: int) -> None:
        self.path = path
        self.every = every
        self.failed = False
        self._rows = 0

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse options that would lose a checkpoint.

        Raises
        ------
        ValueError
            If the file exists and neither option says what to do with it, or the options clash.
        """
        if resume and self.path is None:
            raise ValueError("--resume needs --checkpoint, the file to continue from")
        if resume and overwrite:
            raise ValueError("--resume continues the checkpoint and --overwrite begins anew: "
                             "give one of them")  # fmt: skip
        if self.path is not None and self.path.exists() and not (resume or overwrite):
            raise ValueError(
                f"--checkpoint {self.path} exists already: continue it with --resume, or begin "
                "anew with --overwrite"
            )

    def load(self, wanted: dict[str, Any], task: str) -> tuple[StreamModel, dict[str, Any]] | None:
        """The model and what was saved with it; None if there is no file yet.

        Parameters
        ----------
        wanted : dict
            Settings of this command.
        task : str
            As asked for; "auto" fits either.

        Raises
        ------
        ValueError
            If the file was begun with other settings: the result would be a mix of two runs.
        """
        assert self.path is not None
        if not self.path.exists():
            note(f"{self.path} does not exist yet: starting from the first row")
            return None
        model, info = load_with_info(self.path)
        if not isinstance(model, StreamModel) or "run" not in info:
            raise ValueError(f"{self.path} was not written by 'onkel learn --checkpoint'")
        asked = wanted if task == "auto" else {**wanted, "task": task}
        for name, value in asked.items():
            held = model.settings.get(name)
            if held != value:
                raise ValueError(
                    f"--resume: {self.path} was begun with {name}={held!r}, this command has "
                    f"{name}={value!r}; give the same settings, or begin anew with --overwrite"
                )
        self._rows = model.n_rows
        note(f"resuming {self.path} after {model.n_rows:,} rows")
        return model, info

    def save(self, model: StreamModel, run: PrequentialRun, stream: Any) -> None:
        """Write the file if it is due."""
        if model.n_rows - self._rows >= self.every:
            self.save_now(model, run, stream)

    def save_now(self, model: StreamModel, run: PrequentialRun, stream: Any) -> None:
        """Write the file; a failure is reported, and the next checkpoint tries again."""
        if self.path is None:
            return
        self._rows = model.n_rows
        # rows of this source alone: a model given with --from had others before
        read = model.n_rows + run.n_waiting - model.settings.get("rows_before", 0)
        info = {"run": run.get_state(), "fingerprint": stream.fingerprint(read)}
        if run.n_waiting:
            info |= {"waiting": run.get_waiting(), "n_waiting": run.n_waiting}
        try:
            save(model, self.path, info=info)
        except OSError as error:
            complain(f"the checkpoint after {model.n_rows:,} rows could not be written: {error}")
            self.failed = True
            return
        if self.failed:
            note(f"the checkpoint after {model.n_rows:,} rows was written")
        self.failed = False
