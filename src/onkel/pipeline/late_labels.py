"""Labels that come late: predicted rows wait for theirs and are found by id."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from onkel import persistence
from onkel.annotations import Row
from onkel.columns.failures import count
from onkel.errors import DataError
from onkel.fields import Fields, State, Whole
from onkel.learners.checking import by_group
from onkel.learners.predictions import Forecast
from onkel.model.transaction import copied_whole, locked, state_whole
from onkel.numerics.signals import signals_wait
from onkel.persistence.contents import Model
from onkel.pipeline.forecasts import judging_forecasts, sets_now, way_now
from onkel.pipeline.given_row import copied, with_gaps, without_new_columns
from onkel.pipeline.label_queue import LabelQueue, Waiting
from onkel.pipeline.statistics import is_fitted
from onkel.pipeline.stream_model import StreamModel
from onkel.state import Made, Stateful


class LateLabels(Stateful):
    """A model whose labels come later than its rows, each with the row's id.

    `predict` predicts a row at once and keeps it. `learn` learns it when its label comes; labels
    may come in any order. A learner with a memory also uses the labels so far, the less the more
    rows (of the group) still wait.

    `save` writes the model and the waiting rows; `onkel.load` restores both.

    Use it where rows and labels are two streams: orders and returns, forecasts and readings. If
    the labels of a table are late by a fixed number of rows or a fixed time, use
    ``prequential(..., delay=...)``.

    Parameters
    ----------
    model : StreamModel or estimator
        Learned in place.
    most : int, default=100_000
        Rows ≥ 1 that may wait. If more come, the oldest is forgotten and counted.

    Attributes
    ----------
    n_waiting : int
        Rows whose labels are still to come.
    n_forgotten : int
        Rows that were forgotten before their labels came.

    Raises
    ------
    TypeError
        ``model`` is neither a StreamModel nor an estimator of onkel.
    ValueError
        ``most`` is not a whole number of at least 1.
    DataError
        In `predict` and `learn`: a row or a label is bad, or an id waits already or not at all. The
        model and the waiting rows stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import LateLabels, OnlineKernelRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = LateLabels(OnlineKernelRegressor(n_components=20, speed="fast"))
    >>> errors = []
    >>> for t in range(300):
    ...     _ = model.predict(f"order {t}", X[t])
    ...     if t >= 5:  # the label comes five rows later
    ...         before = model.learn(f"order {t - 5}", y[t - 5])
    ...         if before is not None:  # nothing can be predicted before the first label
    ...             errors.append(abs(before - y[t - 5]))
    >>> print(f"{np.mean(errors[100:]):.3f}")
    0.018
    >>> model.n_waiting
    5
    """

    __deepcopy__ = copied_whole
    __getstate__ = state_whole

    GIVEN: ClassVar[Fields] = {"model": Model(), "most": Whole(low=1)}
    STATE: ClassVar[Fields] = {
        "n_forgotten": Whole(),
        "waiting": Made(LabelQueue),
    }

    def __init__(self, model: Any, most: int = 100_000) -> None:
        if not hasattr(model, "predict_next"):
            raise TypeError(f"model={model!r} must be a StreamModel or an estimator of onkel")
        if not isinstance(most, int | np.integer) or most < 1:
            raise ValueError(f"most={most!r} must be a whole number, at least 1")
        self.model: Any = model
        self.most: int = int(most)
        self.n_forgotten: int = 0
        #: the rows whose labels are still to come
        self.waiting: LabelQueue = LabelQueue()

    @property
    def n_waiting(self) -> int:
        """Rows whose labels are still to come."""
        return len(self.waiting)

    def __contains__(self, id: Hashable) -> bool:
        """Whether the row of an id waits."""
        return id in self.waiting

    @property
    def oldest(self) -> Hashable:
        """The id of the row that has waited longest; None if none waits."""
        return self.waiting.oldest()

    @locked
    def predict(self, id: Hashable, x: object, group: Hashable = None, *, keep: bool = True) -> Any:
        """Predict one row, and keep it until its label comes.

        Parameters
        ----------
        id : str, number or time
            Names the row; its label comes with the same id.
        x : dict, or array of shape (d,)
            The row; a copy is kept. Give a dict to a `StreamModel` of a table. Columns that the
            model never had are learned with the label; they don't move the prediction.
        group : str or number, optional
            The series the row belongs to, for an estimator that learns by group. A `StreamModel`
            reads it from its group column.
        keep : bool, default=True
            False: predict only; no label of this row is to come.

        Returns
        -------
        str, int or float
            The label or value. Before the first learned row: None.

        Raises
        ------
        DataError
            A row with this id already waits, no model file could hold the id, or the row is bad.
            It is not kept.
        """
        found = self.forecast(id, x, group, keep=keep)
        return None if found is None else found.predictions.item(0)

    @locked
    def forecast(
        self, id: Hashable, x: object, group: Hashable = None, *, keep: bool = True
    ) -> Forecast | None:
        """As `predict`, with the probabilities (1, n_classes) of a classifier that has them."""
        self.waiting.check_new(id)
        x, group = self._row(x, group)
        found: Forecast | None = self._asked(x, group, "forecast_next")
        if keep:
            predicted = None if found is None else found.predictions.item(0)
            sets = sets_now(self.model, found)
            own = None if sets is None else sets[0]
            row = Waiting(x, group, predicted, way=way_now(self.model), sets=own)
            with signals_wait:
                while len(self.waiting) >= self.most:
                    self.waiting.forget_oldest()
                    self.n_forgotten += 1
                self.waiting.add(id, row)
        return found

    @locked
    def forecast_all(self, ids: Sequence[Hashable], rows: Sequence[Row]) -> Forecast:
        """Predict rows of a `StreamModel` in order, as one block, and keep them; see `forecast`.

        There must be room for all of them, none may belong to a group, and the model has learned.

        Raises
        ------
        DataError
            As from `predict`. Then no row is kept.
        """
        if self.n_waiting + len(rows) > self.most:
            raise DataError(f"{len(rows):,} rows are more than wait: most={self.most:,}")
        seen: set[Hashable] = set()
        for id in ids:
            self.waiting.check_new(id)
            if id in seen:
                raise DataError(f"id {id!r}: comes twice among these rows")
            seen.add(id)
        model, ahead = self.model, self.waiting.ahead(None)
        known = [without_new_columns(x, model) for x in rows]
        found: Forecast = model.forecast_next(known, ahead)
        sets, way, predicted = sets_now(model, found), way_now(model), found.predictions.tolist()
        with signals_wait:
            for k, (id, x) in enumerate(zip(ids, rows, strict=True)):
                own = None if sets is None else sets[k]
                self.waiting.add(id, Waiting(dict(x), None, predicted[k], way=way, sets=own))
        return found

    @locked
    def predict_proba(self, x: object, group: Hashable = None) -> np.ndarray | None:
        """Class probabilities (n_classes,) of a row that comes next, which is not kept.

        They belong to the classes of the model so far. Before the first learned row: None.
        """
        found = self._asked(*self._row(x, group), "predict_proba_next")
        return None if found is None else found[0]

    @locked
    def predict_interval(
        self, x: object, level: float = 0.9, group: Hashable = None
    ) -> np.ndarray | None:
        """Bounds (2,) of a row that comes next, which is not kept.

        Each label that comes moves them, by the error of what was predicted when its row came. See
        `StreamModel.predict_interval_next`. Before the first learned row: None.
        """
        found = self._asked(*self._row(x, group), "predict_interval_next", level)
        return None if found is None else found[0]

    @locked
    def predict_set(
        self, x: object, level: float = 0.9, group: Hashable = None
    ) -> np.ndarray | None:
        """Which labels (n_classes,) a set has, of a row that comes next, which is not kept.

        Each label that comes moves its threshold, by the set of when its row came. See
        `StreamModel.predict_set_next`. Before the first learned row: None.
        """
        found = self._asked(*self._row(x, group), "predict_set_next", level)
        return None if found is None else found[0]

    def _asked(self, x: Any, group: Hashable, method: str, *args: float) -> Any:
        """What the model's method says of a row (1, ...); None before the first learned row."""
        model, learner, more = self.model, self.model, {}
        if isinstance(model, StreamModel):
            x, learner = without_new_columns(x, model), model.estimator
        else:
            more = by_group(model, None if group is None else [group])
        if not is_fitted(learner):
            return None
        return getattr(model, method)(x, *args, self.waiting.ahead(group), **more)

    @locked
    def learn(self, id: Hashable, y: object) -> Any:
        """Learn the row of an id, now that its label has come.

        Returns
        -------
        str, int or float
            The prediction made for the row; compare it with ``y`` for an honest score. None if
            the row came before the first label.

        Raises
        ------
        DataError
            No row with this id waits. Or the label is bad; then the row keeps waiting.
        """
        row = self.waiting.get(id)
        if row is None:
            raise DataError(
                f"id {id!r}: no row with this id waits for a label: it was never predicted, has "
                f"been learned, or was forgotten ({self.n_forgotten:,} of more than "
                f"most={self.most:,} rows were)"
            )
        model = self.model
        # a row that is learned waits no more, whenever a signal comes
        with signals_wait:
            with judging_forecasts(model, [row]):
                model.partial_fit(
                    with_gaps(row.x, model),
                    [y],
                    **by_group(model, None if row.group is None else [row.group]),
                )
            self.waiting.pop(id)
        return row.predicted

    @locked
    def learn_all(self, ids: Sequence[Hashable], y: Sequence[object]) -> None:
        """Learn the rows of ids, which are dicts, in this order and as one block; see `learn`.

        Raises
        ------
        DataError
            As from `learn`. The rows before the bad one are learned and wait no more.
        """
        rows = [self.waiting.get(id) for id in ids]
        if None in rows or len(set(ids)) < len(ids):
            raise DataError("each id must be that of a row that waits, and come once")
        if isinstance(self.model, StreamModel) and self.model.settings.get("missing") == "skip":
            # some of a block may be dropped, and it would not be known which were learned
            for id, label in zip(ids, y, strict=True):
                self.learn(id, label)
            return
        before = self.model.n_rows
        waiting = [row for row in rows if row is not None]
        with signals_wait:
            try:
                with judging_forecasts(self.model, waiting):
                    given = [with_gaps(row.x, self.model) for row in waiting]
                    self.model.partial_fit(given, list(y))
            finally:
                for id in ids[: self.model.n_rows - before]:
                    self.waiting.pop(id)

    def prediction(self, id: Hashable) -> Any:
        """What was predicted for the row of an id that waits; None if none waits."""
        row = self.waiting.get(id)
        return None if row is None else row.predicted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and the rows that wait to one file; `onkel.load` reads it.

        Parameters
        ----------
        path : path-like
            Usually ending in ``.onkel``.

        Raises
        ------
        TypeError
            A value of a row is neither text, a number, a time nor None. The error names it, and
            nothing is written.
        """
        persistence.save(self, path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes; :func:`onkel.from_bytes` reads it."""
        return persistence.to_bytes(self)

    @locked
    def get_state(self) -> State:
        """The model and the rows that wait, as nested dicts of arrays and scalars: a copy."""
        return super().get_state()

    def _row(self, x: Any, group: Hashable) -> tuple[Any, Any]:
        """A copy of a row, and its group."""
        x = copied(x, self.model)
        if group is None and isinstance(x, dict):
            group = x.get(self.model.settings.get("group"))
        return x, group

    def __repr__(self) -> str:
        return f"<LateLabels: {count(self.n_waiting, 'row')} waiting; {self.model!r}>"
