"""Online scaling against naive oracles."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from onkel.errors import DataError
from onkel.streams import OnlineScaler, OnlineTargetScaler


def oracle(X, mode):
    """Row t by the statistics of rows 1..t, computed anew for every row."""
    out = np.zeros(X.shape)
    for t in range(len(X)):
        seen = X[: t + 1].astype(np.float64)
        low = seen.mean(0) if mode == "standard" else seen.min(0)
        width = seen.std(0) if mode == "standard" else np.ptp(seen, 0)
        varied = np.ptp(seen, 0) > 0
        out[t, varied] = ((X[t] - low) / np.where(varied, width, 1))[varied]
    return out


cuts = st.lists(st.integers(0, 60), max_size=6).map(sorted)


@given(cuts=cuts, mode=st.sampled_from(["standard", "minmax"]), seed=st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_equals_the_oracle_for_every_cut(cuts, mode, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4)) * [1, 1e3, 1e-3, 0] + [0, 1e6, 5, 0.1]
    whole = OnlineScaler(mode).learn_transform(X)
    # A mean of 1e6 with a spread of 1e3 costs the oracle itself some digits.
    np.testing.assert_allclose(whole, oracle(X, mode), atol=1e-7)
    assert (whole[:, 3] == 0).all()
    scaler = OnlineScaler(mode)
    for part in np.split(X, cuts):
        if len(part):
            out = scaler.learn_transform(part)
            np.testing.assert_array_equal(out, whole[scaler.n_rows_ - len(part) : scaler.n_rows_])
            scaler = OnlineScaler.from_state(scaler.get_state())
    np.testing.assert_array_equal(scaler.transform(X[-1:])[0], scaler.transform(X)[-1])
    np.testing.assert_allclose(scaler.transform(X)[-1], whole[-1], atol=1e-9)


# CSR rows divided by their largest value are not centred: no column becomes noise
@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        *(("standard", kind) for kind in ("dense", "late", "sparse")),
        *(("auto", kind) for kind in ("dense", "late", "sparse")),
        *(("minmax", kind) for kind in ("dense", "late")),
    ],
)
def test_the_rounding_of_a_constant_sum_is_no_column(mode, kind):
    rng = np.random.default_rng(0)
    near = 1.0 + 1e-12 * rng.standard_normal(300)
    X = np.column_stack([near, rng.dirichlet(np.ones(5), 300).sum(axis=1)])
    assert 0.0 < np.ptp(X[:, 1]) < 1e-15
    scaler = OnlineScaler(mode)
    scaler.start(1 if kind == "late" else 2, kind == "sparse")
    if kind == "late":
        scaler.add_columns(1)
    rows = sparse.csr_matrix(X) if kind == "sparse" else X
    for Z in (scaler.learn_transform(rows), scaler.transform(rows)):
        Z = Z.toarray() if kind == "sparse" else Z
        assert len(np.unique(Z[:, 0])) > 100
        assert not Z[:, 1].any()


@pytest.mark.parametrize("mode", ["standard", "minmax"])
def test_float32_stays(mode):
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    scaler = OnlineScaler(mode)
    assert scaler.learn_transform(X).dtype == np.float32
    assert scaler.transform(X).dtype == np.float32
    np.testing.assert_allclose(scaler.transform(X[-1:]), oracle(X, mode)[-1:], rtol=1e-4)


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("mode", ["standard", "auto", "minmax", "none"])
def test_the_last_row_is_scaled_as_it_was_learned_also_in_columns_that_came_late(mode, sparse_rows):
    """The last two of these columns come after 20 rows, and begin later still."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.5, rng.normal(2.0, 3.0, (60, 5)), 0.0)
    X[:30, 3], X[:35, 4], X[-1] = 0.0, 0.0, [1.0, 0.0, -2.0, 4.0, 0.0]
    kind = sparse.csr_matrix if sparse_rows else np.asarray
    scaler = OnlineScaler(mode)
    scaler.learn_transform(kind(X[:20, :3]))
    scaler.add_columns(2)
    learned, now = scaler.learn_transform(kind(X[20:])), scaler.transform(kind(X[-1:]))
    if sparse_rows:
        learned, now = learned.toarray(), now.toarray()
    np.testing.assert_allclose(now[0], learned[-1], atol=1e-12)
    assert now[0, 3] != 0.0
    # a row that lacks a column that came late has 0 there
    assert now[0, 4] == 0.0


def _oracle_with_tails(X):
    """As :func:`oracle`, with tails drawn in from the row at which they are found heavy."""
    plain, drawn = oracle(X, "standard"), np.zeros(X.shape)
    for t in range(len(X)):
        away = np.mean([abs(X[i] - X[: i + 1].mean(0)) for i in range(t + 1)], axis=0)
        drawn[t] = np.arcsinh((X[t] - X[: t + 1].mean(0)) / np.where(away > 0, away, np.inf))
    own = oracle(drawn, "standard")
    out, heavy = plain.copy(), np.zeros(X.shape[1], bool)
    for t in range(len(X)):
        if t + 1 in (64, 128, 256, 512, 1024, 2048, 4096):
            large = (plain[: t + 1] ** 4).mean(0)
            heavy |= (large > 10.0) & ((own[: t + 1] ** 4).mean(0) < 0.5 * large)
        out[t, heavy] = own[t, heavy]
    return out, heavy


