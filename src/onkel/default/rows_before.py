"""Rows of models that were replaced, kept for the last fit.

A model that takes over after a change knows the rows since it began. That is right for the next
rows, whose labels then follow. A frozen model is asked for rows of a long time without labels, and
what was learned before the change may tell more about them than the few rows since. So some rows of
the models before are kept, drawn at random.

Earlier changes say whether the last fit learns them. The model that predicts began k rows ago. So
for each earlier change the question is what predicted the rows better that followed k rows after
it: least squares on all rows so far, or on those k alone. After a change to something else the k
rows do; where a stream moves from one part of its columns to the next, all rows do. Before a first
change there is none, so the rows since it are asked: whether all rows before their second half
predict it better than their first half does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Self

import numpy as np
from scipy.linalg import solve

from onkel.annotations import DTypeLike
from onkel.fields import Array, Fields
from onkel.model.warmup import NumberedRows, Warmup
from onkel.numerics.arrays import targets_of

# Changes that are remembered, and those that are asked.
_MOST_CHANGES, _ASKED = 64, 4
# The rows that followed are those of so large a part of the rows so far; fewer rows say nothing.
_FOLLOWING, _FEWEST = 0.25, 64
_AT_ONCE = 1024


class RowsBefore(NumberedRows):
    """Rows in order, their numbers in the stream, and where each model that took over began."""

    def __init__(self, d: int, dtype: DTypeLike) -> None:
        super().__init__(d, dtype)
        self.begins: np.ndarray = np.empty(0, np.int64)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # no array is ever written to: a model and the snapshot of it share them
        copied = copy.copy(self)
        copied._held = dict(self._held)
        return copied

    @property
    def _begun(self) -> int:
        """Where the model that predicts began."""
        return int(self.begins[-1]) if len(self.begins) else 0

    def followed(self, kept: Warmup | None, began: int, size: int, seed: int) -> Self:
        """These rows and those ``kept`` by a model, which one replaces that ``began`` then."""
        new = type(self)(self.X.shape[1], self.X.dtype)
        new._held = self._held if kept is None else self._with(kept, began - self._begun)
        new.count = len(new._held["y"])
        new._draw(size, seed)
        new.begins = np.append(self.begins, began)[-_MOST_CHANGES:]
        return new

    def and_own(self, own: Warmup, seed: int) -> Warmup:
        """These rows and those since, as rows that a model keeps: no more than it might keep."""
        both = type(self)(own.X.shape[1], own.X.dtype)
        both._held, both.count = self._with(own, own.count), self.count + own.count
        both._draw(own.n_rows, seed)
        all_rows = Warmup(both.count + 1, both.X.shape[1], both.X.dtype)
        all_rows.keep(both.X, both.y, both.weight)
        return all_rows

    def _with(self, kept: Warmup, n: int) -> dict[str, np.ndarray]:
        """The columns of these rows and of the first n that are kept."""
        X, y, weight = (part[:n] for part in kept.rows())
        more = {"X": X, "y": y, "weight": weight, "born": self._begun + np.arange(len(y))}
        return {
            name: np.concatenate([held[: self.count], more[name]])
            for name, held in self._held.items()
        }

    def _draw(self, size: int, seed: int) -> None:
        """Keep at most ``size`` rows."""
        if self.count > size:
            rng = np.random.default_rng([seed, len(self.begins), 3])
            drawn = np.sort(rng.choice(self.count, size, replace=False))
            self._held = {name: held[drawn] for name, held in self._held.items()}
            self.count = size

    def tell(
        self,
        own: Warmup,
        features: Callable[[np.ndarray], np.ndarray],
        penalty: np.ndarray,
        n_outputs: int,
    ) -> bool:
        """Whether rows from before a change have told more about those long after it.

        After a first change: about the last half of those since. ``own``: the rows since the last
        change. By least squares over ``features`` with a ``penalty`` (m, m); all rows must be
        better by a standard error.
        """
        X, y, weight, born = self._with(own, own.count).values()
        of, n_own = (X, targets_of(y, n_outputs), weight), own.count
        far, gains = int(_FOLLOWING * (self._begun + n_own)), [np.zeros(1)]
        asked = [(first, first + n_own) for first in self.begins[-1 - _ASKED : -1]]
        for first, now in asked or [(self._begun, self._begun + n_own // 2)]:
            since = np.flatnonzero((born >= first) & (born < now))
            following = np.flatnonzero((born >= now) & (born < now + far))
            if min(len(since), len(following)) < _FEWEST:
                continue
            sums = _sums(of, since, features)
            of_all = [a + b for a, b in zip(sums, _sums(of, born < first, features), strict=True)]
            alone, both = (solve(R + penalty, b, assume_a="sym") for R, b in (sums, of_all))
            for start in range(0, len(following), _AT_ONCE):
                some = following[start : start + _AT_ONCE]
                Z, Y = features(X[some]), of[1][some]
                squares = [((Z @ coef - Y) ** 2).sum(axis=1) for coef in (alone, both)]
                gains.append(weight[some] * (squares[0] - squares[1]))
        gain = np.concatenate(gains)
        # sums of fourth powers would overflow
        return bool(gain.sum() > math.hypot(*gain.tolist()))

    def state_fields(self) -> Fields:
        return {**super().state_fields(), "begins": Array(np.int64, ("begins",), 0, 2**62)}


def _sums(
    of: tuple[np.ndarray, ...], rows: np.ndarray, features: Callable[[np.ndarray], np.ndarray]
) -> list[np.ndarray]:
    """Σ w z zᵀ and Σ w z yᵀ of some rows."""
    X, Y, weight = (part[rows] for part in of)
    R, b = np.zeros(()), np.zeros(())
    for start in range(0, max(len(X), 1), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        Z = features(X[some])
        weighted = (Z * weight[some, None]).T
        R, b = R + weighted @ Z, b + weighted @ Y[some]
    return [R, b]
