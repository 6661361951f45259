"""Heavy tails are drawn in, and rows are standardised by the statistics of the first rows."""

import numpy as np
import pytest

from onkel import OnlineKernelRegressor, from_bytes
from onkel.maps.landmarks import fitted as units_module
from onkel.maps.landmarks.fitted import TailCurves, Units
from onkel.numerics.in_steps import finished


@pytest.fixture
def X():
    """A normal column, amounts, a column with a rare second value, counts, a constant."""
    n, rng = 3000, np.random.default_rng(0)
    return np.column_stack(
        [
            rng.normal(3.0, 2.0, n),
            rng.lognormal(2.0, 1.5, n),
            rng.random(n) < 0.01,
            rng.poisson(0.5, n) * rng.lognormal(2.0, 1.5, n),
            np.full(n, 7.0),
        ]
    )


def test_heavy_columns_only(X):
    tails = finished(TailCurves.in_steps(X))
    np.testing.assert_array_equal(tails.spread > 0.0, [False, True, False, True, False])
    m = np.median(X[:, 1])
    drawn = np.arcsinh((X[:, 1] - m) / np.mean(np.abs(X[:, 1] - m)))
    U = tails(X)
    np.testing.assert_allclose(U[:, 1], drawn, rtol=1e-12)
    np.testing.assert_array_equal(U[:, [0, 2, 4]], X[:, [0, 2, 4]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_columns_over_many_decades_become_logarithms(sign):
    decades = 10.0 * np.random.default_rng(0).random((3000, 1))
    X = sign * 10.0**decades
    tails = finished(TailCurves.in_steps(X))
    U = tails(X)
    slope = np.diff(U[np.argsort(decades[:, 0])[::100], 0]) > 0.1
    assert (slope == (sign > 0.0)).mean() > 0.9
    assert np.abs(np.corrcoef(U[:, 0], decades[:, 0])[0, 1]) > 0.99
    np.testing.assert_allclose(tails.inverse(U), X, rtol=1e-9)


def test_columns_over_few_decades_or_of_both_signs_do_not():
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 2.0, (3000, 1))
    both = np.where(rng.random((3000, 1)) < 0.5, -1.0, 1.0) * 10.0 ** (10.0 * rng.random((3000, 1)))
    X = np.hstack([X, both])
    m = np.median(X, axis=0)
    tails = finished(TailCurves.in_steps(X))
    np.testing.assert_allclose(tails.middle, m)
    np.testing.assert_allclose(tails.spread, np.abs(X - m).mean(axis=0))


def test_targets_of_columns_over_many_decades_are_learned():
    rng = np.random.default_rng(0)
    decades = 10.0 * rng.random((700, 3))
    y = decades[:, 0] * np.sin(decades[:, 1]) + 0.1 * rng.normal(size=700)
    model = OnlineKernelRegressor(n_components=60, speed="fast", random_state=0)
    errors = model.predict_then_learn(10.0**decades, y) - y
    assert np.sqrt(np.mean(errors[300:] ** 2)) < 0.3 * y.std()


def with_stand_in(value, n=1000, share=0.1):
    """A column of which some values are not known, and which."""
    rng = np.random.default_rng(0)
    column, gap = rng.uniform(20.0, 60.0, n), rng.random(n) < share
    return np.where(gap, value, column)[:, None], gap


@pytest.mark.parametrize("value", [-999.0, 99_999.0])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.7])
def test_a_value_that_stands_for_a_gap_hides_no_others(value, share):
    X, gap = with_stand_in(value, share=share)
    tails = finished(TailCurves.in_steps(X))
    others = X[~gap, 0]
    m = np.median(others)
    np.testing.assert_allclose(tails.middle, m)
    np.testing.assert_allclose(tails.spread, np.abs(others - m).mean())
    U = finished(Units.in_steps(X))(X)
    assert U[~gap].std() > 0.2
    assert np.abs(U[gap] - U[~gap].mean()).min() > 2.0 * U[~gap].std()
    np.testing.assert_allclose(tails.inverse(tails(X)), X, rtol=1e-9)


def test_other_values_stand_for_no_gap():
    X, gap = with_stand_in(-999.0)
    n = len(X)
    end = np.arange(n) >= 0.9 * n
    for column in (
        # not far enough; one row; all in the second half, as the last days of a date
        np.where(gap, -150.0, X[:, 0]),
        np.where(np.arange(n) == 7, -999.0, np.abs(X[:, 0])),
        np.where(end, -999.0, np.abs(X[:, 0])),
        # no others, or others that are all alike but for a few; few others
        np.where(gap, -999.0, 3.0),
        np.where(gap, -999.0, np.arange(n) % 50 == 0),
        np.where(np.arange(n) % 50 == 0, X[:, 0] % 7.0, -999.0),
    ):
        assert not list(units_module._with_stand_ins(column[:, None]))


def test_columns_with_values_that_stand_for_gaps_are_learned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 5))
    y = 2.0 * X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] + 0.5 * rng.standard_normal(1000)
    X[rng.random(1000) < 0.1, 0] = -999.0
    model = OnlineKernelRegressor(n_components=100, speed="fast", random_state=0)
    # the noise and what is not known are 0.8
    errors = model.predict_then_learn(X, y) - y
    assert np.sqrt(np.mean(errors[200:] ** 2)) < 1.0


