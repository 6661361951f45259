"""The loops of boosted trees against plain NumPy, on few rows."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.default.tree_loops import choose, find_leaves, find_values

DEPTH, PENALTY = 3, 0.5


def rows(seed, counts=(7, 1, 2, 5), m=50):
    """Bins (d, m) of columns, how many each has, weights and weighted slopes."""
    rng = np.random.default_rng(seed)
    bins = np.array([rng.integers(0, count, m) for count in counts], np.uint8)
    weight = rng.uniform(0.5, 2.0, m)
    return bins, np.array(counts), weight, weight * rng.standard_normal(m)


def chosen(bins, counts, asked, weight, r):
    """Columns and cuts of one tree, and the leaf of each row."""
    columns, cuts = np.full(DEPTH, -1), np.full(DEPTH, 99)
    leaf = np.full(bins.shape[1], 9, np.uint8)
    H = np.full((len(asked), 1 << (DEPTH - 1), counts.max(), 2), np.nan)
    choose(bins, counts, np.array(asked), weight, r, PENALTY, columns, cuts, leaf, H)
    return columns, cuts, leaf


@pytest.mark.parametrize("asked", [[0, 1, 2, 3], [3, 1, 2]])
@pytest.mark.parametrize("seed", range(4))
def test_each_level_asks_the_question_of_the_largest_gain(seed, asked):
    bins, counts, weight, r = rows(seed)
    columns, cuts, found = chosen(bins, counts, asked, weight, r)
    leaf = np.zeros(len(r), int)
    for level, own in enumerate(zip(columns, cuts, strict=True)):
        gains = {}
        for question in ((c, cut) for c in asked for cut in range(counts[c] - 1)):
            after = leaf + (bins[question[0]] > question[1]) * (1 << level)
            sums, sizes = np.bincount(after, r), np.bincount(after, weight)
            gains[question] = (sums**2 / (sizes + PENALTY)).sum()
        assert gains[own] == pytest.approx(max(gains.values()), rel=1e-9)
        leaf += (bins[own[0]] > own[1]) * (1 << level)
    np.testing.assert_array_equal(found, leaf)
    reached = np.empty(len(r), np.uint8)
    find_leaves(bins, columns, cuts, reached)
    np.testing.assert_array_equal(reached, leaf)


def test_of_equal_gains_the_first_question_is_asked():
    bins, counts, weight, _ = rows(0)
    columns, cuts, _ = chosen(bins, counts, [1, 3, 0], weight, np.zeros(50))
    assert columns.tolist() == [3] * DEPTH
    assert cuts.tolist() == [0] * DEPTH


def test_columns_of_one_bin_are_not_asked_and_without_others_nothing_is():
    bins, counts, weight, r = rows(0)
    columns, cuts, _ = chosen(bins, counts, [1, 2], weight, r)
    assert (columns.tolist(), cuts.tolist()) == ([2] * DEPTH, [0] * DEPTH)
    columns, cuts, leaf = chosen(bins, counts, [1], weight, r)
    assert (columns.tolist(), cuts.tolist()) == ([-1] * DEPTH, [99] * DEPTH)
    assert not leaf.any()


def test_values_are_steps_of_newton():
    rng = np.random.default_rng(0)
    leaf, g, h = rng.integers(0, 3, 20), rng.standard_normal((20, 2)), rng.random((20, 2))
    values = np.full((4, 2), np.nan)
    find_values(leaf, g, h, 0.5, 0.1, values)
    expected = [0.1 * g[leaf == j].sum(axis=0) / (h[leaf == j].sum(axis=0) + 0.5) for j in range(4)]
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    # a leaf without rows
    assert not values[3].any()
