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
    alone, ones = np.arange(d), rows == 1.0
    binary = np.flatnonzero((ones | (rows == 0.0)).all(axis=0))
    if len(rows) < _FEWEST_ROWS or len(binary) < 2:
        return alone
    counts = ones[:, binary].sum(axis=0)
    some = np.flatnonzero(counts)
    if not len(some):
        return alone
    # the rows of a column, and those of a group, as bits
    padded = np.zeros((_MOST_ROWS, len(some)), dtype=bool)
    padded[: len(rows)] = ones[:, binary[some]]
    bits = np.ascontiguousarray(np.packbits(padded.T, axis=1)).view(np.uint64)
    taken, covered, n = np.zeros_like(bits), np.zeros(len(some)), 0
    group, largest = np.zeros(len(some), np.int64), np.zeros(len(some), np.int64)
    for j in range(len(some)):
        excluded = ~(taken[:n] & bits[j]).any(axis=1)
        room = np.where(excluded, covered[:n], 0.0)
        g = group[j] = int(room.argmax()) if room.any() else n
        n = max(n, g + 1)
        taken[g] |= bits[j]
        covered[g] += counts[some[j]]
        largest[j] = covered[:n].argmax()
    # a column without ones excludes all: it joins the group that was the largest before it
    before = np.searchsorted(some, np.arange(len(binary)), side="right") - 1
    groups = largest[before]
    groups[some] = group
    full = (before >= 0) & (covered[groups] >= _COVERED * len(rows))
    alone[binary[full]] = d + groups[full]
    return np.asarray(np.unique(alone, return_inverse=True)[1])


def in_groups(groups: np.ndarray) -> np.ndarray:
    """Which columns (d,) share their group with others."""
    return np.asarray(np.bincount(groups)[groups] > 1)


def common_scales(groups: np.ndarray, spread: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Scales (d,) where a group has one, given standard deviations and own scales (d,)."""
    variance = np.maximum(np.bincount(groups, spread**2), _LEAST)
    return np.where(in_groups(groups), np.sqrt(variance / _SHARE)[groups], scale)