def test_rows_without_heavy_columns_are_not_copied(X):
    tails = finished(TailCurves.in_steps(X[:, [0, 2]]))
    rows = X[:, [0, 2]]
    assert tails(rows) is rows
    assert tails.inverse(rows) is rows


def test_units_standardise_and_come_back(X):
    units = finished(Units.in_steps(X))
    U = units(X)
    np.testing.assert_allclose(U.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(U.std(axis=0), [1, 1, 1, 1, 0], atol=1e-9)
    np.testing.assert_allclose(units.inverse(U), X, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-140, 1e-19, 1e-12, 1e90])
def test_columns_in_any_unit(X, unit):
    U = finished(Units.in_steps(X))(X)
    np.testing.assert_allclose(finished(Units.in_steps(X * unit))(X * unit), U, atol=0.1)


def test_what_rounding_leaves_of_a_constant_is_no_spread(X):
    X[:, 4] += 7e-15 * np.sign(X[:, 0] - 3.0)
    assert finished(Units.in_steps(X)).scale[4] == 1.0
    # the mean of more rows is less exact
    assert finished(Units.in_steps(np.full((131_072, 2), 3.7))).scale[0] == 1.0


def test_a_huge_constant_column_hides_no_other(X):
    y, rows = np.sin(X[:, 0]), X[:400, [0, 4]]
    small, huge = (
        OnlineKernelRegressor(n_components=20, speed="fast", memory=False).predict_then_learn(
            rows * by, y[:400]
        )
        for by in ([1.0, 1.0], [1.0, 1e30])
    )
    np.testing.assert_allclose(huge, small, atol=1e-2)


@pytest.mark.parametrize("unit", [1e-160, 1e-310])
def test_columns_too_small_to_square_are_constant(X, unit):
    rows = X[:100] * unit
    units = finished(Units.in_steps(rows))
    np.testing.assert_array_equal(units.scale, 1.0)
    assert not units.tails.spread.any()
    model = OnlineKernelRegressor(n_components=5, speed="fast").fit(rows, X[:100, 0])
    later = np.full((1, 5), 1e150)
    assert np.isfinite(model.predict(later)).all()
    np.testing.assert_array_equal(from_bytes(model.to_bytes()).predict(later), model.predict(later))


def test_a_few_rows_and_huge_values_make_no_warnings(X):
    for rows in (X[:1], X[:2], X[:8], X * 1e150):
        assert np.isfinite(finished(Units.in_steps(rows))(rows)).all()


def test_widths_in_other_units(X):
    """w ∘ (x - s) stays the same, unless a curve is added or removed."""
    old, new = finished(Units.in_steps(X[:8])), finished(Units.in_steps(X))
    ratio = np.exp(old.log_finer(new))
    steps = np.diff(old(X)[:, 0]) - ratio[0] * np.diff(new(X)[:, 0])
    np.testing.assert_allclose(steps, 0.0, atol=1e-12)
    np.testing.assert_array_equal(ratio[[1, 3]], 1.0)


def test_a_width_becomes_twice_as_fine_at_most():
    """A column that was nearly constant so far must not put all rows far apart."""
    rare = np.zeros((200, 2))
    rare[:, 1] = np.arange(200)
    rare[5, 0], rare[100:, 0] = 1e-3, 1.0
    old, new = finished(Units.in_steps(rare[:100])), finished(Units.in_steps(rare))
    assert new.scale[0] > 1000.0 * old.scale[0]
    np.testing.assert_allclose(np.exp(old.log_finer(new))[0], 2.0)
    # a smaller scale is followed fully
    np.testing.assert_allclose(np.exp(new.log_finer(old)), old.scale / new.scale)


@pytest.mark.parametrize("d", [1, 3, 9, 22])
def test_units_of_some_columns_at_a_time_are_those_of_all(d, monkeypatch):
    X = np.random.default_rng(d).lognormal(0.0, 1.5, (1000, d)).astype(np.float32)
    whole = finished(Units.in_steps(X))
    monkeypatch.setattr(units_module, "_NUMBERS", 1)
    steps = list(Units.in_steps(X))
    assert len(steps) == units_module.n_steps(1000, d)
    assert (len(steps) > 10) == (d > 8)
    again = finished(Units.in_steps(X))
    for mine, own in zip(again[1:], whole[1:], strict=True):
        np.testing.assert_array_equal(mine, own)
    np.testing.assert_array_equal(again.tails.as_array(), whole.tails.as_array())
    np.testing.assert_array_equal(again(X), whole(X))


def test_a_new_column_stays_as_it_is(X):
    units = finished(Units.in_steps(X))
    wider = units.with_columns(2)
    more = np.hstack([X, X[:, :2]])
    np.testing.assert_array_equal(wider(more)[:, :5], units(X))
    np.testing.assert_array_equal(wider(more)[:, 5:], X[:, :2])


@pytest.mark.slow
@pytest.mark.compiled
def test_the_default_tells_amounts_apart(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.lognormal(0.0, 1.5, (900, 5))
    y = np.sin(np.log(X).mean(axis=1))

    def error():
        before = OnlineKernelRegressor(n_components=100, pairs=False).predict_then_learn(X, y)
        return np.mean((before - y)[300:] ** 2)

    def straight(X):
        yield True
        return TailCurves(*np.zeros((2, X.shape[1])))

    drawn_in = error()
    monkeypatch.setattr(TailCurves, "in_steps", straight)
    assert drawn_in < 0.75 * error()
