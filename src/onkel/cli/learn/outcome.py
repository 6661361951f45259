"""How ``onkel learn`` ends: the files it writes, and the result it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.console import complain, complain_unwritten, note
from onkel.cli.learn.continuing import Checkpoint
from onkel.cli.learn.options import LearnOptions
from onkel.cli.outputs import beside, reported
from onkel.cli.tables import say_of_bad_values
from onkel.columns.failures import count
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run import PrequentialRun
from onkel.evaluation.run_summary import one_class, verdict
from onkel.persistence import save
from onkel.persistence.untouched import Untouched
from onkel.pipeline import StreamModel

if TYPE_CHECKING:
    from onkel.streams import Stream

_NOT_WRITTEN = 1
_STATUS = {
    0: "complete",
    _NOT_WRITTEN: "not written",
    2: "bad input",
    129: "terminal closed",
    130: "interrupted",
    143: "terminated",
}


@dataclass
class Outcome:
    """Writes the files of a run and shows its result.

    ``resumed_rows`` of the source were learned by an earlier run. With ``checkpointed`` a run that
    is not cut short has written its checkpoint: before the last labels came, or before the last fit
    of a model that is saved.
    """

    options: LearnOptions
    algorithm: str
    params: dict[str, Any]
    checkpoint: Checkpoint
    resumed_rows: int
    checkpointed: bool
    saved: Untouched
    written: dict[str, Path] = field(default_factory=dict)

    def finish(self, model: StreamModel, run: PrequentialRun, stream: Stream, status: int) -> int:
        """Write the files asked for, even after a run cut short, and show the result."""
        options = self.options
        if model.n_rows == model.settings.get("rows_before", 0):
            note("no row was learned: nothing is written")
            return status
        if status or not self.checkpointed:
            self.checkpoint.save_now(model, run, stream)
        if self.checkpoint.path is not None and not self.checkpoint.failed:
            self.written["checkpoint"] = self.checkpoint.path
        failed = self.checkpoint.failed or self.checkpoint.path != options.checkpoint
        # without times: the same seed and the same rows give the same file
        info = {"run": run.get_state(timed=False)}
        path = self.saved.path()
        failed |= not self._write("save", path, lambda path: save(model, path, info=info), status)
        if self.saved.moved and "save" in self.written:
            failed = True
            complain(self.saved.moved)
        if status:
            self._say_what_is_left(model.n_rows)
        _say_of_rows(stream, self.options.limit)
        _say_of_weights(model, self.params.get("class_weight"))
        _say_of_targets(run)
        if run.n_rows:
            status = self._show(model, run.result(), status, failed)
        # the status of a signal says that what was read is saved
        if status > 128 and not self.written and (options.save or options.checkpoint):
            return _NOT_WRITTEN
        return status or (_NOT_WRITTEN if failed else 0)

    def _show(
        self, model: StreamModel, result: PrequentialResult, status: int, failed: bool
    ) -> int:
        """Write the report and print the result; the exit status."""
        from onkel.cli.tables import show_run
        from onkel.pipeline.summary import waiting_rows

        options = self.options
        failed |= not self._write(
            "report", options.report, lambda path: self._report(model, result, path, status), status
        )
        status = status or (_NOT_WRITTEN if failed else 0)
        extra = {
            "status": _STATUS[status],
            "algorithm": self.algorithm,
            "n_features": model.estimator.n_features_in_,
            "resumed_rows": self.resumed_rows,
            "alarms": model.alarms_,
            "waiting_rows": waiting_rows(model),
        }
        if not (status or options.save or options.checkpoint):
            note("no model was saved; add --save FILE")
        warning = verdict(self.algorithm, result.task, result.details, result.final.loss)
        if warning is not None:
            note(f"warning: {warning}")
        only = one_class([result])
        if only is not None:
            note(f"warning: only one class came, {only!r}: there was nothing to tell apart. If the "
                 "source is sorted by the target, shuffle it (--shuffle ROWS)")  # fmt: skip
        show_run(result, as_json=options.as_json, extra=extra | self.written)
        return status

    def _write(
        self, what: str, path: Path | None, write: Callable[[Path], None], status: int
    ) -> bool:
        """Write a file; a run cut short writes beside an existing file and does not replace it."""
        if path is None:
            return True
        if status:
            path = beside(path)
        try:
            write(path)
        except OSError as error:
            complain_unwritten(path, error)
            return False
        self.written[what] = path
        return True

    def _say_what_is_left(self, n_rows: int) -> None:
        files = [str(path) for path in self.written.values()]
        if files:
            verb = "hold" if len(files) > 1 else "holds"
            note(f"{' and '.join(files)} {verb} the model of the first {count(n_rows, 'row')}")
        elif self.options.save or self.options.checkpoint:
            note(f"the model of the first {count(n_rows, 'row')} is lost: no file could be written")
        else:
            note(f"the model of the first {count(n_rows, 'row')} is lost: neither --save nor "
                 "--checkpoint was given")  # fmt: skip

    def _report(
        self, model: StreamModel, result: PrequentialResult, path: Path, status: int
    ) -> None:
        from onkel.evaluation.report import write_html

        options = self.options
        what = f" · target {options.target}" if options.target else ""
        cut = ["The run was cut short; this covers the rows learned until then."] if status else []
        write_html(
            reported(result),
            path,
            title=f"{self.algorithm} on {options.source_name}",
            lead=f"{result.task}{what} · one pass over {count(result.n_rows, 'row')}",
            notes=cut,
            model=model,
        )


def _say_of_targets(run: PrequentialRun) -> None:
    """Warn of targets that spoil the score, or have none."""
    if strange := run.strange_target():
        row, target = strange
        note(
            f"warning: the target of row {row:,} is {target:.15g}, a thousand times farther off "
            f"than others: if it marks a missing value, say so (--na-values={target:.15g})"
        )
    if tiny := run.tiny_target():
        note(
            f"warning: no target is farther from 0 than {tiny:g}: squares of such numbers are 0, "
            "and so are their errors; multiply the target by a power of ten"
        )


def _say_of_rows(stream: Stream, limit: int | None) -> None:
    """Note rows that were skipped, and columns that came in mid-stream.

    Rows are read some thousand at once, also beyond a ``limit``.
    """
    beyond = limit and stream.n_read > limit
    read = f" among the {count(stream.n_read, 'row')} read" if beyond else ""
    if stream.n_unlabelled:
        note(f"skipped, as the target is missing: {count(stream.n_unlabelled, 'row')}{read}")
    say_of_bad_values(stream, read)
    layout = stream.encoder.layout
    late = [c.name for k, c in enumerate(layout.columns) if c.late and not layout.waits(k)]
    if late:
        note(f"came in mid-stream, and were learned from then on: {', '.join(late)}")


def _say_of_weights(model: StreamModel, weights: Any) -> None:
    """Warn of weights for classes that never came: they do nothing and may be a slip."""
    if isinstance(weights, dict) and model.task == "classification":
        classes = model.classes_.tolist()
        never = [repr(label) for label in weights if label not in classes]
        if never:
            names = ", ".join(never)
            note(f"warning: class_weight has weights for classes that never came: {names}")
