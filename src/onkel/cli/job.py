"""The run behind ``onkel learn``: begin or resume, learn, save what was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from onkel.cli.checks import check_outputs, check_resumable
from onkel.cli.console import complain, note, say_if_cold, stderr
from onkel.cli.interrupt import Interrupts
from onkel.cli.options import LearnOptions
from onkel.cli.values import choose_task, make_estimator, parse_settings
from onkel.errors import DataError
from onkel.evaluation.prequential import take
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.run import PrequentialRun
from onkel.persistence import load_with_info, save

__all__ = ["LearnJob"]

_INTERRUPTED, _BAD_INPUT = 130, 2


class LearnJob:
    """One ``onkel learn``.

    Parameters
    ----------
    options : LearnOptions
        From the command line.
    """

    def __init__(self, options: LearnOptions) -> None:
        from onkel.algorithms import DEFAULT

        if options.resume and options.checkpoint is None:
            raise ValueError("--resume needs --checkpoint, the file to continue from")
        check_outputs(options.save, options.report, inputs=[options.source])
        check_outputs(options.report, options.checkpoint, inputs=[options.source])
        self.options = options
        self.params = parse_settings(options.params)
        self.algorithm = options.algorithm or DEFAULT
        self.wanted = options.settings(self.algorithm, self.params)
        self.model: Any = None
        self.resumed_rows = 0
        self._saved_rows = 0
        self._state: dict[str, Any] | None = None

    def run(self) -> int:
        """Do it all.

        Returns
        -------
        int
            Exit status: 0, 2 after a bad row, 130 after Ctrl-C.
        """
        began = time.perf_counter()
        self._load_checkpoint()
        stream = self._open()
        blocks = iter(stream)
        first = next(blocks, None)
        if self.model is None:
            if first is None:
                raise DataError("there are no rows to learn from", source=self.options.source)
            self._begin(stream, first)
        run = self._new_run(began)
        say_if_cold()
        rest = take(chain([first] if first is not None else [], blocks), self._rows_left())
        status = self._learn(run, rest, stream)
        self._finish(run, stream, status)
        return status

    def _load_checkpoint(self) -> None:
        path = self.options.checkpoint
        if not self.options.resume or path is None:
            return
        if not path.exists():
            note(f"{path} does not exist yet: starting from the first row")
            return
        self.model, info = load_with_info(path)
        check_resumable(path, self.wanted, self.options.task, getattr(self.model, "settings", {}))
        self._state = info.get("run")
        self.resumed_rows = self._saved_rows = self.model.n_rows
        note(f"resuming {path} after {self.resumed_rows:,} rows")

    def _open(self) -> Any:
        from onkel.streams import open_stream

        options = self.options
        return open_stream(
            options.source,
            target=options.target,
            format=options.format,
            exclude=options.exclude,
            n_hash=options.n_hash,
            missing=options.missing,
            shuffle=options.shuffle,
            random_state=options.seed,
            encoder=None if self.model is None else self.model.encoder,
            extend=True,
            skip_rows=self.resumed_rows,
            dtype=options.dtype,
        )

    def _begin(self, stream: Any, first: Any) -> None:
        """A new model, for the task the first block shows."""
        from onkel.pipeline import StreamModel

        if first.y is None:
            names = [column.name for column in stream.encoder.columns]
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise DataError(
                f"name the column to learn with --target; the columns are: {shown}",
                source=self.options.source,
            )
        task, reason = choose_task(first.y, self.options.task)
        self.model = StreamModel(
            make_estimator(self.algorithm, task, self.params, self.options.seed),
            scaling=self.options.scaling,
            encoder=stream.encoder,
            settings={**self.wanted, "task": task},
        )
        if self.options.task == "auto":
            other = "regression" if task == "classification" else "classification"
            numeric = first.y.dtype.kind in "iuf"
            note(f"{task}: {reason}" + (f" (--task {other} to override)" if numeric else ""))
        if task == "classification" and len(first.y) > 1 and bool((first.y == first.y[0]).all()):
            note(f"the first {len(first.y):,} rows are all of class {first.y[0]!s}: if the source "
                 "is sorted by the target, shuffle it (--shuffle ROWS)")  # fmt: skip

    def _new_run(self, began: float) -> PrequentialRun:
        settings = {k: v for k, v in self.model.settings.items() if k != "params"}
        settings["parameters"] = self.model.estimator.get_params(deep=False)
        run = PrequentialRun(self.model, name=self.algorithm, settings=settings, began=began)
        if self._state is not None:
            run.set_state(self._state)
        return run

    def _rows_left(self) -> int | None:
        limit = self.options.limit
        return None if limit is None else max(0, limit - self.resumed_rows)

    def _learn(self, run: PrequentialRun, blocks: Iterator[Any], stream: Any) -> int:
        """Learn to the end, to a bad row or to Ctrl-C; exit status."""
        try:
            with ExitStack() as stack:
                interrupts = stack.enter_context(Interrupts())
                run.progress = stack.enter_context(self._progress(stream))
                for i, block in enumerate(blocks):
                    with interrupts.held():
                        if i == 0:
                            run.warm_up(block)
                        run.step(block)
                        self._checkpoint(run)
        except KeyboardInterrupt:
            complain(f"interrupted after {self.model.n_rows:,} rows")
            return _INTERRUPTED
        except DataError as error:
            complain(str(error))
            return _BAD_INPUT
        return 0

    def _progress(self, stream: Any) -> RunProgress:
        total = stream.n_rows
        if total is not None and self.options.limit is not None:
            total = min(total, self.options.limit)
        console = stderr()
        loud = not self.options.as_json and (console.is_terminal or self.options.verbose)
        return RunProgress(
            console, self.algorithm, total=total, fraction=stream.progress, table=loud
        )

    def _checkpoint(self, run: PrequentialRun, *, at_end: bool = False) -> None:
        path = self.options.checkpoint
        due = self.model.n_rows - self._saved_rows >= self.options.checkpoint_every
        if path is not None and (due or at_end):
            save(self.model, path, info={"run": run.get_state()})
            self._saved_rows = self.model.n_rows

    def _finish(self, run: PrequentialRun, stream: Any, status: int) -> None:
        """Save what was asked for, also when the run was cut short, and say what there is."""
        from onkel.cli.summary import show_run

        options = self.options
        if self.model.n_rows == 0:
            note("no row was learned: nothing is written")
            return
        self._checkpoint(run, at_end=True)
        if options.save is not None:
            self.model.save(options.save)
        if status:
            self._say_what_is_left()
        late = [column.name for column in stream.encoder.columns if column.late]
        if late:
            note(f"came in mid-stream, and were learned from then on: {', '.join(late)}")
        if run.n_rows == 0:
            return
        result = run.result()
        if options.report is not None:
            self._report(result, status)
        show_run(
            result,
            as_json=options.as_json,
            extra={
                "status": {0: "complete", _INTERRUPTED: "interrupted"}.get(status, "bad input"),
                "algorithm": self.algorithm,
                "n_features": stream.encoder.n_features,
                "resumed_rows": self.resumed_rows,
                "save": options.save,
                "checkpoint": options.checkpoint,
                "report": options.report,
            },
        )

    def _say_what_is_left(self) -> None:
        files = [p for p in (self.options.save, self.options.checkpoint) if p is not None]
        rows = f"{self.model.n_rows:,} rows"
        if files:
            verb = "hold" if len(files) > 1 else "holds"
            note(f"{' and '.join(map(str, files))} {verb} the model of the first {rows}")
        else:
            note(
                f"the model of the first {rows} is lost: neither --save nor --checkpoint was given"
            )

    def _report(self, result: Any, status: int) -> None:
        from onkel.evaluation.report import write_html

        options = self.options
        assert options.report is not None
        what = f" · target {options.target}" if options.target else ""
        cut = ["The run was cut short; this is what had been learned."] if status else []
        write_html(
            result,
            options.report,
            title=f"{self.algorithm} on {Path(options.source).name or options.source}",
            lead=f"{result.task}{what} · one pass over {result.n_rows:,} rows",
            notes=cut,
        )
