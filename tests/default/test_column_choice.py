"""Residuals with spare room are those of arrays that are copied for each row and class."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from onkel.default.cells import residuals_with_class
from onkel.default.column_choice import Residuals


@pytest.mark.parametrize("seed", range(20))
def test_rows_and_classes_in_any_order(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 4))
    kept, naive = Residuals(K), np.empty((0, K))
    for _ in range(60):
        if rng.random() < 0.4:
            position = int(rng.integers(naive.shape[1] + 1))
            kept.add_class(position)
            naive = residuals_with_class(naive, position)
        else:
            R = rng.normal(size=(int(rng.integers(4)), naive.shape[1]))
            kept.append(R)
            naive = np.concatenate([naive, R])
        if rng.random() < 0.1:
            kept = copy.deepcopy(kept)
        assert np.array_equal(kept.residuals, naive)


def test_what_was_given_out_stays():
    kept = Residuals(2)
    kept.append(np.ones((3, 2)))
    rows = kept.residuals
    kept.append(np.zeros((1, 2)))
    kept.add_class(0)
    assert np.array_equal(rows, np.ones((3, 2)))
