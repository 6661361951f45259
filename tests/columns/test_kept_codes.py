"""Codes of rows are found by how many rows ago they came, whatever was forgotten or undone."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.columns.kept_codes import KeptCodes
from onkel.columns.target_means import TargetMeans
from onkel.errors import ModelFileError


def added(kept: KeptCodes, start: int, end: int, columns: list[int]) -> KeptCodes:
    """Rows whose codes and target tell their number."""
    numbers = np.arange(start, end)
    codes = numbers[:, None] * 10 + np.array(columns)
    kept.add(columns, codes, numbers.astype(float))
    return kept


def found(kept: KeptCodes, ago) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = kept.find(np.asarray(ago))
    assert rows is not None
    return rows


def test_rows_are_found_by_age():
    kept = KeptCodes()
    for start in range(0, 3000, 100):
        added(kept, start, start + 100, [3, 5])
    codes, targets, born = found(kept, [3000, 1, 500])
    np.testing.assert_array_equal(born, [0, 2999, 2500])
    np.testing.assert_array_equal(targets, born)
    np.testing.assert_array_equal(codes, born[:, None] * 10 + [3, 5])


def test_rows_that_are_forgotten_are_not_found():
    kept = added(KeptCodes(), 0, 2000, [3])
    # the learner keeps some rows from before a change, and the last ones
    kept.keep_only(np.array([1900, 1500, *range(100, 0, -1)]))
    added(kept, 2000, 2010, [3])
    assert found(kept, [1910, 1510, 1])[1].tolist() == [100.0, 500.0, 2009.0]
    assert kept.find(np.array([1909])) is None
    assert len(kept.get_state()["born"]) == 112


def test_columns_that_come_later():
    kept = KeptCodes()
    for _ in range(2):
        kept.pass_by(10)
    # rows before any code have none, and nothing is kept of them
    assert kept.find(np.array([20, 1])) is None
    added(kept, 20, 30, [5])
    added(kept, 30, 40, [3, 5])
    codes, targets, _ = found(kept, [40, 15, 5])
    np.testing.assert_array_equal(codes, [[0, 0], [0, 255], [353, 355]])
    assert targets.tolist() == [0.0, 25.0, 35.0]


@pytest.mark.parametrize("n", [5, 5000])
def test_rows_are_undone(n):
    kept = added(KeptCodes(), 0, 30, [3])
    state, mark = kept.get_state(), kept.mark()
    added(kept, 30, 30 + n, [3, 4])
    kept.go_back(mark)
    added(kept, 30, 31, [3])
    assert found(kept, [31, 1])[1].tolist() == [0.0, 30.0]
    kept.go_back(mark)
    assert str(kept.get_state()) == str(state)


def test_a_state_goes_on():
    kept = added(KeptCodes(), 0, 30, [3])
    state = kept.get_state()
    again = KeptCodes.from_state(state)
    for one in (kept, again):
        added(one, 30, 40, [3, 4])
    np.testing.assert_array_equal(found(again, [40, 3])[0], found(kept, [40, 3])[0])
    state["born"][3] = 77
    with pytest.raises(ModelFileError, match="born"):
        KeptCodes.from_state(state)


@pytest.mark.parametrize("classes", [0, 2, 5])
def test_means_of_the_other_folds_are_those_of_means_that_never_saw_the_rows(classes):
    rng = np.random.default_rng(0)
    n = 300
    y = np.array([f"c{k}" for k in rng.integers(0, classes, n)]) if classes else rng.normal(size=n)
    # a code a row; several words a row, and the same one twice
    codes = {2: rng.integers(0, 9, n), 4: rng.integers(0, 6, (n, 3))}
    means, folds = TargetMeans(classes > 0), rng.integers(0, 4, n)
    means.learn(codes, y)
    # some rows are not kept, but count
    some = np.flatnonzero(rng.random(n) < 0.8)
    of_some = {name: c[some] for name, c in codes.items()}
    anew = means.of_others(of_some, means.places(y)[some], folds[some])
    for fold in range(4):
        own = folds[some] == fold
        others = np.ones(n, bool)
        others[some[own]] = False
        without = TargetMeans(classes > 0)
        without._meet(means.classes)
        without.learn({name: c[others] for name, c in codes.items()}, y[others])
        # in the mean of all rows one row counts for nothing
        without.n_rows, without.total = means.n_rows, means.total
        expected = without.now({name: c[own] for name, c in of_some.items()})
        for name in codes:
            np.testing.assert_allclose(anew[name][own], expected[name], atol=1e-12)


def test_a_code_of_many_rows_has_one_mean():
    rng = np.random.default_rng(0)
    codes, y = {0: rng.choice([1, 2], 1200, p=[0.9, 0.1])}, rng.normal(size=1200)
    means = TargetMeans()
    means.learn(codes, y)
    anew = means.of_others(codes, means.places(y), rng.integers(0, 10, 1200))[0]
    frequent = codes[0] == 1
    np.testing.assert_array_equal(anew[frequent], means.now(codes)[0][frequent])
    assert len(np.unique(anew[~frequent])) == 10
