"""What a run continues: a checkpoint (``--resume``), or a saved model (``--from``)."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.arguments import contradictions, names_in
from onkel.cli.console import complain, complain_unwritten, note
from onkel.cli.learn.options import LearnOptions
from onkel.columns.failures import count
from onkel.errors import ModelFileError
from onkel.evaluation.run import PrequentialRun
from onkel.persistence import load_with_info, to_bytes
from onkel.persistence.untouched import Untouched
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import excluded
from onkel.streams.reading import Reading

if TYPE_CHECKING:
    from onkel.streams import Stream


class Checkpoint:
    """Written every so many rows and at the end; a full disk does not end the run.

    Without a ``path`` nothing is written. If another process writes the file meanwhile, that stays,
    and ``path`` becomes one beside it. ``failed``: whether the last one could not be written.
    """

    def __init__(self, path: Path | None, every: int) -> None:
        self.path = path
        self._file = Untouched(path)
        self.every = every
        self.failed: bool = False
        self._rows = 0

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse, by a ValueError, options that clash or would lose a checkpoint."""
        if resume and self.path is None:
            raise ValueError("--resume needs --checkpoint, the file to continue from")
        if resume and overwrite:
            raise ValueError("--resume continues the checkpoint and --overwrite starts over: "
                             "give one of them")  # fmt: skip
        if self.path is not None and self.path.exists() and not (resume or overwrite):
            raise ValueError(
                f"--checkpoint {self.path} exists already: continue it with --resume, or start "
                "over with --overwrite"
            )

    def load(self, wanted: dict[str, Any], task: str) -> tuple[StreamModel, dict[str, Any]] | None:
        """The model and what was saved with it; None if there is no file yet.

        ``wanted`` are the settings of this command, of which ``task`` "auto" fits either.
        ValueError if the file was begun with others: the result would be a mix of two runs.
        """
        assert self.path is not None
        if not self.path.exists():
            note(f"{self.path} does not exist yet: starting from the first row")
            return None
        model, info = load_with_info(self.path)
        if not isinstance(model, StreamModel) or "run" not in info:
            raise ValueError(f"{self.path} was not written by 'onkel learn --checkpoint'")
        required = wanted if task == "auto" else {**wanted, "task": task}
        for name in {**required, **dict.fromkeys(own.name for own in fields(Reading))}:
            held, value = model.settings.get(name), required.get(name)
            if held != value:
                raise ValueError(
                    f"--resume: {self.path} was begun with {name}={held!r}, this command has "
                    f"{name}={value!r}; give the same settings, or start over with --overwrite"
                )
        self._rows = model.n_rows
        note(f"resuming {self.path} after {count(model.n_rows, 'row')}")
        return model, info

    def save(self, model: StreamModel, run: PrequentialRun, stream: Stream) -> None:
        """Write the file if it is due."""
        if model.n_rows - self._rows >= self.every:
            self.save_now(model, run, stream)

    def save_now(self, model: StreamModel, run: PrequentialRun, stream: Stream) -> None:
        """Write the file; a failure is reported, and the next checkpoint tries again."""
        if self.path is None:
            return
        self._rows = model.n_rows
        # rows of this source alone: a model given with --from had others before
        read = model.n_rows + run.n_waiting - model.settings.get("rows_before", 0)
        info = run.get_info() | {"fingerprint": stream.fingerprint(read)}
        before = self.path
        try:
            self.path = self._file.write(to_bytes(model, info=info))
        except OSError as error:
            complain_unwritten(f"the checkpoint after {count(model.n_rows, 'row')}", error)
            self.failed = True
            return
        if self._file.moved and self.path != before:
            complain(self._file.moved)
        if self.failed:
            note(f"the checkpoint after {count(model.n_rows, 'row')} was written")
        self.failed = False


def load_with_columns(path: str | Path, option: str = "") -> tuple[StreamModel, dict[str, Any]]:
    """A model, and what was saved with it; ModelFileError if it reads no columns."""
    model, info = load_with_info(path)
    if not isinstance(model, StreamModel) or model.encoder is None:
        raise ModelFileError(
            f"{option}{path}: holds a {type(model).__name__} without its columns; give a file that "
            "'onkel learn --save' wrote. In Python: onkel.load(...).predict(X)"
        )
    return model, info


def continued(options: LearnOptions, model: StreamModel) -> LearnOptions:
    """The options, completed by the model's own settings.

    A ValueError names an option that contradicts them. Files are read in the format of those
    before, unless the options say otherwise.
    """
    kept, encoder = model.settings, model.encoder
    assert encoder is not None
    held = Reading.of(
        {"missing": LearnOptions.missing} | kept,
        target=encoder.target,
        n_hash=encoder.n_hash,
        max_categories=encoder.max_categories,
        statistics=encoder.statistics,
    )
    own: dict[str, Any] = {
        "algorithm": kept.get("algorithm", type(model.estimator).__name__),
        "task": model.task,
        "scaling": kept.get("scaling", model.scaling),
        "seed": kept.get("seed", LearnOptions.seed),
        **{name: getattr(held, name) for name in _AS_BEFORE},
    }
    _refuse_others(options, model, own)
    left_out = [*excluded(kept), *names_in(options.exclude)]
    own |= {
        "exclude": list(dict.fromkeys(left_out)),
        "na_values": list(dict.fromkeys([*encoder.na_values, *names_in(options.na_values)])),
        "header": options.header and held.header,
    }
    for name in ("missing", "bad_values", "sep", "encoding", "dates"):
        given = getattr(options, name)
        own[name] = getattr(held, name) if given == getattr(LearnOptions, name) else given
    return replace(options, **own)


# How rows are read does not change in these.
_AS_BEFORE = ("target", "group", "n_hash", "max_categories", "statistics", "dtype", "decimal",
              "thousands")  # fmt: skip


def _refuse_others(options: LearnOptions, model: StreamModel, settings: dict[str, Any]) -> None:
    """Refuse options that contradict the model's own settings."""
    assert model.encoder is not None
    kept = model.settings
    for option, held, wanted in contradictions(options, model, settings):
        raise ValueError(
            f"{option}: the model of --from {options.base} has {held!r}, this command has "
            f"{wanted!r}; leave the option out, or learn a new model"
        )
    # a column is treated as the model does
    kinds, base = model.encoder.kinds, f"the model of --from {options.base}"
    numbers = {name for name, kind in kinds.items() if kind != "text"}
    left_out = set(kept.get("left_out", ()))
    for option, names, known, what in (
        ("--exclude", options.exclude, kinds.keys(), "was learned with it"),
        ("--categorical", options.categorical, numbers, "did not learn it as categories"),
        ("--keep-columns", options.keep_columns, left_out, "was learned without it"),
    ):
        clash = sorted(set(names_in(names)) & known)
        if clash:
            raise ValueError(f"{option} {', '.join(clash)}: {base} {what}")
