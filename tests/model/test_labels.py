"""Targets of a fit: few columns, however many classes there are."""

from __future__ import annotations

import numpy as np

from onkel.model.labels import MOST_COLUMNS, targets_of_fit, with_class
from onkel.numerics.arrays import targets_of


def test_few_classes_are_their_indicators():
    codes = np.array([2.0, 0.0, 3.0, 2.0])
    np.testing.assert_array_equal(targets_of_fit(codes, 4, 0), targets_of(codes, 4)[:, [0, 2, 3]])


def test_a_class_without_rows_changes_nothing():
    for n_classes in (8, 90):
        codes = np.random.default_rng(0).integers(0, n_classes, 300).astype(float)
        # class 5 has not come yet
        known = targets_of_fit(np.where(codes >= 5, codes + 1, codes), n_classes + 1, 3)
        np.testing.assert_array_equal(known, targets_of_fit(codes, n_classes, 3))


def test_squared_errors_over_many_classes_are_kept_on_average():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 500, 3000).astype(float)
    # a linear map of the targets, as the residuals of least squares are
    A = rng.standard_normal((40, len(codes)))
    whole = np.sum((A @ targets_of(codes, 500)) ** 2)
    few = [targets_of_fit(codes, 500, seed) for seed in range(20)]
    assert all(Y.shape == (3000, MOST_COLUMNS) for Y in few)
    found = np.array([np.sum((A @ Y) ** 2) for Y in few]) / whole
    assert abs(found.mean() - 1.0) < 4 * found.std() / np.sqrt(20)
    assert found.std() < 0.1


def test_a_class_moves_the_codes_from_its_place_on():
    codes, signs = np.array([0.0, 2.0, 1.0]), np.array([-1.0, 1.0])
    for position, after in ((0, [1, 3, 2]), (1, [0, 3, 2]), (3, [0, 2, 1])):
        assert with_class(codes, position, from_signs=False).tolist() == after
    for position, after in ((0, [1, 2]), (1, [0, 2]), (2, [0, 1])):
        assert with_class(signs, position, from_signs=True).tolist() == after
