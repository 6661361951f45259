"""Indicators that exclude each other: found whatever their order, with one scale and one width."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from onkel import OnlineKernelRegressor
from onkel.default.bins import PairBins
from onkel.maps.landmarks import first_widths as first_widths_module
from onkel.maps.landmarks.first_widths import first_widths, objective, of_columns, prior_mean
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.indicators import groups_of, in_groups
from onkel.numerics.in_steps import finished


def indicators(codes):
    """A column of zeros and ones for each value."""
    return (codes[:, None] == np.arange(codes.max() + 1)) * 1.0


def table(n, seed=0):
    """Two numbers, then the indicators of two categories in turn; and the categories' codes."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n, 2))
    few, many = rng.integers(0, 3, n), np.minimum(rng.geometric(0.25, n), 9) - 1
    A, B = indicators(few), indicators(many)
    mixed = np.concatenate([[A[:, i], B[:, i]] for i in range(3)])
    return np.c_[numbers, mixed.T, B[:, 3:]], few, many


def as_sets(groups):
    return sorted({tuple(np.flatnonzero(groups == g).tolist()) for g in groups})


def test_the_values_of_a_category_are_a_group_wherever_they_stand():
    X, _, _ = table(400)
    expected = [(0,), (1,), (2, 4, 6), (3, 5, 7, 8, 9, 10, 11, 12, 13)]
    assert as_sets(groups_of(X)) == expected
    order = np.random.default_rng(1).permutation(X.shape[1])
    found = [tuple(sorted(order[list(g)].tolist())) for g in as_sets(groups_of(X[:, order]))]
    assert sorted(found) == expected
    assert np.flatnonzero(in_groups(groups_of(X))).tolist() == list(range(2, 14))


@pytest.mark.parametrize("seed", range(5))
def test_in_no_row_two_of_a_group_are_one(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((300, 30)) < rng.random(30) ** 3).astype(float)
    X[:, ::7] = rng.standard_normal((300, 5))
    groups = groups_of(X)
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))
    for group in range(groups.max() + 1):
        of = X[:, groups == group]
        if of.shape[1] > 1:
            assert set(np.unique(of)) <= {0.0, 1.0}
            assert (of.sum(axis=1) <= 1.0).all()
            assert of.sum(axis=1).mean() >= 0.5


def by_definition(X):
    """Each column joins the group with most ones among those that it excludes."""
    members = []
    for j in range(X.shape[1]):
        if set(np.unique(X[:, j])) <= {0.0, 1.0}:
            excluded = [g for g in members if not (X[:, g].sum(axis=1) * X[:, j]).any()]
            most = max(excluded, key=lambda g: X[:, g].sum(), default=None)
            if most is None or not X[:, most].any():
                members.append([j])
            else:
                most.append(j)
    full = [g for g in members if 2 * X[:, g].sum() >= len(X)]
    together = {j for g in full for j in g}
    return sorted(map(tuple, full + [[j] for j in range(X.shape[1]) if j not in together]))


@pytest.mark.parametrize("seed", range(30))
def test_groups_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(64, 300))
    code = rng.choice(9, n, p=rng.dirichlet(np.full(9, 0.5)))
    parts = (
        rng.standard_normal((n, 2)),
        (code[:, None] == np.arange(11)) * 1.0,  # two values that no row has
        (rng.random((n, 8)) < rng.choice([0.01, 0.1])) * 1.0,
        indicators(rng.integers(0, 2, n)),
    )
    X = np.hstack(parts)
    X = X[:, rng.permutation(X.shape[1])]
    assert as_sets(groups_of(X)) == by_definition(X)


