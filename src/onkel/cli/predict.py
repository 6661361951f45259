"""``onkel predict``: a saved model over new rows."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from onkel.cli import options
from onkel.cli.arguments import command, names_in, one_or_all, share, source_name
from onkel.cli.console import (
    complain,
    complain_of_result,
    complain_unwritten,
    note,
    print_json,
    stderr,
    watched,
)
from onkel.cli.locating import located
from onkel.columns.failures import count, moved
from onkel.errors import DataError, NoRowsError
from onkel.persistence.untouched import Untouched

if TYPE_CHECKING:
    from onkel.cli.predicting import Alone
    from onkel.cli.scored import Scored
    from onkel.cli.signals import Interrupts
    from onkel.evaluation.result import PrequentialResult
    from onkel.streams import Stream


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """What ``onkel predict`` is given."""

    model: options.Model
    sources: options.Sources
    format: options.Format = None
    missing: options.MissingAsLearned = None
    out: options.Out = "-"
    proba: options.Proba = False
    scores: options.Scores = False
    intervals: options.Intervals = None
    next: options.Next = False
    learn: options.Learn = False
    save: options.SaveLearned = None
    keep: options.Keep = None
    report: options.ReportOfScore = None
    as_json: options.JsonOfScore = False
    sep: options.Sep = None
    encoding: options.Encoding = None

    @property
    def in_order(self) -> bool:
        """Whether rows are predicted as those that come next."""
        return self.next or self.learn


@command(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Predict the rows of a source, in order.

    Columns are found by name. If the target is there, the score is shown. Each row is predicted by
    itself; with --next, also from the labels before, as `onkel learn` does. With --learn, each row
    that has a label is learned after its prediction.

    Example: onkel predict flights.onkel tomorrow.csv --out predictions.csv
    """
    from onkel.cli.learn.continuing import load_with_columns
    from onkel.cli.scored import Scored

    _check_files(options)
    saved = Untouched(options.save)
    model, info = load_with_columns(options.model)
    _check(options, model)
    status = PredictJob(
        options, model, Scored(model, info, options.learn, share(options.intervals)), saved
    ).run()
    if status:
        raise typer.Exit(status)


