"""A linear function of few columns: where it begins, what it is worth, and how sure it is."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor, from_bytes, to_bytes
from onkel.default.cells import AGREED, DOUBT, LEFT, ROWS, SIZE, WHOLE
from onkel.default.column_choice import LearnedRows
from onkel.default.linear_part import LinearPart
from onkel.maps.landmarks.fitted import Units

pytestmark = pytest.mark.compiled


def amounts(n=2600, d=4, seed=0):
    """Amounts with a few very large ones, a sum of them, and noise."""
    rng = np.random.default_rng(seed)
    X = np.exp(1.2 * rng.standard_normal((n, d)))
    return X, X @ np.array([1.0, -2.0, 0.5, 1.5])[:d] + 0.3 * rng.standard_normal(n)


def rmse(errors):
    return float(np.sqrt(np.mean(errors**2)))


def won(X, y, R, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return LinearPart.won_by(LearnedRows(X, y[:, None], R[:, None], weight), 1.0)


# ---- whether it begins ---------------------------------------------------------------------------


def test_it_begins_where_ridge_regression_on_the_first_half_is_better_on_the_second():
    X, y = amounts(512)
    noise = np.random.default_rng(1).standard_normal(512)
    assert won(X, y, 0.4 * noise) is not None
    # the errors of ridge regression are 0.3: the other squared errors must be a tenth more
    assert won(X, y, 0.31 * noise) is None
    assert won(X[:255], y[:255], noise[:255]) is None
    assert won(X[:256], y[:256], noise[:256]) is not None


def test_only_errors_of_the_second_half_count():
    X, y = amounts(512)
    R = np.repeat([9.0, 0.01], 256)
    assert won(X, y, R) is None
    assert won(X, y, R[::-1]) is not None


def test_it_must_be_nearer_to_the_targets_of_most_rows():
    X, y = amounts(512)
    R = np.full(512, 0.1)
    R[500] = 50.0
    assert won(X, y, R) is None


def test_rows_count_by_their_weight():
    X, y = amounts(512)
    weight = np.ones(512)
    y[:128] += 100.0
    y[256:320] += 100.0
    R = np.random.default_rng(1).standard_normal(512)
    assert won(X, y, R) is None
    weight[:128] = weight[256:320] = 1e-9
    assert won(X, y, R, weight) is not None


def test_its_columns_are_straight_and_its_share_is_of_rows_it_did_not_know():
    X, y = amounts(700)
    R = y - y.mean()
    part = won(X, y, R)
    np.testing.assert_allclose(part.middle, X.mean(axis=0))
    np.testing.assert_allclose(part.scale, X.std(axis=0))
    assert not part.tails.any()
    known = LinearPart(Units.straight(X), 1, won=True)
    known.learn(X[:350], y[:350, None], np.zeros((350, 1)), np.ones(350))
    s = known._features(X[350:512]) @ known.W - (y - R)[350:512, None]
    r = R[350:512, None]
    agreed, size = (r * s).sum(), (s * s).sum()
    # the weights are those of 512 rows from there on, and the sums so far count half
    later = part._features(X[512:]) @ part.W - (y - R)[512:, None]
    agreed = agreed / 2 + (R[512:, None] * later).sum()
    size = size / 2 + (later**2).sum()
    np.testing.assert_allclose(part.sums[[AGREED, SIZE]], [agreed, size], rtol=1e-5)
    assert part.sums[ROWS] == 162 / 2 + 188
    assert part.sums[DOUBT] > 0.0
    assert part.share == pytest.approx(min(agreed / size, 1.0), rel=1e-5)


# ---- what it is worth ----------------------------------------------------------------------------


@pytest.mark.parametrize("speed", ["balanced", "fast"])
def test_sums_of_amounts_are_learned_as_by_ridge_regression(speed):
    X, y = amounts()
    model = OnlineKernelRegressor(n_components=100, speed=speed)
    errors = model.predict_then_learn(X[:2000], y[:2000]) - y[:2000]
    assert rmse(errors[600:]) < 0.33
    model.consolidate()
    mean, std = model.predict(X[2000:], return_std=True)
    assert rmse(mean - y[2000:]) < 0.33
    assert 0.9 < np.mean(np.abs(mean - y[2000:]) < 2.0 * std) < 0.99


def test_columns_that_leave_the_range_of_the_first_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2600, 4)) * np.linspace(1.0, 10.0, 2600)[:, None]
    y = X @ np.array([1.0, -2.0, 0.5, 1.5]) + 0.5 * rng.standard_normal(2600)
    model = OnlineKernelRegressor(n_components=100, speed="fast")
    assert rmse((model.predict_then_learn(X, y) - y)[600:]) < 0.6


def test_there_is_none_where_f_is_as_good():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 4))
    for y in (X[:, 0] + rng.standard_normal(1100), np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]):
        model = OnlineKernelRegressor(n_components=100, restart=False).partial_fit(X, y)
        assert model.model_.linear is None


def test_after_a_search_the_last_rows_say_what_it_is_worth():
    X, y = amounts()
    model = OnlineKernelRegressor(n_components=100, restart=False, memory=False)
    model.partial_fit(X[:2047], y[:2047])
    own, rows = model.model_, slice(1024, 2048)
    P = own.linear._features(X[rows]) @ own.linear.W
    E = (y[rows, None] - P) / (1.0 - 5 / 2047)
    own.map.least_gain = 0.0
    model.partial_fit(X[2047:2048], y[2047:2048])
    R = own.residuals_left_out(X[rows], y[rows, None], np.ones(1024))
    expected = [(R * (R - E)).sum(), ((R - E) ** 2).sum(), (R**2).sum(), 1024]
    np.testing.assert_allclose(own.linear.sums[[AGREED, SIZE, WHOLE, ROWS]], expected, rtol=1e-6)


@pytest.mark.parametrize("speed", ["balanced", "fast"])
def test_blocks_do_not_matter(speed):
    X, y = amounts()
    models = [OnlineKernelRegressor(n_components=60, speed=speed) for _ in range(2)]
    whole = models[0].predict_then_learn(X, y)
    cuts = [slice(a, a + 37) for a in range(0, len(X), 37)]
    found = np.concatenate([models[1].predict_then_learn(X[some], y[some]) for some in cuts])
    # a search makes more of rounding
    np.testing.assert_allclose(found[:1300], whole[:1300], rtol=1e-7, atol=1e-7)


def test_its_errors_are_not_known_before_a_row_is_predicted():
    X, y = amounts(300)
    model = OnlineKernelRegressor(n_components=100, restart=False, memory=False)
    model.partial_fit(X[:256], y[:256])
    assert model.model_.linear.noise == 0.0
    assert (model.predict(X[:3], return_std=True)[1] > 0.1).all()


def test_its_errors_are_fewer_where_later_parts_correct_it():
    X, y = amounts(1200)
    model = OnlineKernelRegressor(n_components=100, speed="fast", restart=False, memory=False)
    own = model.partial_fit(X, y).model_
    assert own.linear.noise > 0.0
    own.follower.begin_share()
    before = own.variance(X)
    own.follower.sums[1, 0, [LEFT, WHOLE]] = 1.0, 4.0
    np.testing.assert_allclose(own.variance(X), 0.25 * before)


def test_a_file_keeps_it():
    X, y = amounts(1200)
    model = OnlineKernelRegressor(n_components=100, speed="fast").partial_fit(X, y)
    again = from_bytes(to_bytes(model))
    assert again.model_.current.linear.won
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_values_far_out_are_cut_off():
    X, y = amounts(512)
    part = won(X, y, y)
    far = part.middle + part.scale * np.array([[1e6, -1e6, 31.0, 500.0]])
    np.testing.assert_allclose(part._features(far), [[1e4, -1e4, 31.0, 500.0, 1.0]])
    model = OnlineKernelRegressor(n_components=100, speed="fast").partial_fit(X, y)
    assert model.model_.current.linear is not None
    X[:3, 0] = 1e140, -1e140, 1e30
    assert np.isfinite(model.predict_then_learn(X, y)).all()


def test_it_says_nothing_of_rows_that_have_a_column_which_came_later():
    X, y = amounts()
    model = OnlineKernelRegressor(n_components=20, speed="fast", restart=False).partial_fit(X, y)
    part, without = model.model_.linear, model.predict(X)
    assert part.won
    model.add_columns(2)
    wide = np.column_stack([X, np.zeros((len(X), 2))])
    np.testing.assert_allclose(model.predict(wide), without)
    wide[::2, 5] = 1e-9
    P = np.zeros((len(X), 1))
    found = part.correction(wide, P)[:, 0]
    assert not found[::2].any()
    assert found[1::2].all()
    before = part.share
    assert not part.learn(wide[::2], y[::2, None], P[::2], np.ones(len(P[::2]))).any()
    assert part.share == before
    # one that is there as columns are many covers all rows
    many = OnlineKernelRegressor(n_components=3, speed="fast", restart=False).partial_fit(X, y)
    many.add_columns(2)
    assert not many.model_.linear.won
    assert many.model_.linear.correction(wide, P).all()