def test_very_many_indicators_take_no_square_of_memory():
    rng = np.random.default_rng(0)
    X = np.zeros((80, 100_000), np.float32)
    X[np.arange(80), rng.integers(0, X.shape[1], 80)] = 1.0
    tracemalloc.start()
    groups = groups_of(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # one group: each row has one of them, and those without ones exclude all
    first = np.flatnonzero(X.any(axis=0))[0]
    assert (groups[first:] == groups[first]).all()
    assert most < 20 * X.nbytes


def test_numbers_few_rows_and_columns_that_come_together_are_alone():
    rng = np.random.default_rng(0)
    alone = list(range(4))
    assert groups_of(rng.standard_normal((200, 4))).tolist() == alone
    assert groups_of(indicators(rng.integers(0, 4, 63))).tolist() == alone
    # exclusive, but 0 in most rows
    seldom = indicators(rng.integers(0, 4, 200)) * (rng.random((200, 1)) < 0.3)
    assert groups_of(seldom).tolist() == alone
    assert groups_of((rng.random((200, 4)) < 0.5).astype(float)).tolist() == alone
    # a value that has not come yet belongs to the category
    assert groups_of(np.c_[indicators(rng.integers(0, 3, 200)), np.zeros(200)]).tolist() == [0] * 4


def test_variances_of_a_group_are_a_quarter_of_a_numbers():
    X, _, _ = table(5000)
    U, groups = finished(Units.in_steps(X))(X), groups_of(X)
    for group in range(groups.max() + 1):
        of = U[:, groups == group]
        share = 1.0 if of.shape[1] == 1 else 0.25
        assert of.var(axis=0).sum() == pytest.approx(share, rel=1e-9)
    # nearly constant so far: the scale is that of a variance of one half
    rare = indicators((np.arange(200) < 2).astype(int))
    np.testing.assert_allclose(finished(Units.in_steps(rare)).scale, np.sqrt(2.0))


def test_a_groups_width_has_the_slope_of_all_its_columns():
    X, few, _ = table(60)
    groups, weight = groups_of(table(400)[0]), np.ones(60)
    Y = ((few == 1) + X[:, 0])[:, None]
    theta = prior_mean(4) + np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    value, slope = objective(theta, X, Y, weight, groups)
    for j, e in enumerate(1e-5 * np.eye(5)):
        sides = [objective(at, X, Y, weight, groups)[0] for at in (theta + e, theta - e)]
        assert slope[j] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-4, abs=1e-5)
    found = first_widths(X, Y, weight, of_columns(prior_mean(4), groups), 30, groups)
    for group in range(4):
        assert np.ptp(found[:-1][groups == group]) == 0.0
    assert objective(prior_mean(4), X, Y, weight, groups)[0] > value or found[0] > prior_mean(4)[0]


def test_a_groups_width_begins_at_the_mean_of_its_columns(monkeypatch):
    X, few, _ = table(60)
    groups, asked = groups_of(table(400)[0]), []

    def counted(theta, *of):
        asked.append(theta)
        return objective(theta, *of)

    monkeypatch.setattr(first_widths_module, "objective", counted)
    start = of_columns(prior_mean(4), groups) + np.linspace(-0.5, 0.5, len(groups) + 1)
    first_widths(X, (X[:, 0] + few)[:, None], np.ones(60), start, 1, groups)
    means = [start[:-1][groups == group].mean() for group in range(4)]
    np.testing.assert_allclose(asked[0], [*means, start[-1]], rtol=1e-12)


def test_cells_take_numbers_before_single_values():
    X, few, many = table(300)
    X = np.c_[X, np.random.default_rng(3).standard_normal((300, 15))]
    Y = (few * 1.0 + many)[:, None]
    bins = PairBins.of(X, Y, 10**6)
    assert len(bins.columns) == 16
    assert set(bins.columns.tolist()) <= {0, 1, *range(14, 29)}
    # with fewer numbers, values fill the places
    assert {0, 1} < set(PairBins.of(X[:, :14], Y, 10**6).columns.tolist())


@pytest.mark.slow
@pytest.mark.compiled
def test_a_category_of_noise_does_not_drown_the_numbers():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (1500, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    noise = indicators(np.minimum(rng.geometric(0.1, 1500), 40) - 1)

    def error(X):
        model = OnlineKernelRegressor(n_components=100, speed="fast", memory=False)
        predicted = model.predict_then_learn(X, y)
        return np.mean((predicted - y)[100:400] ** 2)

    assert error(np.c_[X, noise]) < 2.5 * error(X)