class PredictJob:
    """One ``onkel predict``."""

    def __init__(
        self, options: PredictOptions, model: Any, scored: Scored, saved: Untouched
    ) -> None:
        self.options: PredictOptions = options
        self.model: Any = model
        self.scored: Scored = scored
        self.saved: Untouched = saved
        self.n_rows: int = 0
        #: 0, or why the run ended early
        self.status: int = 0
        #: where the predictions are; None if they could not be written
        self.out: Path | None = Path(options.out)
        #: the report that was written
        self.report: Path | None = None
        self.keep: list[str] = names_in([options.keep or ""])

    def run(self) -> int:
        """Run it; returns the exit status.

        A bad row or a signal does not lose what was done: the predictions of the rows before it
        are written, and with --learn the model is saved, beside files that are there. A disk that
        is full for the predictions does not lose the model.
        """
        from onkel.cli.guarded import UnwrittenError
        from onkel.cli.signals import Interrupts
        from onkel.streams.files import is_pipe

        options = self.options
        pipes = all(map(is_pipe, options.sources))
        # what is only shown may end in the middle of a row, as when nobody reads on
        loses = options.learn or options.out != "-"
        with Interrupts(end_input=pipes) if loses else nullcontext() as interrupts:
            try:
                self._predict_and_write(interrupts)
            except UnwrittenError as error:
                if not (options.learn and self.n_rows):
                    raise
                complain_of_result(error)
                self.status, self.out = 1, None
        self._print_result()
        return self._save() if options.learn else self.status

    def _predict_and_write(self, interrupts: Interrupts | None) -> None:
        """Write the predictions to the end, to a bad row or to a signal."""
        from onkel.cli.outputs import open_writer
        from onkel.cli.signals import Interrupted

        with open_writer(self.options.out, self._named) as write:
            try:
                self._predict(write, nullcontext if interrupts is None else interrupts.held)
                if interrupts is not None and interrupts.interrupted is not None:
                    raise interrupts.interrupted
            except DataError as error:
                text = located(error, self.options.sources)
                if not self.n_rows:
                    raise ValueError(text) from error
                complain(text)
                self.status = 2
            except Interrupted as signal:
                if not self.n_rows:
                    raise
                complain(f"{signal.word} after {count(self.n_rows, 'row')}")
                self.status = signal.status

    def _named(self, path: Path) -> Path:
        """The file of the predictions: not ``path`` where that exists, and these are a part."""
        from onkel.cli.outputs import beside

        if not self.status:
            return path
        self.out = beside(path)
        return self.out

    def _predict(self, write: Any, held: Any) -> None:
        """Write the columns to keep and the predictions, block by block."""
        import numpy as np

        from onkel.cli.predicting import Alone, Learning, Next, Wanted

        options, model = self.options, self.model
        level = share(options.intervals)
        wanted = Wanted(proba=options.proba, scores=options.scores, level=level)
        kind = Learning if options.learn else Next if options.next else Alone
        predictor = kind(model, wanted)
        kept = self.keep
        if kept and (clash := [name for name in kept if name in predictor.of_no_rows()]):
            raise ValueError(f"--keep {clash[0]}: the predictions have that name")
        try:
            self._predict_rows(predictor, self._open(), write, held)
        except NoRowsError as error:
            note(str(error))
        if self.n_rows == 0:
            write({name: np.array([], str) for name in kept} | predictor.of_no_rows())

    def _predict_rows(self, predictor: Alone, stream: Any, write: Any, held: Any) -> None:
        from onkel.cli.tables import say_of_bad_values

        options, model = self.options, self.model
        if options.learn:
            model.adopt(stream)
        for block in watched(stream, stream.n_rows):
            with held():
                began = time.perf_counter()
                try:
                    columns, predictions = predictor.predict(block)
                except DataError as error:
                    raise moved(error, source=source_name(options.sources)) from None
                spent, n = time.perf_counter() - began, len(columns["prediction"])
                self.scored.add(block.y, predictions, spent, columns, n if options.learn else None)
                self.n_rows += n
                write(stream.kept(n) | columns)
            if predictor.failure is not None:
                raise predictor.failure
        say_of_bad_values(stream)

    def _open(self) -> Stream:
        from onkel.pipeline.rows import excluded, extra_columns, reading_to_predict
        from onkel.streams import open_stream

        options, model = self.options, self.model
        given = {"sep": options.sep, "encoding": options.encoding, "missing": options.missing}
        reading = reading_to_predict(
            model.settings | {name: value for name, value in given.items() if value is not None},
            format=options.format,
            keep=self.keep,
            group=model.settings.get("group") if options.in_order else None,
            lacking=None if options.missing else model.keys.lacking(dicts=False),
        )
        how: dict[str, Any] = {"encoder": model.encoder}
        if options.learn:
            reading = reading.changed(exclude=excluded(model.settings))
            how |= {"extend": True, "every_row": True}
        stream = open_stream(one_or_all(options.sources), reading, **how)
        if options.learn and stream.target is None:
            raise DataError(
                f"--learn needs the target {model.encoder.target!r}, and the source has no column "
                "of that name",
                source=source_name(options.sources),
            )
        extra = extra_columns(stream.columns, model.encoder, model.settings)
        extra = [name for name in extra if name not in self.keep]
        if extra:
            note(f"left out, as the model never had them: {', '.join(extra)}")
        return stream

    def _print_result(self) -> None:
        """Print how many rows were predicted, and how well."""
        options, model = self.options, self.model
        out = self.out if options.out != "-" else None
        if out is not None and self.status:
            note(f"{out} holds the predictions of the first {count(self.n_rows, 'row')}")
        else:
            note(count(self.n_rows, "prediction") + ("" if out is None else f" in {out}"))
        result = self.scored.result(model.settings.get("algorithm") or "the model")
        if result is not None:
            self._show(result)
        elif options.report is not None or options.learn:
            note(f"no row has the target {model.encoder.target!r}: there is no score"
                 + (", and nothing was learned" if options.learn else ""))  # fmt: skip
        if getattr(model.estimator, "memory_", None) is not None and not options.in_order:
            group = model.settings.get("group")
            use = f"--next uses those of each {group!r}" if group else "--next uses them"
            note(
                "each row was predicted by itself, without the labels before; where the rows come "
                f"right after those that were learned, {use}"
            )
        if options.as_json:
            files = {"out": self.out, "report": self.report, "save": options.save}
            counts = {"predictions": self.n_rows, "without_target": self.scored.n_missing}
            print_json((result.to_dict() if result else {}) | counts | files)

    def _show(self, result: PrequentialResult) -> None:
        """The score on stderr, and the report."""
        from onkel.cli.outputs import beside, reported
        from onkel.cli.tables import facts_table
        from onkel.evaluation.report import write_html
        from onkel.evaluation.run_summary import score_rows
        from onkel.metrics import metrics_of

        options, target = self.options, self.model.encoder.target
        titles = [metric.title for metric in metrics_of(result.task)]
        rows = dict(score_rows(result))
        text = ", ".join(f"{title} {rows.pop(title)}" for title in titles if title in rows)
        missing = self.scored.n_missing
        left_out = f" ({count(missing, 'row')} without it)" if missing else ""
        note(f"{text} on the target {target!r}{left_out}")
        if missing or rows["scored"].endswith(f" {self.n_rows:,}"):
            del rows["scored"]
        stderr().print(facts_table(list(rows.items())))
        if options.report is not None:
            self.report = beside(options.report) if self.status else options.report
            write_html(
                reported(result),
                self.report,
                title=f"{options.model} on {source_name(options.sources)}",
                lead=f"{result.task} · target {target} · {count(result.n_rows, 'row')} predicted"
                + (", and learned afterwards" if options.learn else ""),
            )
            note(f"report: {self.report}")

    def _save(self) -> int:
        """Save the model that has learned the rows; the exit status."""
        from onkel.cli.outputs import beside
        from onkel.persistence import save

        path, status = self.saved.path(), self.status
        if path is None:
            note("the model that has learned these rows was not saved; add --save FILE")
            return status
        path = beside(path) if status else path
        try:
            save(self.model, path, info=self.scored.info())
        except OSError as error:
            complain_unwritten(path, error)
            # the status of a signal says that what was read is saved
            return 1 if status > 128 else status or 1
        note(f"{path} holds the model, which has learned {count(self.model.n_rows, 'row')}")
        if self.saved.moved:
            complain(self.saved.moved)
            return status or 1
        return status


