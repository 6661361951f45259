"""Indicators that exclude each other are one column: the values of a category.

A table's text comes as a column of zeros and ones for each of its values. Standardised one by one
they would weigh as much as their number: a category of 60 values as much as 60 numbers, and its
rarest values most. So columns of zeros and ones are taken as a group if at most one of them is 1 in
any row, and one of them is in at least half of the rows. A group has one scale, and one first
width.
"""

from __future__ import annotations

import numpy as np

# Fewer rows have such columns by chance; more need not be looked at.
_FEWEST_ROWS, _MOST_ROWS = 64, 512
_COVERED = 0.5
# The variances of a group add up to this share of a number's; before, their sum counts as at least
# _LEAST, so that a category that hardly varied at first does not explode.
_SHARE, _LEAST = 0.25, 0.5


def groups_of(X: np.ndarray) -> np.ndarray:
    """The group (d,) of each column of rows X (n, d), from 0 on; most are alone.

    A column of zeros and ones joins the group with most ones among those that it excludes.
    """
    rows, d = X[:_MOST_ROWS], X.shape[1]
    groups, alone = np.zeros(d, dtype=np.int64), np.arange(d)
    ones = rows == 1.0
    binary = np.flatnonzero((ones | (rows == 0.0)).all(axis=0))
    if len(rows) < _FEWEST_ROWS or len(binary) < 2:
        return alone
    A = ones[:, binary].astype(np.float32)
    excludes, counts = A.T @ A == 0.0, A.sum(axis=0)
    # which columns each group excludes, and its ones
    allowed, covered = np.zeros(excludes.shape, dtype=bool), np.zeros(len(binary))
    for j in range(len(binary)):
        room = np.where(allowed[:, j], covered, 0.0)
        g = int(room.argmax()) if room.any() else j
        allowed[g] = excludes[j] & (allowed[g] if covered[g] else True)
        covered[g] += counts[j]
        groups[binary[j]] = g
    full = covered[groups[binary]] >= _COVERED * len(rows)
    alone[binary[full]] = d + groups[binary[full]]
    return np.asarray(np.unique(alone, return_inverse=True)[1])


def in_groups(groups: np.ndarray) -> np.ndarray:
    """Which columns (d,) share their group with others."""
    return np.asarray(np.bincount(groups)[groups] > 1)


def common_scales(groups: np.ndarray, spread: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Scales (d,) where a group has one, given standard deviations and own scales (d,)."""
    variance = np.maximum(np.bincount(groups, spread**2), _LEAST)
    return np.where(in_groups(groups), np.sqrt(variance / _SHARE)[groups], scale)
