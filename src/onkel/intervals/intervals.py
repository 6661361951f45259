"""Prediction intervals around any model's forecasts, with a coverage that feedback keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.fields import Array, Fields, Flag, Number, Sizes, State, require
from onkel.intervals import tracking
from onkel.intervals.levels import between, checked_levels
from onkel.parameters import is_number
from onkel.state import Stateful

#: larger forecasts or targets are refused: the square of an error must be finite
LARGEST = 1e150


class Intervals(Stateful):
    """Bounds around forecasts that cover a share ``level`` of the targets, whatever happens.

    With a forecast p, the bias c and the deviation d of recent errors: bounds p + c ± q·d. When the
    target y comes, s = |y - p - c|/d and q ← q + η(1[s > q] - α), α = 1 - level. A miss widens the
    bounds, a hit narrows them. So for a constant η, in every window of m rows,
    |misses/m - α| ≤ (max q - min q)/(ηm): this needs no assumption on the stream or the model. By
    default η is 1/20 of the largest score of the last 300 rows, or down to a third of that where
    smaller steps have done better. See :mod:`onkel.intervals.tracking`.

    Use it for one-step forecasts of any model whose targets come back: the width follows changes of
    the model and of the stream. Do not use it where labels never come: then the bounds stay as they
    are. It promises the share over a stretch of rows, not for each kind of row.

    Parameters
    ----------
    level : float or sequence of floats, default=0.9
        In (0, 1): the share of targets inside the bounds. Several levels, in growing order, are
        nested: the bounds of a higher one are never inside those of a lower one.
    low, high : float, optional
        What the target can be; bounds never leave this range. Without ``low``: 0 as long as no
        target was negative. Give ``low=-math.inf`` to switch that off. It can cost at most one row
        of coverage, that of the first negative target.
    local : bool, default=True
        Whether bias and width follow the last errors, which is right for the row that comes next.
        False: for rows that stand alone, whose errors say nothing about the last ones; then the
        forecast is in the middle.
    step : float, optional
        A constant η > 0, in units of the scores, for the theorem above in full; by default η adapts
        to the scores.

    Attributes
    ----------
    q_ : ndarray of shape (L,)
        The tracked quantile of the scores, by level.

    Raises
    ------
    DataError
        In `learn`, at the first row that is not finite; the rows before it are learned.

    Notes
    -----
    Before the first row nothing is known: the bounds are -inf and inf, or the target's range.

    Source: Angelopoulos, Candès & Tibshirani 2023, arXiv:2307.16895 (quantile tracking). The
    scale d and the bias c are ours; docs/results/intervals.md shows what they bring.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import Intervals
    >>> rng = np.random.default_rng(0)
    >>> forecasts, noise = np.sin(np.arange(5000) / 50), rng.standard_normal(5000)
    >>> y = forecasts + np.where(np.arange(5000) < 2500, 0.1, 1.0) * noise
    >>> intervals = Intervals(0.9)
    >>> before = intervals.learn(forecasts, y)  # the bounds of each row before its y was learned
    >>> inside = (before[:, 0] <= y) & (y <= before[:, 1])
    >>> print(f"{inside.mean():.3f} {inside[2500:3000].mean():.3f}")
    0.902 0.890
    >>> intervals.bounds(0.5).round(1)
    array([-1.4,  2.4])
    """

    STATE: ClassVar[Fields] = {
        "levels": Array(shape=("levels",), low=1e-9, high=1.0 - 1e-9),
        "one_level": Flag(),
        "local": Flag(),
        "step": Number(low=0.0),
        "known_": Array(shape=(tracking.RECENT,), finite=False),
        "largest_scores_": Array(shape=(tracking.BLOCKS,), low=0.0),
        "deviations_": Array(shape=(6,), low=0.0),
        "losses_": Array(shape=(3,), low=0.0),
        "errors_": Array(shape=(4,)),
        "q_": Array(shape=("levels",)),
        # a file of before has none: then the trial begins anew
        "trial_": Array(shape=(3,), low=0.0, optional=True),
        "tries_": Array(shape=(2, "levels"), optional=True),
        "between_": Array(shape=(1,), low=0.0, optional=True),
    }
    known_: np.ndarray
    largest_scores_: np.ndarray
    deviations_: np.ndarray
    losses_: np.ndarray
    errors_: np.ndarray
    q_: np.ndarray
    trial_: np.ndarray
    tries_: np.ndarray
    between_: np.ndarray
    levels: np.ndarray
    one_level: bool
    numbers: np.ndarray

    def __init__(
        self,
        level: float | Sequence[float] = 0.9,
        *,
        low: float | None = None,
        high: float | None = None,
        local: bool = True,
        step: float | None = None,
    ) -> None:
        self.levels, self.one_level = checked_levels(level)
        if low is not None and high is not None and not low < high:
            raise ValueError(f"low={low!r} must be below high={high!r}")
        if step is not None and not (is_number(step) and 0.0 < step < np.inf):
            raise ValueError(f"step={step!r} must be a positive number")
        self.local: bool = bool(local)
        self.step: float = 0.0 if step is None else float(step)
        self._share(tracking.begun(1.0 - self.levels, low, high))

    def __repr__(self) -> str:
        return f"Intervals({self.level!r}, n_rows={self.n_rows})"

    @property
    def level(self) -> float | list[float]:
        """The level, or the levels."""
        return float(self.levels[0]) if self.one_level else self.levels.tolist()

    def bounds(self, prediction: ArrayLike, level: float | None = None) -> np.ndarray:
        """Bounds around forecasts, each as if its row came next; learns nothing.

        A number gives (2,), an array (n,) gives (n, 2): lower and upper bounds. With several levels
        they are (L, 2) or (n, L, 2), unless another ``level`` is given: its q is read between those
        that are tracked.
        """
        p = np.asarray(prediction, dtype=np.float64)
        rows, L = np.ascontiguousarray(np.atleast_1d(p)), len(self.levels)
        q = self.numbers[tracking.Q + L : tracking.Q + 2 * L]
        if level is not None:
            q = between(self.levels, q, level)
        out = np.empty((len(rows), len(q), 2))
        tracking.bound_rows(self.numbers, q, rows, out)
        out = out[:, 0] if self.one_level or level is not None else out
        return out[0] if p.ndim == 0 else out

    def learn(self, prediction: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Learn forecasts and what came, row by row; how rows are cut into calls has no effect.

        Both are numbers or arrays (n,); each forecast was made before its target was known. Returns
        the bounds of each row before it was learned, in the shape of `bounds`.
        """
        if isinstance(prediction, float) and isinstance(y, float):
            return self._learn_row(prediction, y)
        p, y = (np.asarray(a, dtype=np.float64) for a in (prediction, y))
        if p.shape != y.shape or p.ndim > 1:
            raise ValueError(
                f"prediction and y must be two numbers or two arrays of shape (n,), not of shapes "
                f"{p.shape} and {y.shape}"
            )
        alone = p.ndim == 0
        p, y = (np.ascontiguousarray(np.atleast_1d(a)) for a in (p, y))
        # NaN is not below the limit
        good = (np.abs(p) < LARGEST) & (np.abs(y) < LARGEST)
        n = len(p) if good.all() else int(np.argmin(good))
        out = np.empty((n, len(self.levels), 2))
        tracking.track_rows(self.numbers, p[:n], y[:n], out)
        if n < len(p):
            raise _not_finite(n, p[n], y[n])
        out = out[:, 0] if self.one_level else out
        return out[0] if alone else out

    def _learn_row(self, prediction: float, y: float) -> np.ndarray:
        if not (abs(prediction) < LARGEST and abs(y) < LARGEST):
            raise _not_finite(0, prediction, y)
        out = np.empty((1, len(self.levels), 2))
        tracking.track_row(self.numbers, prediction, y, out)
        return out[0, 0] if self.one_level else out[0]

    def way(self) -> np.ndarray:
        """How bounds are made now, (3 + L,): rows learned, d, the bias, the q of each level."""
        way = np.empty(tracking.THEN_Q + len(self.levels))
        tracking.way_now(self.numbers, way)
        return way

    def learn_late(self, predictions: np.ndarray, y: np.ndarray, ways: np.ndarray) -> None:
        """Learn finite targets (n,) that come later than the forecasts (n,) of other rows.

        ``ways`` (n, 3 + L): the `way` of each when it was predicted; the bounds of then are judged.
        Where it is inf, those of now are.
        """
        tracking.learn_late_rows(self.numbers, predictions, y, ways)

    def take_in(self, other: Intervals, since: Intervals | None = None) -> None:
        """Merge with bounds learned apart, for the merged model: it starts from the wider ones.

        How the merged model errs is not known before its first row. So each q and the largest
        scores become the larger ones, and the means of errors are joined by their weights. From
        then on feedback moves the bounds. ``since``: the bounds that both went on from; their rows
        count once. ValueError: the levels or the kinds of bounds differ.
        """
        mine, other_kind = ([*of.levels.tolist(), of.local, of.step] for of in (self, other))
        if mine != other_kind:
            raise ValueError(f"intervals cannot be merged: they differ, {self!r} and {other!r}")
        known = 0 if since is None else since.n_rows
        rows, its_rows = self.n_rows - known, other.n_rows - known
        if not its_rows:
            return
        if self.deviation < other.deviation:
            self.deviations_[:], self.losses_[:] = other.deviations_, other.losses_
        self.errors_ += its_rows / (rows + its_rows) * (other.errors_ - self.errors_)
        np.maximum(self.largest_scores_, other.largest_scores_, out=self.largest_scores_)
        np.maximum(self.q_, other.q_, out=self.q_)
        for name in ("trial_", "tries_", "between_"):
            np.maximum(vars(self)[name], vars(other)[name], out=vars(self)[name])
        tracking.put_in_order(self.numbers, len(self.levels))
        self.known_[tracking.LEAST] = min(self.known_[tracking.LEAST], other.known_[tracking.LEAST])
        self.known_[tracking.N_ROWS] += its_rows

    @property
    def n_rows(self) -> int:
        """Rows learned."""
        return int(self.numbers[tracking.N_ROWS])

    @property
    def deviation(self) -> float:
        """The deviation d of the next row."""
        return float(tracking.deviation(self.numbers))

    # ---- the state: pieces of one array ----------------------------------------------------------

    def _share(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Keep the numbers in one array, which compiled loops take, and name its pieces."""
        numbers[tracking.CONSTANT] = self.step
        numbers[tracking.APART] = not self.local
        return self._name_pieces(numbers)

    def _name_pieces(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        L = len(self.levels)
        pieces = {
            name: numbers[first:last]
            for name, first, last in (
                ("known_", 0, tracking.RECENT),
                ("largest_scores_", tracking.RECENT, tracking.SUMS),
                ("deviations_", tracking.SUMS, tracking.LOSSES),
                ("losses_", tracking.LOSSES, tracking.ERRORS),
                ("errors_", tracking.ERRORS, tracking.CONSTANT),
                ("trial_", tracking.TRIAL, tracking.BETWEEN),
                ("between_", tracking.BETWEEN, tracking.Q),
                ("q_", tracking.Q, tracking.Q + L),
            )
        }
        pieces["tries_"] = numbers[tracking.Q + 3 * L :].reshape(2, L)
        self.__dict__.update(pieces, numbers=numbers)
        return pieces

    def __setstate__(self, state: State) -> None:
        # in a copy the pieces are arrays of their own
        self.__dict__.update(state)
        self._name_pieces(self.numbers)

    def check_state(self, state: State, sizes: Sizes) -> None:
        levels, known = state["levels"], state["known"].tolist()
        rows, low, high, _, auto = known
        require(len(levels) and np.all(np.diff(levels) > 0.0), "levels: are not in growing order")
        require(len(levels) == 1 or not state["one_level"], "one_level: there are several levels")
        whole = rows >= 0.0 and rows == np.floor(rows) and np.isfinite(rows)
        require(whole and auto in (0.0, 1.0), "known: does not begin with a number of rows")
        require(low < high, "known: holds a range of targets whose ends are not in order")
        learned = np.all(state["deviations"][3:] > 0.0) and state["errors"][2] > 0.0
        require(learned or rows == 0.0, "deviations: have no weight after rows were learned")
        part = state["trial"][2] if "trial" in state else 1.0
        require(0.0 < part <= 1.0, "trial: a part of a step must be above 0 and at most 1")

    def state_is_set(self) -> None:
        kept = dict(self.__dict__)
        for name, piece in self._share(tracking.begun(1.0 - self.levels, None, None)).items():
            if kept[name] is not None:
                piece[:] = kept[name]
        tracking.put_in_order(self.numbers, len(self.levels))


def _not_finite(row: int, prediction: float, y: float) -> DataError:
    good = abs(prediction) < LARGEST
    what, value = ("target", float(y)) if good else ("prediction", float(prediction))
    text = f"{what} {value!r}: must be finite and below {LARGEST:g}"
    return DataError(text, row=row, value=value)
