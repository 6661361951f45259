"""An online learner with the preprocessing of its stream, as one model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from onkel import persistence
from onkel.errors import DataError
from onkel.intervals.feedback import check_tracked
from onkel.learners.predictions import Forecast
from onkel.model.transaction import locked
from onkel.numerics.arrays import as_dense
from onkel.pipeline import any_rows
from onkel.pipeline.any_rows import learn_blocks, learn_few, of_no_rows, over, over_next
from onkel.pipeline.estimator import StreamEstimator
from onkel.pipeline.explanation import Explanation, explained
from onkel.pipeline.rows import are_dicts
from onkel.pipeline.summary import columns_of, describe, html_table
from onkel.streams.reading import Reading

if TYPE_CHECKING:
    from onkel.streams import Block, Stream


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _where_the_learner_has(name: str) -> Callable[[_Method], _Method]:
    """A method that a model has only if its learner has that of the name."""
    return available_if(lambda model: getattr(model.estimator, name))


class StreamModel(StreamEstimator):
    """An online learner together with the preprocessing its stream needs.

    For each row, in this order: the running statistics learn its columns and scale them; the
    learner predicts; the statistics of the targets before turn the prediction into the target's
    own units; only then is the row's target seen. So predictions are strictly online and do not
    depend on how the stream was cut into blocks. ``onkel learn`` learns and saves such a model.

    A column that comes in mid-stream (``Block.late``) widens the learner. A row without it has an
    unscaled 0 there: it is predicted as by a model that never saw the column.

    Its methods take rows in many forms: a pandas or Polars frame, an Arrow table, a dict, a list of
    dicts, a path, or an array. Columns are found by name, in any order; those of an array by
    position. An error names columns that are missing or that the model never had. The target, and
    columns left out while learning, may be there.

    It is a scikit-learn estimator: ``fit``, ``score``, ``get_params``, ``set_params`` and ``clone``
    work as everywhere, over frames with text, too (`StreamEstimator`). ``fit`` begins anew with a
    clone of the learner; ``partial_fit`` goes on.

    Use it for raw streams whose columns have different scales. For data that are already scaled,
    use the estimators directly.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of onkel. ``partial_fit`` learns it in place.
    scaling : {"auto", "standard", "minmax", "none"}, default="auto"
        How the features are scaled. "auto": "none" where the learner scales by itself (``okl``),
        else "standard" with heavy tails compressed; see :class:`onkel.streams.OnlineScaler`.
    scale_target : bool or None, default=None
        Standardise the target of a regression by its past. None: unless the learner scales by
        itself. No effect in classification.
    encoder : Encoder, optional
        Turns columns into features, as ``stream.encoder``. By default made from the first rows.
    settings : dict, optional
        JSON-able notes on how the stream was read, kept with the model.
    missing : {"gap", "error"} or None, default=None
        What becomes of rows that lack a column: its value is missing, or they are refused. None:
        "gap" for dicts and JSON lines, "error" for tables. A dict none of whose keys is a column
        is always refused when it is predicted.
    extra : {"ignore", "error"} or None, default=None
        What becomes of columns that the model never had, in rows to predict. None: "ignore" for
        dicts, "error" for tables. In rows to learn they widen the model.

    Attributes
    ----------
    task : {"classification", "regression"}
        The estimator's task.

    Raises
    ------
    TypeError
        ``estimator`` is no learner, or a class instead of an object.
    ValueError
        ``scaling``, ``missing`` or ``extra`` has none of its values.
    DataError
        In methods that take rows: a row or a column is bad; the error names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.learners import FOGDClassifier
    >>> from onkel.pipeline import StreamModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2)) * [1, 1000]
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    >>> before = model.predict_then_learn({"small": X[:, 0], "large": X[:, 1]}, y)
    >>> print(f"{np.mean(before == y):.2f}")
    0.94
    >>> model.predict({"large": 900.0, "small": -1.5})
    array(['different'], dtype='<U9')
    """

    settings: dict[str, Any]

    def __repr__(self) -> str:
        return f"StreamModel({self.estimator!r}, n_rows={self.n_rows})"

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        facts = describe(self)
        names = [column["name"] for column in facts["columns"]]
        shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if names[12:] else "")
        rows = [
            ("learner", repr(self.estimator)),
            ("task", facts["task"]),
            ("target", facts["target"] or ""),
            ("classes", ", ".join(map(str, facts["classes"] or ()))),
            ("rows", f"{self.n_rows:,}"),
            ("columns", shown),
            ("size", f"{self.nbytes:,} bytes"),
        ]
        return html_table("StreamModel", [row for row in rows if row[1]])

    @property
    def classes_(self) -> np.ndarray:
        """Labels of a classifier, in the order of its scores and probabilities."""
        labels: np.ndarray = self.estimator.classes_
        return labels

    def describe_columns(self) -> list[dict[str, object]]:
        """Each input column: name, kind, categories, gaps so far, and what it became."""
        return columns_of(self)

    def predict(self, X: object) -> np.ndarray:
        """Predict rows without learning them.

        Parameters
        ----------
        X : frame, table, dict, list of dicts, path or array
            A dict is one row, or columns of equal length. A path is anything that
            `onkel.open_stream` opens.

        Returns
        -------
        ndarray of shape (n,)
            Labels, or values in the target's own units.

        Raises
        ------
        DataError
            Columns are missing, or the model never had them; the error names them.
        """
        return over(self, X, self.predict_features)

    def predict_interval(self, X: object, level: float = 0.9) -> np.ndarray:
        """Bounds (n, 2) around a share ``level`` of the targets, in their own units.

        As in `predict`, each row stands by itself: the memory of the last labels is not used. The
        errors of such predictions so far tell how far the bounds reach (`onkel.Intervals`). For the
        rows that come next, `predict_interval_next` has closer bounds. ValueError: the model is a
        classifier, or ``level`` is not in (0, 1).
        """
        return over(self, X, self.interval_features, level)

    def predict_next(self, X: object, ahead: int = 0) -> np.ndarray:
        """Predict the rows that come next, in order, without learning them.

        A learner with a memory also uses the labels learned so far, the less the farther ahead a
        row is; for others this is `predict`. A model learned by group reads its column from X.

        Parameters
        ----------
        X : frame, table, dict, list of dicts, path or array
            As `predict` takes it; so are X and what is returned of the methods below.
        ahead : int, default=0
            Rows (of the group) between the last learned row and the first row of X.
        """
        return over_next(self, X, self.next_features, ahead)

    def predict_interval_next(self, X: object, level: float = 0.9, ahead: int = 0) -> np.ndarray:
        """Bounds (n, 2) around the targets of the rows that come next, in order; learns nothing.

        Each label so far has said whether its row was inside, and moved the bounds
        (`onkel.Intervals`). So a share ``level`` of the rows that come next is inside, whatever the
        stream does. That holds one row ahead; farther ahead (see `predict_next`) the bounds are as
        wide. The levels 50, 80, 90, 95 and 99 % are tracked; others are read between them.
        """
        return over_next(self, X, self.next_intervals, level, ahead)

    def predict_set(self, X: object, level: float = 0.9) -> np.ndarray:
        """Sets that hold a share ``level`` of the labels, each row by itself.

        A bool (n, n_classes) in the order of ``classes_``; a set may be empty (`onkel.ClassSets`).
        The learner must keep them: the default does, others with ``feedback=True``. ValueError: it
        keeps none, the model is a regressor, or ``level`` is not in (0, 1).
        """
        return over(self, X, self.set_features, level)

    def predict_set_next(self, X: object, level: float = 0.9, ahead: int = 0) -> np.ndarray:
        """As `predict_set`, of the rows that come next; see `predict_next`."""
        return over_next(self, X, self.next_sets, level, ahead)

    @_where_the_learner_has("predict_proba")
    def predict_proba_next(self, X: object, ahead: int = 0) -> np.ndarray:
        """Class probabilities (n, n_classes) of the rows that come next; see `predict_next`."""
        return over_next(self, X, self.next_proba, ahead)

    def forecast_next(self, X: object, ahead: int = 0) -> Forecast:
        """What `predict_next` and `predict_proba_next` say of rows, which are scored once."""
        return over_next(self, X, self.next_forecast, ahead)

    @_where_the_learner_has("decision_function")
    def decision_function(self, X: object) -> np.ndarray:
        """Scores: (n, n_classes), or (n,) of two classes, positive for ``classes_[1]``."""
        return over(self, X, self.decision_features)

    @_where_the_learner_has("predict_proba")
    def predict_proba(self, X: object) -> np.ndarray:
        """Class probabilities (n, n_classes), in the order of ``classes_``.

        By a logistic or softmax loss, or calibrated (``okl``, ``krls``).
        """
        return over(self, X, self.proba_features)

    def partial_fit(
        self, X: object, y: object = None, *, target: str | None = None, group: str | None = None
    ) -> Self:
        """Learn rows in order.

        Parameters
        ----------
        X : frame, table, dict, list of dicts, path or array
            As `predict` takes it. New columns widen the model.
        y : array-like of shape (n,), optional
            Targets, if they are not a column of X.
        target : str, optional
            The target column; by default the one learned so far.
        group : str, optional
            The column that names each row's series, for a learner with a memory; by default the one
            so far.

        Raises
        ------
        DataError
            If a row is bad. The rows before it have been learned; it and later rows have not.
        """
        self.predict_then_learn(X, y, target=target, group=group)
        return self

    def predict_then_learn(
        self, X: object, y: object = None, *, target: str | None = None, group: str | None = None
    ) -> np.ndarray:
        """Predict each row from the rows before it, then learn it, as `partial_fit`; (n,)."""
        if target is None and group is None:
            found = learn_few(self, X, y, self.learn)
            if found is not None:
                return found  # type: ignore[no-any-return]
        predictions = learn_blocks(self, X, y, target, group, self.learn)
        if not predictions and self.n_rows and self.encoder is not None:
            return of_no_rows(self, self.predict_features)
        return np.concatenate(predictions) if predictions else np.zeros(0)

    @_where_the_learner_has("predict_proba")
    def predict_proba_then_learn(
        self, X: object, y: object = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `predict_then_learn`; returns predictions (n,) and probabilities, both before.

        The probabilities (n, n_classes) are those that `predict_proba_next` has one row ahead.
        ValueError: a label is of no known class, or fewer than two are known; its block is not
        learned.
        """
        if (found := learn_few(self, X, y, self.proba_then_learn)) is not None:
            return found  # type: ignore[no-any-return]
        shares: list[np.ndarray] = []

        def learn(block: Block, source: str | None) -> np.ndarray:
            labels, own = self.proba_then_learn(block, source)
            shares.append(own)
            return labels

        try:
            labels = learn_blocks(self, X, y, None, None, learn)
        except DataError as error:
            if error.probabilities is not None:
                shares.append(error.probabilities)
            error.probabilities = np.concatenate(shares) if shares else None
            raise
        if not labels:
            return self.classes[:0], np.zeros((0, len(self.classes)))
        return np.concatenate(labels), np.concatenate(shares)

    def predict_interval_then_learn(
        self,
        X: object,
        y: object = None,
        level: float = 0.9,
        *,
        target: str | None = None,
        group: str | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `predict_then_learn`; returns predictions (n,) and bounds (n, 2), both before.

        ``level``, the share of targets between the bounds: 0.5, 0.8, 0.9, 0.95 or 0.99.
        """
        self._require("regression", "it has no bounds")
        check_tracked(level)

        def learn(block: Block, source: str | None) -> np.ndarray:
            return self.intervals_then_learn(block, level, source)

        found = learn_blocks(self, X, y, target, group, learn)
        rows = np.concatenate(found) if found else np.zeros((0, 3))
        return rows[:, 0], rows[:, 1:]

    @locked
    def explain(self, row: object) -> Explanation:
        """Why one row is predicted so: what each column contributes to its score.

        The columns of rows that the model keeps, up to 128 drawn from all it has learned, are
        replaced by those of the row, one after the other, in random orders. What the score gains on
        average is a column's contribution (Shapley values by sampling; the same call gives the same
        numbers). They add up to the score of the row minus the mean score of the kept rows. They
        tell how the model uses the columns, not what causes what; columns with the same
        information share it. As in `predict`, the row stands by itself.

        The score is the value in a regression, and that of the predicted class in a classification:
        the higher, the more likely.

        Parameters
        ----------
        row : dict, or a frame, table or array of one row
            As `predict` takes it.

        Returns
        -------
        onkel.pipeline.explanation.Explanation
            ``prediction``, ``score``, ``base`` (the mean of the kept rows), ``contributions`` by
            column, the largest first, ``values``, ``probability``.

        Raises
        ------
        DataError
            As `predict`; or there is not one row, or the model keeps none.

        Examples
        --------
        >>> import numpy as np
        >>> from onkel import KernelRLSRegressor, StreamModel
        >>> rng = np.random.default_rng(0)
        >>> X = {"a": rng.normal(size=500), "b": rng.normal(size=500)}
        >>> model = StreamModel(KernelRLSRegressor()).fit(X, 3 * X["a"] - X["b"])
        >>> why = model.explain({"a": 1.0, "b": 1.0})
        >>> {name: round(value, 1) for name, value in why.contributions.items()}
        {'a': 3.1, 'b': -1.0}
        >>> round(abs(why.base + sum(why.contributions.values()) - why.score), 9)
        0.0

        Notes
        -----
        Source: Štrumbelj & Kononenko 2014.
        """
        X = over(self, row, as_dense)
        if len(X) != 1:
            raise DataError(f"one row is explained at a time; got {len(X)} rows")
        values: dict[str, Any] = {}
        if are_dicts(row) and self.encoder is not None:
            one: Any = row[0] if isinstance(row, (list, tuple)) else row
            values = {str(k): value for k, value in one.items() if str(k) in self.encoder.kinds}
        return explained(self, X, values)

    def predict_one(self, row: Mapping[str, object]) -> Any:
        """Predict one row by itself, as `predict` does; a label, or a value in its own units.

        ``row``: its values by the names of the columns.
        """
        encoder, found = self.encoder, None
        if encoder is not None:
            found = self._one_row.features(row, encoder, self.settings, self.keys)
        predicted = self.predict(row) if found is None else self.predict_features(found)
        return _one(predicted).item(0)

    @_where_the_learner_has("predict_proba")
    def predict_proba_one(self, row: Mapping[str, object]) -> dict[Any, float]:
        """Probability of each class for one row, by label; see `predict_proba`."""
        shares = _one(self.predict_proba(row))[0].tolist()
        return dict(zip(self.classes_.tolist(), shares, strict=True))

    def learn_one(self, row: Mapping[str, object], y: object = None) -> Any:
        """Predict one row from the rows before it, then learn it.

        ``row``: its values by the names of the columns; new ones widen the model. ``y``: the
        target, if it is not in the row. Returns what was predicted; None if the row has no target
        and was left out. DataError, as of `partial_fit`: the row was not learned.
        """
        predicted = self.predict_then_learn(row, None if y is None else [y])
        return predicted.item(0) if len(predicted) else None

    def open(
        self,
        X: object,
        y: object = None,
        *,
        target: str | None = None,
        group: str | None = None,
        time: str | None = None,
        block_rows: int = Reading.block_rows,
    ) -> Stream:
        """Open rows as a stream to learn from, read as this model reads them; see `partial_fit`.

        The model gets the stream's new columns by `adopt`. ``time``: a column to pass on as
        `Block.times`. ``block_rows``: rows per block; 1: each row is also read by itself, as where
        rows come one by one (``by_row`` of `onkel.open_stream`).
        """
        more = {"time": time, "block_rows": block_rows, "by_row": block_rows == 1}
        return any_rows.opened(self, X, y, target, group, **more)

    def adopt(self, stream: Stream) -> None:
        """From now on read rows as a stream of `open` does, with the columns it has by now."""
        any_rows.adopt(self, stream)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; `onkel.load` reads it.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onkel``.
        """
        persistence.save(self, path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes; :func:`onkel.from_bytes` reads it."""
        return persistence.to_bytes(self)

    @locked
    def export_onnx(
        self, path: str | os.PathLike[str], *, values: Mapping[str, Collection[str]] | None = None
    ) -> None:
        """Write the model as an ONNX graph, for runtimes without Python.

        The graph has an input (n, 1) for each column, by its name: text without surrounding blanks;
        numbers as float64, NaN where missing; times as float64 seconds since 1970 in UTC. A model
        of unnamed columns takes ``X`` (n, d). The graph outputs ``prediction`` (n,), as `predict`,
        and for a classifier ``decision`` and ``probabilities``. It does not learn, has no memory,
        and refuses no value: a missing one that `predict` would refuse gives NaN. See
        docs/guide/export.md.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onnx``. An existing file is replaced.
        values : dict of str to list of str, optional
            For columns with more values than ``max_categories``: the texts to expect. The graph
            knows these and the first ones; any other is treated as never learned.

        Raises
        ------
        ImportError
            The package onnx is missing: ``pip install 'onkel[onnx]'``.
        ExportError
            A part of the model cannot be written as a graph; the error says which and why.
        ModelFileError
            The folder does not exist or cannot be written.
        """
        from onkel.pipeline.exporting import export

        export(self, path, values)


def _one(predictions: np.ndarray) -> np.ndarray:
    """Predictions, which must be those of one row."""
    if len(predictions) != 1:
        raise DataError(f"one row is expected, a dict of its values; got {len(predictions)} rows")
    return predictions
