"""Target means of one row are those of the compiled loops over blocks, to the last bit."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from onkel.columns.target_means import TargetMeans
from onkel.pipeline.inputs import Inputs


def _equal(a: TargetMeans, b: TargetMeans) -> bool:
    """Whether both know the same, whatever room they keep for codes to come."""
    same = a.classes == b.classes and a.n_rows == b.n_rows and np.array_equal(a.total, b.total)
    for name in {**a.counts, **b.counts}:
        n = max(len(of.counts.get(name, ())) for of in (a, b))
        (counts, sums), (others, theirs) = (of._padded(name, n, a.n_means) for of in (a, b))
        same = same and np.array_equal(counts, others) and np.array_equal(sums, theirs)
    return same


def _targets(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    if kind == "numbers":
        return rng.normal(3.0, 100.0, n) * 10.0 ** rng.integers(-9, 9, n)
    few = 2 if kind == "two classes" else 30
    # classes come one after the other
    return np.array([f"c{rng.integers(0, 1 + min(few - 1, t // 9))}" for t in range(n)])


@pytest.mark.parametrize("kind", ["numbers", "two classes", "many classes"])
@pytest.mark.parametrize("seed", range(4))
def test_one_row_is_a_block_of_one(kind, seed):
    rng = np.random.default_rng(seed)
    y = _targets(kind, rng, 400)
    codes = {3: rng.integers(0, 5, 400), 8: rng.integers(0, 300, 400), 1: np.zeros(400, int)}
    # words: several codes a row
    codes[9] = np.where(rng.random((400, 5)) < 0.6, rng.integers(1, 200, (400, 5)), 0)
    row, block, whole = (TargetMeans(kind != "numbers") for _ in range(3))
    predicted = whole.learn(codes, y)
    for t in range(400):
        one = {name: own[t].tolist() for name, own in codes.items()}
        now, before = row.row_now(one), block.now({k: np.array([c]) for k, c in one.items()})
        learned = row.learn_row(one, y[t])
        own = block.learn({k: np.array([c]) for k, c in one.items()}, y[t : t + 1])
        for name in codes:
            assert np.array_equal(now[name], before[name][0])
            assert np.array_equal(learned[name], own[name][0])
            # a class that came later has no mean yet
            assert np.array_equal(learned[name], predicted[name][t, : len(learned[name])])
    assert _equal(row, block)
    assert _equal(row, whole)


def test_each_class_but_the_first_has_the_smoothed_mean_of_its_indicator():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    y[:3] = 0, 1, 2
    found = TargetMeans(classes=True).learn({5: codes}, np.array(["a", "b", "c"])[y])[5]
    targets = (y[:, None] == [1, 2]).astype(float)
    expected = np.zeros(targets.shape)
    for t in range(1, 200):
        before = codes[:t] == codes[t]
        if codes[t] and before.any():
            away = targets[:t][before].mean(axis=0) - targets[:t].mean(axis=0)
            expected[t] = before.sum() / (before.sum() + 10.0) * away
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_labels_are_classes_by_their_value_and_texts_by_their_letters():
    means = TargetMeans(classes=True)
    for label in (1, 1.0, np.float32(1.0), "1", "1.0", np.array(["1"])[0]):
        means.learn({}, np.array([label]))
        means.learn_row({}, label)
    assert len(means.classes) == 3
    # a class more has no statistic of its own than the first sixteen have
    means.learn({}, np.arange(40))
    assert len(means.classes) == 16
    assert means.n_means == 15


@pytest.mark.parametrize("n", [1, 3])
def test_a_block_with_codes_beyond_the_room_is_undone(n):
    means = TargetMeans()
    means.learn({0: np.arange(10)}, np.arange(10.0))
    before = copy.deepcopy(means.get_state())
    codes = {0: np.array([2, 100_000, 3])[-n:], 4: np.array([1, 7, 9])[-n:]}
    mark = means.mark(codes)
    means.learn(codes, np.arange(3.0)[-n:])
    assert means.n_rows == 10 + n
    means.go_back(mark)
    assert str(means.get_state()) == str(before)


def test_a_prediction_makes_no_room():
    means = TargetMeans()
    means.learn_row({0: 1}, 2.0)
    before = copy.deepcopy(means.get_state())
    assert means.row_now({0: 5000, 7: 3}) == {0: [0.0], 7: [0.0]}
    assert str(means.get_state()) == str(before)


def _inputs(coded: dict[int, int], kind: str) -> Inputs:
    """The learner's columns, three first ones and ``coded`` among all."""
    encoder = SimpleNamespace(statistics=True, codes=coded, layout=SimpleNamespace(n_first=3))
    return Inputs(encoder, "regression" if kind == "numbers" else "classification")