@pytest.mark.parametrize("size", [1, 7, 300])
def test_heavy_tails_are_drawn_in_by_the_rows_so_far(size):
    rng = np.random.default_rng(0)
    normal, amounts = rng.normal(size=300), rng.lognormal(0.0, 2.0, 300)
    rare = rng.uniform(size=300)
    late = np.where(np.arange(300) < 100, 1.0 + 1e-3 * normal, amounts)
    X = np.column_stack([normal, 1e3 * amounts, (rare < 0.02) * 1.0, late])
    expected, heavy = _oracle_with_tails(X)
    assert heavy.tolist() == [False, True, False, True]  # a column of two values stays unchanged
    scaler, out = OnlineScaler("auto"), []
    for a in range(0, 300, size):
        out.append(scaler.learn_transform(X[a : a + size]))
        scaler = OnlineScaler.from_state(scaler.get_state())
    np.testing.assert_allclose(np.concatenate(out), expected, atol=1e-9)
    np.testing.assert_allclose(scaler.transform(X[-1:])[0], expected[-1], atol=1e-9)
    order = np.argsort(X[:, 1])
    assert (np.diff(scaler.transform(X[order])[:, 1]) > 0).all()


def test_a_column_that_comes_late_has_its_tails_drawn_in_from_there():
    rng = np.random.default_rng(1)
    X, late = rng.normal(size=(500, 2)), rng.lognormal(0.0, 2.0, (400, 1))
    scaler = OnlineScaler("auto")
    scaler.learn_transform(X[:100])
    scaler.add_columns(1)
    got = scaler.learn_transform(np.column_stack([X[100:], late]))
    expected = OnlineScaler("auto").learn_transform(late)
    np.testing.assert_allclose(got[:, 2:], expected, atol=1e-9)
    np.testing.assert_array_equal(scaler.transform(np.zeros((1, 3)))[:, 2], 0.0)


def test_none():
    X = np.ones((3, 2))
    scaler = OnlineScaler("none")
    assert scaler.learn_transform(X) is X
    assert scaler.transform(X) is X
    assert scaler.n_rows_ == 3


@given(cuts=cuts, mode=st.sampled_from(["standard", "minmax"]))
@settings(max_examples=30, deadline=None)
def test_csr(cuts, mode):
    X = sparse.random(60, 5, 0.4, format="csr", random_state=0)
    D = X.toarray()
    expected = np.zeros(D.shape)
    for t in range(60):
        seen = D[: t + 1]
        width = seen.std(0) if mode == "standard" else np.abs(seen).max(0)
        expected[t] = np.divide(D[t], width, out=np.zeros(5), where=width > 1e-12)
    scaler = OnlineScaler(mode)
    edges = [0, *cuts, 60]
    parts = [X[a:b] for a, b in pairwise(edges) if b > a]
    got = sparse.vstack([scaler.learn_transform(p) for p in parts]).toarray()
    np.testing.assert_allclose(got, expected, atol=1e-9)
    np.testing.assert_allclose(scaler.transform(X[-1:]).toarray()[0], expected[-1], atol=1e-9)
    with pytest.raises(ValueError, match="either dense or CSR"):
        scaler.transform(D)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_bad_values_leave_it_as_it_was(bad, kind, column):
    X = np.arange(1.0, 13.0).reshape(4, 3)
    scaler = OnlineScaler()
    scaler.learn_transform(kind(X))
    before = scaler.get_state()
    X[2, column] = bad
    with pytest.raises(DataError) as caught:
        scaler.learn_transform(kind(X))
    assert (caught.value.row, caught.value.column) == (2, column)
    np.testing.assert_equal(scaler.get_state(), before)


def test_wrong_mode_and_width():
    with pytest.raises(ValueError, match="mode must be"):
        OnlineScaler("robust").fit(np.ones((2, 2)))
    with pytest.raises(ValueError, match="mode must be"):
        OnlineTargetScaler("robust")
    with pytest.raises(ValueError, match="3 features"):
        OnlineScaler().fit(np.ones((2, 2))).transform(np.ones((2, 3)))


@parametrize_with_checks([OnlineScaler(), OnlineScaler("auto"), OnlineScaler("minmax")])
def test_scikit_learn(estimator, check):
    check(estimator)


@given(cuts=cuts, mode=st.sampled_from(["standard", "minmax", "none"]))
@settings(max_examples=40, deadline=None)
def test_target(cuts, mode):
    y = np.random.default_rng(0).standard_normal(60) * 3 + 50
    y[:2] = 50
    scaler = OnlineTargetScaler(mode)
    parts = []
    for part in np.split(y, cuts):
        parts.append(scaler.learn_transform(part))
        scaler = OnlineTargetScaler.from_state(scaler.get_state())
    scaled, center, scale = (np.concatenate(p) for p in zip(*parts, strict=True))
    for t in range(60):
        c, s = target_oracle(y[:t], mode)
        np.testing.assert_allclose([center[t], scale[t]], [c, s], rtol=1e-9)
        c, s = target_oracle(y[: t + 1], mode)
        np.testing.assert_allclose(scaled[t], (y[t] - c) / s, atol=1e-9)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(y)), y)
    before = scaler.get_state()
    with pytest.raises(DataError, match="row 1"):
        scaler.learn_transform([1.0, np.nan])
    assert scaler.get_state() == before


def target_oracle(y, mode):
    if not len(y) or mode == "none":
        return 0.0, 1.0
    if mode == "minmax":
        return y.min(), np.ptp(y) or 1.0
    return y.mean(), (y.std() if np.ptp(y) else 1.0)


@pytest.mark.parametrize("mode", ["standard", "minmax"])
def test_numbers_whose_squares_are_infinite_are_refused(mode):
    with pytest.raises(DataError, match="too large to be scaled") as caught:
        OnlineScaler(mode).learn_transform(np.array([[1.0], [1e200]]))
    assert (caught.value.row, caught.value.column) == (1, 0)
    with pytest.raises(DataError, match="too large to be scaled") as caught:
        OnlineTargetScaler(mode).learn_transform([1.0, -1e200])
    assert caught.value.row == 1
