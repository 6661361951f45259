"""The rows of a search: those it learns from and those it is judged by, and what they give.

A search asks three things of its rows at a point: their sums, the gradient of their evidence, and
the errors on those held out. Here they are computed by the processor;
:mod:`onkel.maps.landmarks.on_device` has the same for rows in the memory of a GPU.
"""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.evidence import Landmarks, Sums, cut, sums_in_steps
from onkel.maps.landmarks.gradient import Gradient, gradient_in_steps
from onkel.maps.landmarks.rational import kernel_columns

#: the least λ of a search: while rows come, the next ones are less like those that are held out at
#: random than these are like the others, and a smaller λ would trust the others too far
LEAST_RIDGE = 1e-3


class Rows(NamedTuple):
    """X (n, d), Y (n, C), weight (n,)."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray

    @property
    def root(self) -> np.ndarray:
        """√weight (n, 1); (0, 1) where all are 1."""
        if (self.weight == 1.0).all():
            return np.empty((0, 1))
        return np.sqrt(self.weight)[:, None]

    def chosen(self, rows: np.ndarray | slice) -> Rows:
        """These rows."""
        return Rows(*(part[rows] for part in self))

    def first(self, n: int, dtype: DTypeLike) -> Rows:
        """The first n rows, in this precision."""
        return Rows(*(part[:n].astype(dtype, copy=False) for part in self))

    @property
    def of_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, Y and √weight."""
        return self.X, self.Y, self.root


class Searched(Protocol):
    """What a search asks of its rows, for m landmarks."""

    @property
    def n(self) -> int:
        """Rows to learn from."""

    @property
    def judging_weight(self) -> np.ndarray:
        """Weights (k,) of the rows held out."""

    @property
    def least_ridge(self) -> float:
        """The least λ that is tried."""

    def few(self, learn: int, judge: int, m: int, dtype: DTypeLike) -> Self:
        """The first so many rows, for m landmarks, in this precision."""

    def parts(self, number: int) -> list[Self]:
        """The rows to learn from in so many parts: the gradient of each stands for that of all."""

    def sums(self, at: Landmarks) -> Generator[bool, None, Sums]:
        """The sums at a point."""

    def gradient(
        self, at: Landmarks, sums: Sums, every: int, first: int, factor: np.ndarray | None
    ) -> Generator[bool, None, Gradient]:
        """The gradient there; see :func:`onkel.maps.landmarks.gradient.gradient_in_steps`."""

    def residual_squares(self, sums: Sums, alpha: np.ndarray) -> np.ndarray:
        """Weighted squared errors (n,) of the rows to learn from, with α (m, C)."""

    def features(self, sums: Sums, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Some of these rows (k, d), and their κ(X, S) (k, m)."""

    def judging(self, at: Landmarks) -> Any:
        """κ(X, S) of the rows held out."""

    def squares(self, K: Any, alpha: np.ndarray) -> np.ndarray:
        """Their squared errors (k,), with K of :meth:`judging` and α (m, C)."""


class SearchedRows:
    """The rows of a search in the main memory, for m landmarks."""

    def __init__(self, learn: Rows, judge: Rows, m: int, least_ridge: float = LEAST_RIDGE) -> None:
        self._learn, self._judge = learn, judge
        self.least_ridge: float = least_ridge
        self._of_sums = learn.of_sums
        self._room = np.empty((len(learn.X), m), learn.X.dtype)
        # which part of all rows they are
        self._share = 1.0

    @property
    def n(self) -> int:
        return len(self._learn.X)

    @property
    def judging_weight(self) -> np.ndarray:
        return self._judge.weight

    def few(self, learn: int, judge: int, m: int, dtype: DTypeLike) -> SearchedRows:
        learn_from, judge_by = self._learn.first(learn, dtype), self._judge.first(judge, dtype)
        return SearchedRows(learn_from, judge_by, m, self.least_ridge)

    def parts(self, number: int) -> list[SearchedRows]:
        return [self._part(rows) for rows in cut(0, self.n, number)]

    def _part(self, rows: slice) -> SearchedRows:
        """Some of the rows, in the same memory."""
        part = copy.copy(self)
        part._learn, part._room = self._learn.chosen(rows), self._room[rows]
        part._of_sums = part._learn.of_sums
        part._share = part.n / self.n
        return part

    def sums(self, at: Landmarks) -> Generator[bool, None, Sums]:
        return sums_in_steps(at, *self._of_sums, self._room)

    def gradient(
        self, at: Landmarks, sums: Sums, every: int, first: int, factor: np.ndarray | None
    ) -> Generator[bool, None, Gradient]:
        return gradient_in_steps(at, sums, *self._of_sums, every, first, factor, self._share)

    def residual_squares(self, sums: Sums, alpha: np.ndarray) -> np.ndarray:
        residual = self._learn.Y - sums.K @ alpha.astype(sums.K.dtype)
        return np.asarray((residual.astype(np.float64) ** 2).sum(axis=1) * self._learn.weight)

    def features(self, sums: Sums, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._learn.X[chosen], sums.K[chosen]

    def judging(self, at: Landmarks) -> np.ndarray:
        return kernel_columns(self._judge.X, at.S, np.exp(at.log_width))

    def squares(self, K: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        residual = self._judge.Y - K @ alpha.astype(K.dtype)
        return np.asarray(np.mean(residual**2, axis=1))
