"""The run behind ``onkel learn``: begin or resume, learn, save what was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from onkel.cli.arguments import choose_task, learner_settings, names_in, share
from onkel.cli.console import complain, note, stderr
from onkel.cli.learn.continuing import Checkpoint, continued, load_with_columns
from onkel.cli.learn.options import LearnOptions, parse_delay
from onkel.cli.learn.outcome import Outcome
from onkel.cli.locating import located
from onkel.cli.outputs import check_outputs, check_report
from onkel.cli.signals import Interrupted, Interrupts
from onkel.cli.tables import columns_table
from onkel.columns.failures import A_FLAG, A_NUMBER, count
from onkel.errors import DataError
from onkel.evaluation.prequential import take
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.run import PrequentialRun
from onkel.learners.factory import make_estimator
from onkel.persistence.untouched import Untouched
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import left_out
from onkel.streams.files import is_pipe
from onkel.streams.stream import nothing_to_learn

if TYPE_CHECKING:
    from onkel.streams import Block, Stream

# What a model knows of its first source, and keeps for the next.
_OF_MODEL = ("left_out", "useless")
_BAD_INPUT = 2
_LABEL = "if it is a label, say --task classification"


class LearnJob:
    """One ``onkel learn``."""

    params: dict[str, Any]

    def __init__(self, options: LearnOptions) -> None:
        from onkel.algorithms import DEFAULT

        self.delay: int | timedelta = parse_delay(options.delay)
        self.intervals: float | None = share(options.intervals)
        if isinstance(self.delay, timedelta) and options.time is None:
            raise ValueError(
                f"--delay {options.delay} needs the time of every row: name its column with --time"
            )
        check_outputs(options.save, options.report, options.checkpoint, inputs=options.sources)
        if options.base is not None:
            # only --save may replace the model of --from
            check_outputs(options.report, options.checkpoint, inputs=[str(options.base)])
        check_report(options.report)
        self.params = learner_settings(options)
        self._saved = Untouched(options.save)
        self.base: tuple[StreamModel, dict[str, Any]] | None = None
        if options.base is not None:
            self.base = load_with_columns(options.base, "--from ")
            options = continued(options, self.base[0])
            self.params = self.base[0].settings.get("params", {})
        self.options = options
        self.algorithm: str = options.algorithm or DEFAULT
        self.kept: dict[str, Any] = options.kept(self.algorithm, self.params)
        if self.base is not None:
            self.kept["rows_before"] = self.base[0].n_rows
        self.model: StreamModel | None = None
        self.checkpoint: Checkpoint = Checkpoint(options.checkpoint, options.checkpoint_every)
        self.checkpoint.check(resume=options.resume, overwrite=options.overwrite)
        self.resumed_rows: int = 0

    def run(self) -> int:
        """Run it; returns the exit status.

        0; 1 if a file could not be written; 2 after a bad row; 130 after Ctrl-C, 143 after SIGTERM,
        129 after SIGHUP. What was read before a signal is learned and saved.
        """
        with Interrupts(end_input=all(map(is_pipe, self.options.sources))) as interrupts:
            try:
                return self._run(interrupts)
            except DataError as error:
                if interrupts.interrupted is not None:
                    # input that a signal has ended may have too few rows for its columns
                    complain(f"{interrupts.interrupted.word} before a row was learned")
                    return interrupts.interrupted.status
                if not _is_label(error, self.options.target):
                    raise
                complain(f"{located(error)}; {_LABEL}")
                return _BAD_INPUT

    def _run(self, interrupts: Interrupts) -> int:
        began = time.perf_counter()
        kept = None
        if self.options.resume:
            kept = self.checkpoint.load(self.kept, self.options.task)
        self.model, info = kept or self._from_base()
        if self.model is not None:
            before = self.model.settings.get("rows_before", 0)
            # rows that wait for their labels were read, too
            self.resumed_rows = self.model.n_rows + info.get("n_waiting", 0) - before
        stream = self._open(info.get("fingerprint", True))
        blocks = iter(stream)
        try:
            first = next(blocks, None)
        except DataError as error:
            if interrupts.interrupted is not None:
                raise
            complain(self._located(error, stream, learning=False))
            return _BAD_INPUT
        model = self.model or self._begin(stream, first)
        run = self._new_run(model, began)
        run.set_info(info)
        if kept is None and "run" in info:
            run.begin_part()
        limit = self.options.limit
        left = None if limit is None else max(0, limit - self.resumed_rows)
        rest = take(chain([first] if first is not None else [], blocks), left)
        status = self._learn(model, run, rest, stream, interrupts)
        outcome = Outcome(
            self.options,
            self.algorithm,
            self.params,
            self.checkpoint,
            resumed_rows=self.resumed_rows,
            checkpointed=bool(self.delay) or self.options.save is not None,
            saved=self._saved,
        )
        with interrupts.held():
            return outcome.finish(model, run, stream, status)

    def _from_base(self) -> tuple[StreamModel | None, dict[str, Any]]:
        """The model of ``--from``, ready for another source; None without one."""
        if self.base is None:
            return None, {}
        model, info = self.base
        own = {name: model.settings[name] for name in _OF_MODEL if name in model.settings}
        model.settings = {**self.kept, "task": model.task, **own}
        note(f"continuing {self.options.base} after {count(model.n_rows, 'row')}")
        if "run" not in info:
            note("its score was not saved: the score counts the rows from here on")
        return model, {name: info[name] for name in ("run",) if name in info}

    def _open(self, fingerprint: bool | str) -> Any:
        exclude = names_in(self.options.exclude)
        if self.model is not None:
            exclude += self.model.settings.get("left_out", [])
        rows = self.options.block_rows
        if self.checkpoint.path is not None:
            # no more than there are between two checkpoints
            rows = min(rows, self.checkpoint.every)
        stream = self.options.open(
            exclude=exclude,
            random_state=self.options.seed,
            encoder=None if self.model is None else self.model.encoder,
            extend=True,
            skip_rows=self.resumed_rows,
            block_rows=rows,
            by_row=self.options.block_rows == 1,
            fingerprint=self.options.checkpoint is not None and fingerprint,
        )
        if self.resumed_rows and self.base is not None:
            # the rows of this source came after those of the model of --from
            stream.before = self.base[0].encoder
        return stream

    def _begin(self, stream: Any, first: Block | None) -> StreamModel:
        """A new model for the task that the first block shows."""
        if first is None:
            raise nothing_to_learn(stream)
        if first.y is None:
            names = [column.name for column in stream.encoder.columns]
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise DataError(
                f"name the column to learn with --target; the columns are: {shown}",
                source=self.options.source_name,
            )
        task, reason = choose_task(first.y, self.options.task)
        model = StreamModel(
            make_estimator(self.algorithm, task, self.params, self.options.seed),
            scaling=self.options.scaling,
            encoder=stream.encoder,
            settings={
                **self.kept,
                "task": task,
                "left_out": left_out(stream),
                "useless": stream.useless,
            },
        )
        columns = model.describe_columns()
        if (columns or stream.useless) and not self.options.as_json:
            console = stderr()
            console.print(columns_table(columns, stream.useless, console.width))
            note(f"counted in the first {count(stream.n_read, 'row')}")
        if self.options.task == "auto":
            other = "regression" if task == "classification" else "classification"
            numeric = first.y.dtype.kind in "iuf"
            note(f"{task}: {reason}" + (f" (--task {other} to override)" if numeric else ""))
        if task == "classification" and len(first.y) > 1 and bool((first.y == first.y[0]).all()):
            note(f"the first {len(first.y):,} rows are all of class {first.y[0]!s}: if the source "
                 "is sorted by the target, shuffle it (--shuffle ROWS)")  # fmt: skip
        return model

    def _new_run(self, model: StreamModel, began: float) -> PrequentialRun:
        # the estimator tells all parameters, the run the delay
        hidden = ("params", "delay", "time")
        settings = {k: v for k, v in model.settings.items() if k not in hidden}
        settings["parameters"] = model.estimator.get_params(deep=False)
        return PrequentialRun(
            model,
            name=self.algorithm,
            settings=settings,
            began=began,
            delay=self.delay,
            intervals=self.intervals,
        )

    def _learn(
        self,
        model: StreamModel,
        run: PrequentialRun,
        blocks: Iterator[Block],
        stream: Stream,
        interrupts: Interrupts,
    ) -> int:
        """Learn to the end, to a bad row or to a signal; returns the exit status."""
        learning = False
        try:
            with ExitStack() as stack:
                run.progress = stack.enter_context(self._progress(stream))
                for block in blocks:
                    with interrupts.held():
                        learning = True
                        run.step(block)
                        learning = False
                        self.checkpoint.save(model, run, stream)
                learning = True
                if interrupts.interrupted is None:
                    self._end(model, run, stream, interrupts)
        except Interrupted:
            pass  # handled below
        except DataError as error:
            if interrupts.interrupted is None:
                complain(self._located(error, stream, learning))
                return _BAD_INPUT
        if interrupts.interrupted is None:
            return 0
        complain(f"{interrupts.interrupted.word} after {count(model.n_rows, 'row')}")
        return interrupts.interrupted.status

    def _end(
        self, model: StreamModel, run: PrequentialRun, stream: Any, interrupts: Interrupts
    ) -> None:
        """All rows are there: learn the last labels, then a last fit, which a signal may break off.

        A resumed run may get more rows: it goes on as if there had been no end.
        """
        before = model.settings.get("rows_before", 0)
        with interrupts.held():
            if self.delay and model.n_rows > before:
                self.checkpoint.save_now(model, run, stream)
            run.finish()
        if self.options.save is not None and model.n_rows != before:
            if not self.delay:
                self.checkpoint.save_now(model, run, stream)
            model.consolidate()

    def _located(self, error: DataError, stream: Stream, learning: bool) -> str:
        """The error with its line.

        Rows are read in their order; ``learning`` may follow a shuffle, and some may be left out.
        """
        options = self.options
        if learning and (options.shuffle or options.missing == "skip" or stream.n_unlabelled):
            text = located(error, counted="counted from 1 as they are learned")
        else:
            text = located(error, options.sources)
        return f"{text}; {_LABEL}" if _is_label(error, stream.encoder.target) else text

    def _progress(self, stream: Stream) -> RunProgress:
        total = stream.n_rows
        if total is not None and self.options.limit is not None:
            total = min(total, self.options.limit)
        if total is not None and self.model is not None:
            total += self.model.settings.get("rows_before", 0)
        console = stderr()
        loud = not self.options.as_json and (console.is_terminal or self.options.verbose)
        return RunProgress(
            console,
            self.algorithm,
            total=total,
            fraction=stream.progress,
            table=loud,
            fits_last=self.options.save is not None,
        )


def _is_label(error: DataError, target: str | None) -> bool:
    """Whether the error is of a target that is text in one row, and a number or flag in another."""
    of_target = error.column is not None and error.column == target
    return of_target and any(
        f"{what} is expected" in error.message for what in (A_NUMBER, "text", A_FLAG)
    )