@pytest.mark.parametrize("n", [1, 2])
def test_after_an_undone_block_others_come_in_the_places(n):
    inputs = _inputs({1: 1}, "numbers")
    X = np.zeros((2 + n, 6))
    X[:2, 0], X[:2, 1] = 1.0, 3.0
    inputs.learn(X[:2], np.arange(2.0), 0)
    mark = inputs.mark(X[2:])
    X[2:, 4] = 7.0
    inputs.learn(X[2:], np.zeros(n), 0)
    inputs.go_back(mark)
    X[2:, 4], X[2:, 5] = 0.0, 8.0
    (segment,) = inputs.learn(X[2:], np.zeros(n), 0)
    assert inputs.late == [(5, 0)]
    assert segment.X[:, 3:].tolist() == [[8.0]] * n


@pytest.mark.parametrize("kind", ["numbers", "many classes"])
@pytest.mark.parametrize("seed", range(4))
def test_columns_get_the_same_places_row_by_row(kind, seed):
    """Encoded columns grow; columns begin at their first value that is not 0."""
    rng = np.random.default_rng(seed)
    n, d = 300, 12
    y = _targets(kind, rng, n)
    X = np.where(rng.random((n, d)) < 0.02, rng.normal(size=(n, d)), 0.0).astype(np.float32)
    X[:, :3] = rng.normal(size=(n, 3))
    # the last four columns hold words: they come late and share one statistic
    coded = {1: 1, 6: 1, 8: 4}
    X[:, [1, 6]] = rng.integers(0, 9, (n, 2))
    X[:50, 6] = 0.0
    X[:, 8:] = np.where(rng.random((n, 4)) < 0.5, rng.integers(1, 300, (n, 4)), 0)
    X[:70, 8:] = 0.0
    rows, block = (_inputs(coded, kind) for _ in range(2))
    segments = block.learn(X, y, 0)
    wide = np.concatenate(
        [np.pad(s.X, ((0, 0), (0, 3 + len(block.late) - s.X.shape[1]))) for s in segments]
    )
    for t in range(n):
        (segment,) = rows.learn(X[t : t + 1], y[t : t + 1], 0)
        assert segment.late == len(rows.late)
        width = segment.X.shape[1]
        assert np.array_equal(segment.X[0], wide[t, :width])
        assert not wide[t, width:].any()
        # a row that lacks the last columns has zeros there
        some = X[t : t + 1, : int(rng.choice([7, 8, d]))]
        both = np.concatenate([some, some])
        assert np.array_equal(rows.now(some)[0], rows.now(both)[1])
    assert rows.late == block.late
    assert _equal(rows.means, block.means)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_the_only_category_so_far_says_nothing_and_not_a_rounding(kind):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(3000) * 0.1 + 1000.0 / 3.0
    y = y if kind == "numbers" else np.where(rng.random(3000) < 1.0 / 3.0, "a", "b").astype(object)
    codes, means = {0: np.ones(3000, np.int64)}, TargetMeans(kind == "classes")
    assert not means.learn(codes, y)[0].any()
    assert not means.now(codes)[0].any()
    one = TargetMeans(kind == "classes")
    for label in y[:500]:
        assert one.learn_row({0: 1}, label)[0] in ([0.0], [])
        assert one.row_now({0: 1})[0] in ([0.0], [])
