"""The linear part: what it solves, however rows come, and what it is worth."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, load, to_bytes
from onkel.default import linear_part
from onkel.default.cells import ROWS
from onkel.default.linear_part import LinearPart
from onkel.errors import MergeError, ModelFileError
from onkel.maps.landmarks.fitted import Units
from onkel.numerics.arrays import targets_of

pytestmark = pytest.mark.compiled


def made(n=1500, d=30, n_outputs=1, seed=0):
    """Rows, targets, predictions that know nothing, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d) + rng.standard_normal(d)
    Y = X[:, :3] @ rng.standard_normal((3, n_outputs)) / 3.0 + 5.0
    Y += 0.5 * rng.standard_normal(Y.shape)
    return X, Y, np.zeros(Y.shape), rng.integers(0, 3, n).astype(float)


def begun(X, Y, forgetting=1.0):
    return LinearPart.begun(X[:100], Y.shape[1], forgetting)


def naive(X, Y, P, weight, forgetting=1.0):
    """The docstring's formulas; a (ℓ - p) before each row, and w at the end."""
    first = X[:100]
    U = np.column_stack([(X - first.mean(axis=0)) / first.std(axis=0), np.ones(len(X))])
    (n, m), K = U.shape, Y.shape[1]
    w, v, out, solved, missed = np.zeros((m, K)), None, np.zeros(Y.shape), 0, 0.0
    agreed = doubt = size = 0.0
    for t in range(n):
        s, r = U[t] @ w - P[t], Y[t] - P[t]
        if size > 0:
            out[t] = s * np.clip((agreed - np.sqrt(doubt)) / size, 0, 1)
        agreed += weight[t] * (r @ s)
        doubt += (weight[t] * (r @ s)) ** 2
        size += weight[t] * (s @ s)
        missed += weight[t] * ((Y[t] - U[t] @ w) ** 2).sum()
        if (t + 1) % 256 == 0 and t + 1 >= 1.25 * solved:
            noise = missed / ((t + 1 - solved) * K)
            solved, missed = t + 1, 0.0
            if v is None:
                v = np.append(np.full(m - 1, noise / m), noise)
            old = weight[: t + 1] * forgetting ** (256 * (t // 256 - np.arange(t + 1) // 256))
            A = (U[: t + 1].T * old) @ U[: t + 1]
            w = np.linalg.solve(A + np.diag(noise / v), (U[: t + 1].T * old) @ Y[: t + 1])
            own = np.sqrt((w**2).mean(axis=1) + noise / (np.diag(A) + noise / v))[:-1]
            v[:-1] = own * own.mean()
            agreed, doubt, size = agreed / 2, doubt / 4, size / 2
    return out, w


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_it_is_the_formula(n_outputs, forgetting):
    X, Y, P, weight = made(n_outputs=n_outputs)
    part = begun(X, Y, forgetting)
    expected, w = naive(X, Y, P, weight, forgetting)
    found = part.learn(X, Y, P, weight)
    np.testing.assert_allclose(part.W, w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert np.abs(expected).max() > 5.0
    assert part.left < 0.1


def test_what_is_added_before_a_row_is_learned_is_its_correction():
    X, Y, P, weight = made()
    # predictions as good as what the columns say
    P += Y + np.random.default_rng(1).standard_normal(Y.shape)
    part = begun(X, Y)
    part.learn(X[:1000], Y[:1000], P[:1000], weight[:1000])
    one = slice(1000, 1001)
    expected = part.correction(X[one], P[one])
    whole = part._features(X[one]) @ part.W - P[one]
    assert 0.1 < expected / whole < 0.9
    np.testing.assert_allclose(part.learn(X[one], Y[one], P[one], weight[one]), expected)


def test_values_far_out_are_cut_off_and_columns_that_came_later_are_left_out():
    X, Y, *_ = made(d=3)
    part = begun(X, Y)
    far = part.middle + part.scale * np.array([[1e6, -1e6, 31.0]])
    wide = np.column_stack([far, [[7.0, 7.0]]])
    np.testing.assert_allclose(part._features(wide), [[32.0, -32.0, 31.0, 1.0]], rtol=1e-6)


def test_rows_without_weight_or_error_are_no_reason_to_solve():
    X, Y, P, weight = made(768, d=300)
    part = begun(X, Y)
    part.learn(X[:256], Y[:256], P[:256], weight[:256])
    W, sums = part.W.copy(), part.sums.copy()
    assert W.any()
    part.learn(X[256:], Y[256:], P[256:], np.zeros(512))
    np.testing.assert_array_equal(part.W, W)
    np.testing.assert_array_equal(part.sums, sums)
    # targets so small that the variance of a weight is 0
    small = begun(X, Y)
    assert not small.learn(X, 1e-162 * Y, P, weight).any()
    assert not small.W.any()


@pytest.mark.parametrize("power", [-300, -100, 100, 400])
def test_targets_come_in_any_unit(power):
    X, Y, P, weight = made(700)
    part, other = begun(X, Y), begun(X, Y)
    expected = part.learn(X, Y, P, weight)
    found = other.learn(X, np.ldexp(Y, power), P, weight)
    np.testing.assert_allclose(np.ldexp(found, -power), expected, rtol=1e-6)
    assert part.W.any()


def test_weights_that_cannot_be_solved_stay_as_they_were(monkeypatch):
    X, Y, P, weight = made(512)
    part = begun(X, Y)
    part.learn(X[:256], Y[:256], P[:256], weight[:256])
    W, v = part.W.copy(), part.v.copy()
    monkeypatch.setattr(linear_part, "cholesky_upper", lambda H: np.full_like(H, np.nan))
    part.learn(X[256:], Y[256:], P[256:], weight[256:])
    np.testing.assert_array_equal(part.W, W)
    np.testing.assert_array_equal(part.v, v)


def test_weights_are_finite_where_errors_are_very_much_larger_than_before():
    X, Y, P, weight = made(512)
    part = begun(X, Y)
    part.learn(X[:256], Y[:256], P[:256], weight[:256])
    part.learn(X[256:], 1e25 * Y[256:], P[256:], weight[256:])
    assert np.isfinite(part.W).all()
    assert np.isfinite(part.v).all()


@pytest.mark.parametrize("block", [1, 7, 256, 300])
def test_blocks_do_not_matter(block):
    X, Y, P, weight = made(700)
    parts = begun(X, Y), begun(X, Y)
    whole = parts[0].learn(X, Y, P, weight)
    cuts = [slice(a, a + block) for a in range(0, len(X), block)]
    found = [parts[1].learn(X[of], Y[of], P[of], weight[of]) for of in cuts]
    np.testing.assert_allclose(np.concatenate(found), whole, rtol=1e-6)
    np.testing.assert_array_equal(parts[0].A, parts[1].A)
    np.testing.assert_array_equal(parts[0].rows, parts[1].rows)


def test_a_state_goes_on_bit_for_bit():
    X, Y, P, weight = made()
    part, other = begun(X, Y), LinearPart(Units.none(0), 1)
    part.learn(X[:700], Y[:700], P[:700], weight[:700])
    other.set_state(part.get_state())
    for one in (part, other):
        one.learn(X[700:], Y[700:], P[700:], weight[700:])
    np.testing.assert_array_equal(other.correction(X, P), part.correction(X, P))


def test_two_parts_of_a_stream_give_the_sums_of_the_whole():
    X, Y, P, weight = made(2000)
    whole, origin = begun(X, Y), begun(X, Y)
    whole.learn(X, Y, P, weight)
    origin.learn(X[:600], Y[:600], P[:600], weight[:600])
    mine, other = LinearPart(Units.none(0), 1), LinearPart(Units.none(0), 1)
    for one, rows in ((mine, slice(600, 1200)), (other, slice(1200, None))):
        one.set_state(origin.get_state())
        one.learn(X[rows], Y[rows], P[rows], weight[rows])
    mine.require_alike(other)
    mine.take_in(other, origin)
    A, b = whole._whole_sums()
    np.testing.assert_allclose(np.triu(mine.A), np.triu(A), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(mine.b, b, rtol=1e-4, atol=1e-2)
    assert (mine.n_rows, mine.n_waiting) == (whole.n_rows, 0)
    missed = [np.mean((Y - of._features(X) @ of.W) ** 2) for of in (mine, whole)]
    assert missed[0] < 1.01 * missed[1]


def test_the_noise_of_two_parts_is_that_of_the_rows_whose_errors_they_have_summed(monkeypatch):
    X, Y, P, weight = made(2000)
    mine, other = begun(X, Y), begun(X, Y)
    mine.learn(X[:700], Y[:700], P[:700], weight[:700])
    other.learn(X[700:], Y[700:], P[700:], weight[700:])
    rows = sum(of.n_rows - of.n_solved for of in (mine, other))
    missed = mine.missed + other.missed
    assert 0 < rows < other.n_rows
    sums = mine.sums + other.sums
    monkeypatch.setattr(LinearPart, "_solve", lambda part: None)
    mine.take_in(other, None)
    assert (mine.n_rows - mine.n_solved, mine.missed) == (rows, missed)
    np.testing.assert_array_equal(mine.sums, sums)


def test_what_one_part_forgot_by_the_rows_of_the_other_is_forgotten_in_their_sums():
    X, Y, P, weight = made(1280)
    whole, origin = begun(X, Y, 0.999), begun(X, Y, 0.999)
    whole.learn(X, Y, P, weight)
    origin.learn(X[:512], Y[:512], P[:512], weight[:512])
    mine, other = copy.deepcopy(origin), copy.deepcopy(origin)
    mine.learn(X[512:768], Y[512:768], P[512:768], weight[512:768])
    other.learn(X[768:], Y[768:], P[768:], weight[768:])
    mine.take_in(other, origin)
    np.testing.assert_allclose(np.triu(mine.A), np.triu(whole.A), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(mine.b, whole.b, rtol=1e-4, atol=1e-2)


def test_two_parts_that_were_both_just_solved_are_solved_anew():
    X, Y, P, weight = made(512)
    mine, other = begun(X, Y), begun(X, Y)
    mine.learn(X[:256], Y[:256], P[:256], weight[:256])
    other.learn(X[256:], Y[256:], P[256:], weight[256:])
    assert mine.n_rows == mine.n_solved == other.n_solved == 256
    left = [np.mean((Y[256:] - mine._features(X[256:]) @ mine.W) ** 2)]
    mine.take_in(other, None)
    left.append(np.mean((Y[256:] - mine._features(X[256:]) @ mine.W) ** 2))
    assert left[1] < 0.97 * left[0]
    nothing = begun(X, Y)
    nothing.take_in(begun(X, Y), None)
    assert not nothing.W.any()


@pytest.mark.parametrize("name", ["tails", "middle", "scale"])
def test_parts_in_other_units_do_not_merge(name):
    X, Y, *_ = made(200)
    mine, other = begun(X, Y), begun(X, Y)
    mine.require_alike(other)
    setattr(other, name, getattr(other, name) + 1.0)
    with pytest.raises(MergeError, match="the units of the linear part"):
        mine.require_alike(other)


def test_crafted_states_are_refused():
    X, Y, *_ = made(200)
    state = begun(X, Y).get_state()
    for wrong, message in (
        ({"n_solved": 1}, "n_solved: is more than n_rows"),
        ({name: state[name][:-1] for name in ("middle", "scale")}
         | {"tails": state["tails"][:, :-1]}, "A: has 31 rows, and there are 29 columns"),
    ):  # fmt: skip
        with pytest.raises(ModelFileError, match=message):
            LinearPart(Units.none(0), 1).set_state({**state, **wrong})


@pytest.mark.parametrize("position", [0, 1, 2])
def test_signs_become_indicators(position):
    X, Y, P, weight = made(600)
    signs, codes = np.sign(Y - 5.0), (Y[:, 0] > 5.0).astype(float)
    codes += codes >= position
    two, three = begun(X, signs), LinearPart.begun(X[:100], 3, 1.0)
    two.learn(X, signs, P, weight)
    v, sums = two.v.copy(), two.sums.copy()
    two.add_output(position)
    three.learn(X, targets_of(codes, 3), np.zeros((600, 3)), weight)
    np.testing.assert_allclose(two.b, three.b, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(two.targets, three.targets, rtol=1e-4, atol=1e-4)
    assert two.missed == pytest.approx(three.missed, rel=0.02)
    scores = two._features(X) @ two.W
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    assert np.abs(scores[:, position]).max() < 1e-12
    # two indicators have half the squared error of a sign, and a quarter of its variance each
    np.testing.assert_array_equal(two.v, 0.25 * v)
    np.testing.assert_array_equal(two.sums[:ROWS], 0.5 * sums[:ROWS])
    assert two.sums[ROWS] == sums[ROWS]


def weak(n=3000, d=120, seed=0):
    """All columns matter a little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d)


def test_it_is_there_where_columns_are_more_than_landmarks():
    X, f = weak()
    for d, there in ((20, False), (120, True)):
        model = OnlineKernelRegressor(n_components=40, speed="fast", restart=False)
        model.fit(X[:, :d], f)
        assert (model.model_.linear is not None) == there


def test_many_columns_that_matter_a_little():
    X, f = weak()
    y = f + 0.3 * f.std() * np.random.default_rng(1).standard_normal(len(f))
    model = OnlineKernelRegressor(n_components=40, speed="fast", restart=False)
    model.fit(X[:2400], y[:2400])
    own = model.model_
    rest = model.predict(X[2400:]) - f[2400:]
    own.linear = None
    without = model.predict(X[2400:]) - f[2400:]
    assert np.mean(rest**2) < 0.1 * np.mean(without**2)


def test_it_stays_out_where_it_is_wrong():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 60))
    y = np.sign(X[:, 0]) * np.sign(X[:, 1])
    model = OnlineKernelRegressor(n_components=40, speed="fast", restart=False).fit(X, y)
    own = model.model_
    before = model.predict(X)
    own.linear.sums[:ROWS] = 0.0
    assert np.mean((before - y) ** 2) < 1.02 * np.mean((model.predict(X) - y) ** 2)


def test_a_saved_classifier_goes_on_and_meets_a_class(tmp_path):
    X, f = weak(2600)
    y = np.where(f > 0.0, "above", "below")
    y[2400:2450] = "late"
    model = OnlineKernelClassifier(n_components=40, speed="fast", restart=False)
    model.partial_fit(X[:2000], y[:2000])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for one in (model, again):
        one.partial_fit(X[2000:], y[2000:])
    assert model.model_.linear is not None
    assert np.mean(model.predict(X[:2400]) == y[:2400]) > 0.9
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_huge_values_leave_it_finite():
    X, f = weak()
    model = OnlineKernelRegressor(n_components=40, speed="fast", restart=False)
    model.partial_fit(X[:2000], 1e30 * f[:2000])
    X[2000:2010, 3] = 1e100
    model.partial_fit(X[2000:], 1e30 * f[2000:])
    assert np.isfinite(model.predict(X)).all()


def test_parts_of_a_stream_merge():
    X, f = weak()
    y = f + f.std() * np.random.default_rng(1).standard_normal(len(f))
    sample = OnlineKernelRegressor(n_components=40, speed="fast")
    sample.partial_fit(X[:1100], y[:1100])
    sample.fix_map()
    parts = copy.deepcopy(sample), copy.deepcopy(sample)
    for part, rows in zip(parts, (slice(1100, 1900), slice(1900, 2700)), strict=True):
        part.partial_fit(X[rows], y[rows])
    alone = np.mean((parts[0].predict(X[2700:]) - f[2700:]) ** 2)
    merged = parts[0].merge(parts[1], since=sample)
    assert np.mean((merged.predict(X[2700:]) - f[2700:]) ** 2) < 0.8 * alone
    again = from_bytes(to_bytes(merged))
    np.testing.assert_array_equal(again.predict(X), merged.predict(X))
