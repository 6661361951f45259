"""The rows of a search in the memory of a device, in array code; see :mod:`.searched`.

The formulas are those of :mod:`onkel.maps.landmarks.evidence` and :mod:`.gradient`, written plainly
over a group of rows at a time. What has the size of the rows stays on the device; factors of
matrices (m, m), steps and decisions are made by the processor.
"""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.evidence import Landmarks, Sums, cut, groups, penalty_of
from onkel.maps.landmarks.gradient import Gradient, solved_at, standing_for_all, with_penalty
from onkel.maps.landmarks.rational import ThroughDistances
from onkel.maps.landmarks.searched import LEAST_RIDGE, Rows
from onkel.numerics.devices import Device


def similarities(X: Any, S: np.ndarray, w: np.ndarray, device: Device) -> Any:
    """κ(X, S), (n, m), of rows X (n, d) on the device; S (m, d), and w (d,) or (m, d)."""
    S, w = S.astype(X.dtype), w.astype(X.dtype)
    own = w.ndim == 2
    # in units of each column's largest width, so that squares do not overflow
    unit = w.max(axis=0) if own else w
    B = S * unit
    squares = (w / unit) ** 2 if own else np.ones_like(S)
    A = X * device.put(unit)
    # Σ w² (x - s)², multiplied out
    distances = A @ device.put(-2.0 * (squares * B).T)
    distances += device.put((squares * B * B).sum(axis=1))
    distances += (A * A) @ device.put(squares.T) if own else (A * A).sum(axis=1)[:, None]
    return 1.0 / (1.0 + device.xp.maximum(distances, 0.0))


class RowsOnDevice:
    """As :class:`onkel.maps.landmarks.searched.SearchedRows`, on a device."""

    def __init__(
        self, learn: Rows, judge: Rows, device: Device, least_ridge: float = LEAST_RIDGE
    ) -> None:
        self._learn, self._judge, self._device = learn, judge, device
        self.least_ridge: float = least_ridge
        self.judging_weight: np.ndarray = judge.weight
        self._dtype = learn.X.dtype
        self._X, self._Y = device.put(learn.X), device.put(learn.Y)
        self._root = device.put(np.sqrt(learn.weight)[:, None])
        self._X_judge, self._Y_judge = device.put(judge.X), device.put(judge.Y)
        # which part of all rows they are
        self._share = 1.0
        self._cut(len(learn.X))

    def _cut(self, n: int) -> None:
        self.n: int = n
        self._parts = [part for some in groups(n) for part in some]
        # rows that are summed in their own precision
        self._groups = [slice(some[0].start, some[-1].stop) for some in groups(n)]

    def few(self, learn: int, judge: int, m: int, dtype: DTypeLike) -> RowsOnDevice:
        learn_from, judge_by = self._learn.first(learn, dtype), self._judge.first(judge, dtype)
        return RowsOnDevice(learn_from, judge_by, self._device, self.least_ridge)

    def parts(self, number: int) -> list[RowsOnDevice]:
        return [self._part(rows) for rows in cut(0, self.n, number)]

    def _part(self, rows: slice) -> RowsOnDevice:
        """Some of the rows, where they are."""
        part = copy.copy(self)
        part._learn = self._learn.chosen(rows)
        part._X, part._Y, part._root = self._X[rows], self._Y[rows], self._root[rows]
        part._cut(len(part._learn.X))
        part._share = part.n / self.n
        return part

    def sums(self, at: Landmarks) -> Generator[bool, None, Sums]:
        m, w, take = len(at.S), np.exp(at.log_width), self._device.take
        KK, KY = np.zeros((m, m)), np.zeros((m, self._Y.shape[1]))
        K = similarities(self._X, at.S, w, self._device)
        for group in self._groups:
            root = self._root[group]
            weighted = K[group] * root
            KK += take(weighted.T @ weighted)
            KY += take(weighted.T @ (self._Y[group] * root))
            yield True
        return Sums(K, KK, KY, penalty_of(at.S, w))

    def gradient(
        self, at: Landmarks, sums: Sums, every: int, first: int, factor: np.ndarray | None
    ) -> Generator[bool, None, Gradient]:
        put, take = self._device.put, self._device.take
        at = standing_for_all(at, self._share)
        solved, K0_inv = yield from solved_at(at, sums, factor, self._dtype)
        residuals = self._residuals(sums, solved.alpha)
        squares = float(take((residuals * residuals).sum()))
        noise = self._share * solved.noise(squares, residuals.size)
        sample = np.zeros((self.n, 1), self._dtype)
        for part in self._parts[first::every]:
            sample[part] = 1.0
        of_weights = put(solved.of_weights(self.n, int(sample.sum())))
        of_residuals, sampled = put(solved.of_residuals(noise)), np.flatnonzero(sample)
        through = ThroughDistances(at.S, np.exp(at.log_width))
        for group in self._groups:
            K, root, X = sums.K[group], self._root[group], self._X[group]
            G = (residuals[group] * root) @ of_residuals
            inside = sampled[(sampled >= group.start) & (sampled < group.stop)] - group.start
            if len(inside):
                some = put(inside)
                G[some] += (K[some] * root[some] ** 2) @ of_weights
            G *= -K * K
            through.add(self._through(G, X, at.log_width.ndim == 2))
            yield True
        return with_penalty(through, at, sums, solved, K0_inv, noise)

    def _through(self, G: Any, X: Any, own: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """What rows X (n, d) with ∂E/∂‖·‖² = G (n, m) add to the sums of the derivatives."""
        xp, take = self._device.xp, self._device.take
        ones = xp.ones((len(X), 1), X.dtype)
        if own:
            return take(G.T @ xp.concatenate([ones, X, X * X], axis=1)), None
        return take(G.T @ xp.concatenate([ones, X], axis=1)), take(G.sum(axis=1) @ (X * X))

    def residual_squares(self, sums: Sums, alpha: np.ndarray) -> np.ndarray:
        residuals = self._residuals(sums, alpha)
        return self._device.take((residuals * residuals).sum(axis=1)).astype(np.float64)

    def _residuals(self, sums: Sums, alpha: np.ndarray) -> Any:
        """√weight·(Y - K α), (n, C)."""
        return self._root * (self._Y - sums.K @ self._device.put(alpha, self._dtype))

    def features(self, sums: Sums, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._learn.X[chosen], self._device.take(sums.K[self._device.put(chosen)])

    def judging(self, at: Landmarks) -> Any:
        return similarities(self._X_judge, at.S, np.exp(at.log_width), self._device)

    def squares(self, K: Any, alpha: np.ndarray) -> np.ndarray:
        residual = self._Y_judge - K @ self._device.put(alpha, self._dtype)
        return self._device.take((residual * residual).mean(axis=1))
