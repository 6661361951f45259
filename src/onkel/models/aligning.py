"""Aligned features online: rows are summed up with their labels, features change on a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onkel._workspace import scratch

if TYPE_CHECKING:
    from onkel.maps.aligned import AlignedFourier
    from onkel.models.explicit import ExplicitModel

__all__ = ["carry", "learn"]


def learn(model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> int:
    """Learn rows while the map aligns itself with their labels. Returns the rows done."""
    m: AlignedFourier = model.map  # type: ignore[assignment]
    done, n, most = 0, X.shape[0], m.rows_at_once()
    while done < n and m.aligns:
        # a solution falls on a number of rows, never on the end of a block
        due = m.rows_to_solution()
        counted = np.flatnonzero(weight[done : done + most] > 0.0)
        reached = counted.size >= due
        stop = done + int(counted[due - 1]) + 1 if reached else min(done + most, n)
        _learn_part(model, X[done:stop], y[done:stop], weight[done:stop], P[done:stop])
        if reached:
            carry(model, *m.solve())
        done = stop
    return done


def _learn_part(
    model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray
) -> None:
    """Learn rows over the features used, and sum up those of all candidates."""
    m: AlignedFourier = model.map  # type: ignore[assignment]
    phi = m.candidate_features(X)
    Z = scratch("features", (len(phi), m.n_features_out_), m.dtype_)
    model.learn_features(m.features_of_candidates(phi, Z), y, weight, P)
    m.sums_.add(phi, model.targets(y), weight)


def carry(model: ExplicitModel, old: np.ndarray, factor: np.ndarray) -> None:
    """Take f over to features of which j is ``factor[j]`` times the former ``old[j]``, or new."""
    if model.matrix is not None:
        # exact for those that stay; one that is new (factor 0) was 0 on all rows so far
        T = np.zeros((len(old), model.W.shape[1]))
        T[np.arange(len(old)), old] = factor
        model.W = model.matrix.change_features(T)
        return
    stays = old >= 0
    inverse = np.where(stays, 1.0 / np.where(stays, factor, 1.0), 0.0)
    model.W = np.ascontiguousarray(model.W[:, old] * inverse, dtype=model.W.dtype)
    if model.H.size:
        # the squares of gradients, which are multiples of the features
        model.H = np.ascontiguousarray(model.H[:, old] * factor**2, dtype=model.H.dtype)
    model.refresh_norm()
