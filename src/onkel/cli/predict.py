"""``onkel predict``: a saved model over new rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onkel.cli import options
from onkel.cli.arguments import command, one_or_all, share, source_name
from onkel.cli.console import note, watched

_BOUNDS = ("prediction_low", "prediction_high")


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
    keep: options.Keep = None
    sep: options.Sep = None
    encoding: options.Encoding = None


@command(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Predict the rows of a source, in order.

    Columns are found by name. If the target is there, the score is shown. Each row is predicted by
    itself; with --next, also from the labels before, as `onkel learn` does.

    Example: onkel predict flights.onkel new.csv --out predictions.parquet
    """
    from onkel.cli.outputs import check_outputs, open_writer
    from onkel.evaluation.formatting import count
    from onkel.metrics import Score

    if options.out != "-":
        check_outputs(Path(options.out), inputs=[*options.sources, options.model])
    model = _load(options.model)
    _check(options, model)
    score = Score(model.task)
    rows = 0
    with open_writer(options.out) as write:
        for columns, y in _columns(options, model):
            write(columns)
            rows += len(columns["prediction"])
            score.add(y, columns["prediction"])
        if rows == 0:
            raise ValueError(f"{source_name(options.sources)}: there are no rows to predict")
    note(count(rows, "prediction") + (f" in {options.out}" if options.out != "-" else ""))
    if score.n_rows:
        left_out = f" ({count(score.n_missing, 'row')} without it)" if score.n_missing else ""
        note(f"{score.text()} on the target {model.encoder.target!r}{left_out}")
    if _remembers(model) and not options.next:
        note(
            "each row was predicted by itself, without the labels before; where the rows come "
            "right after those that were learned, --next uses them"
        )


def _remembers(model: Any) -> bool:
    """Whether the learner also predicts from the last labels."""
    return getattr(model.estimator, "memory_", None) is not None


def _load(path: str) -> Any:
    from onkel.errors import ModelFileError
    from onkel.persistence import load
    from onkel.pipeline import StreamModel

    loaded = load(path)
    if not isinstance(loaded, StreamModel) or loaded.encoder is None:
        raise ModelFileError(
            f"{path}: holds a {type(loaded).__name__} without its columns; 'onkel predict' needs "
            "a file that 'onkel learn --save' wrote. In Python: onkel.load(...).predict(X)"
        )
    return loaded


def _check(options: PredictOptions, model: Any) -> None:
    clash = {"prediction", *_BOUNDS} & set(_names(options.keep))
    if clash:
        raise ValueError(f"--keep {clash.pop()}: the predictions have that name")
    _check_intervals(options, model)
    if options.next and model.settings.get("group"):
        raise ValueError(
            f"--next: this model was learned by group ({model.settings['group']!r}); "
            "'onkel live' and model.predict_next(rows) predict the next rows of groups"
        )
    if options.next and options.scores:
        raise ValueError("--next and --scores: scores are of rows by themselves; ask for --proba")
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


def _check_intervals(options: PredictOptions, model: Any) -> None:
    if share(options.intervals) is not None and model.task == "classification":
        raise ValueError(
            "--intervals: this model is a classifier, which has no bounds; ask for --proba"
        )


def _names(given: str | None) -> list[str]:
    return [] if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _columns(options: PredictOptions, model: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Block by block: predictions with the other columns asked for, and the targets if any."""
    from onkel.pipeline.rows import extra_columns, reading_to_predict
    from onkel.streams import open_stream

    given = {"sep": options.sep, "encoding": options.encoding, "missing": options.missing}
    reading = reading_to_predict(
        model.settings | {name: value for name, value in given.items() if value is not None},
        format=options.format,
        keep=_names(options.keep),
    )
    stream = open_stream(one_or_all(options.sources), reading, encoder=model.encoder)
    extra = extra_columns(stream.columns, model.encoder, model.settings)
    extra = [name for name in extra if name not in _names(options.keep)]
    if extra:
        note(f"left out, as the model never had them: {', '.join(extra)}")
    done = 0
    for block in watched(stream, "predicting", stream.n_rows):
        columns = stream.kept(block.n_rows) | _predictions(options, model, block.X, done)
        done += block.n_rows
        yield columns, block.y


def _predictions(options: PredictOptions, model: Any, X: Any, done: int) -> dict[str, Any]:
    """The columns of predictions for features X, of which ``done`` rows came before."""
    level = share(options.intervals)
    if options.next:
        columns: dict[str, Any] = {"prediction": model.next_features(X, done)}
        bounds = None if level is None else model.next_intervals(X, level, done)
    else:
        columns = {"prediction": model.predict_features(X)}
        bounds = None if level is None else model.interval_features(X, level)
    if bounds is not None:
        columns |= dict(zip(_BOUNDS, bounds.T, strict=True))
    if options.scores:
        columns |= _by_class(model, "score", model.decision_features(X))
    if options.proba:
        probabilities = model.next_proba(X, done) if options.next else model.proba_features(X)
        columns |= _by_class(model, "proba", probabilities)
    return columns


def _by_class(model: Any, name: str, values: Any) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    labels = model.estimator.classes_
    return {f"{name}_{label}": values[:, i] for i, label in enumerate(labels)}