def _check_files(options: PredictOptions) -> None:
    """Check that the files can be written; only --save may replace the model."""
    from onkel.cli.outputs import check_outputs, check_report

    out = None if options.out == "-" else Path(options.out)
    check_outputs(options.save, options.report, out, inputs=options.sources)
    check_outputs(options.report, out, inputs=[options.model])
    check_report(options.report)
    if options.save is not None and not options.learn:
        raise ValueError("--save: the model changes only with --learn")
    if options.as_json and out is None:
        raise ValueError("--json writes on stdout, as the predictions do: give --out FILE")


def _check(options: PredictOptions, model: Any) -> None:
    given = "--learn" if options.learn else "--next"
    if options.in_order and options.scores:
        raise ValueError(f"{given} and --scores: scores are of rows by themselves; ask for --proba")
    if options.missing == "skip":
        raise ValueError(
            "--missing skip: predictions would no longer line up with their rows; "
            "use zero, mean or error"
        )
    if (options.proba or options.scores) and model.task == "regression":
        raise ValueError("--proba and --scores are for classifiers; this model is a regressor")
    if options.proba and not hasattr(model.estimator, "predict_proba"):
        loss = model.estimator.get_params(deep=False).get("loss")
        raise ValueError(
            f"--proba: this model has no probabilities (loss={loss!r}); "
            "learn with --set loss=logistic, or ask for --scores"
        )
