"""The aligned distribution: against a generic convex solver, its optimality conditions, oracles."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel import AlignedRegressor
from onkel.maps.alignment import aligned_weights, divergence
from onkel.maps.candidates import LabelSums

POWERS = (1.5, 2.0, 2.5, 3.0, 4.0)
RADII = (1e-3, 0.1, 1.0, 6.0)


def values(n=60, seed=0):
    return np.random.default_rng(seed).chisquare(1, n) ** 1.5


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("rho", RADII)
def test_it_is_what_a_generic_solver_finds(power, rho):
    v = values(seed=int(10 * power))
    n, q = len(v), cp.Variable(len(v))
    ball = cp.sum(cp.power(n * q, power)) / n <= 1 + rho
    problem = cp.Problem(cp.Maximize(v @ q), [q >= 0, cp.sum(q) == 1, ball])
    problem.solve(solver=cp.CLARABEL)
    ours = aligned_weights(v, rho, power)
    assert v @ ours == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(ours, q.value, atol=2e-5)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("rho", RADII)
def test_optimality_conditions_with_the_k(power, rho):
    """λ k N^{k-1} q^{k-1} = v - θ where q > 0, v ≤ θ elsewhere; the duality gap is 0."""
    v = values(300, seed=3)
    n, q = len(v), aligned_weights(v, rho, power)
    assert (q >= 0).all()
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert divergence(q, power) == pytest.approx(rho, rel=1e-9)
    used = q > 1e-12
    # the equations of two features give the multipliers
    rise = (n * q[used]) ** (power - 1)
    low, high = rise.argmin(), rise.argmax()
    slope = (v[used][high] - v[used][low]) / (rise[high] - rise[low])
    theta = v[used][high] - slope * rise[high]
    np.testing.assert_allclose(slope * rise, v[used] - theta, rtol=1e-6, atol=1e-8 * v.max())
    assert (v[~used] <= theta + 1e-8).all()
    # the dual at λ = slope/k is the primal; with the k left out, λ = slope, it is not
    gaps = {}
    for name, lam in (("k", slope / power), ("no k", slope)):
        q_dual = (np.maximum(v - theta, 0) / (lam * power)) ** (1 / (power - 1)) / n
        gaps[name] = abs(q_dual.sum() - 1)
    assert gaps["k"] < 1e-6
    assert gaps["no k"] > 0.01


def test_chi_square_is_the_projection_onto_the_simplex():
    """The authors' inner step, q(λ) = Π_simplex(1/N + v/λ), at the λ whose q is on the ball."""

    def project(u):
        mu = np.sort(u)[::-1]
        excess = (np.cumsum(mu) - 1) / np.arange(1, len(u) + 1)
        return np.maximum(u - excess[np.flatnonzero(mu > excess)[-1]], 0)

    v, n, rho = values(200), 200, 2.0
    low, high = 1e-6, 1e6
    for _ in range(200):
        lam = np.sqrt(low * high)
        q = project(1 / n + v / lam)
        low, high = (lam, high) if n * ((q - 1 / n) ** 2).sum() > rho else (low, lam)
    np.testing.assert_allclose(aligned_weights(v, rho), q, atol=1e-10)
    # with another power the ball is another one
    assert np.abs(aligned_weights(v, rho, 3.0) - q).max() > 0.01


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.floats(1e-6, 50),
    st.sampled_from(POWERS),
    st.integers(0, 2**32 - 1),
)
def test_no_feasible_distribution_aligns_better(v, rho, power, seed):
    v = np.array(v)
    q = aligned_weights(v, rho, power)
    assert (q >= 0).all()
    assert q.sum() == pytest.approx(1.0)
    assert divergence(q, power) <= rho + 1e-9
    rng = np.random.default_rng(seed)
    uniform = np.full(len(v), 1 / len(v))
    for _ in range(20):
        # a random distribution, moved towards the uniform one until it is in the ball
        other = rng.dirichlet(np.full(len(v), 0.3))
        for _ in range(60):
            if divergence(other, power) <= rho:
                break
            other = 0.5 * (other + uniform)
        else:
            other = uniform
        assert v @ other <= v @ q + 1e-9 * (1 + v.max())


def test_edges():
    np.testing.assert_array_equal(aligned_weights(np.array([3.0]), 1.0), [1.0])
    np.testing.assert_array_equal(aligned_weights(np.zeros(4), 5.0), np.full(4, 0.25))
    np.testing.assert_array_equal(
        aligned_weights(np.array([1.0, 5.0, 2.0]), 0.0), np.full(3, 1 / 3)
    )
    # all weight on the largest, if the ball contains that; ties share it equally
    np.testing.assert_array_equal(aligned_weights(np.array([1.0, 5.0, 2.0]), 2.0), [0, 1, 0])
    np.testing.assert_array_equal(aligned_weights(np.array([5.0, 5.0, 2.0]), 9.0), [0.5, 0.5, 0])
    # neither the scale of v nor a common offset matters
    v = values()
    np.testing.assert_allclose(aligned_weights(7 * v + 3, 1.0), aligned_weights(v, 1.0), atol=1e-12)
    with pytest.raises(ValueError, match=r"rho=-1\.0 must be a number of at least 0"):
        aligned_weights(v, -1.0)
    with pytest.raises(ValueError, match=r"power=1\.0 must be above 1"):
        aligned_weights(v, 1.0, 1.0)


def test_near_linear_time():
    """A step is O(N) and their number doesn't grow: the paper's 20 000 features take no time."""
    q = aligned_weights(values(20_000), 100.0)
    assert 1 / (q**2).sum() == pytest.approx(20_000 / 101, rel=1e-9)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("K", [1, 3])
def test_running_sums_are_the_sums_of_all_rows(K, centered):
    rng = np.random.default_rng(0)
    phi, Y = rng.standard_normal((50, 7)), rng.standard_normal((50, K)) + 1
    weight = rng.choice([0.0, 1.0, 2.5], 50)
    sums = LabelSums(7)
    for a, b in ((0, 1), (1, 30), (30, 50)):
        sums.add(phi[a:b], Y[a:b], weight[a:b])
    middle = (weight @ Y / weight.sum()) if centered else np.zeros(K)
    v = (((Y - middle) * weight[:, None]).T @ phi) ** 2
    scale = sums.total / sums.unit
    assert np.log2(scale) % 1.0 == 0.0
    np.testing.assert_allclose(sums.squares(centered) * scale**2, v.sum(axis=0), rtol=1e-9)
    assert sums.n_rows == np.count_nonzero(weight)


def test_a_third_class_finds_the_sums_it_would_have_had():
    rng = np.random.default_rng(1)
    phi, codes = rng.standard_normal((60, 5)), rng.integers(0, 2, 60)
    late = rng.standard_normal((40, 5)), rng.integers(0, 3, 40)
    grown, known = LabelSums(5), LabelSums(5)
    # the new class comes between the two: codes 0 and 1 were 0 and 2
    grown.add(phi, 2.0 * codes[:, None] - 1.0, np.ones(60))
    grown.add_class(1)
    known.add(phi, (2 * codes[:, None] == np.arange(3)).astype(float), np.ones(60))
    for sums in (grown, known):
        sums.add(late[0], (late[1][:, None] == np.arange(3)).astype(float), np.ones(40))
    np.testing.assert_allclose(grown.products, known.products, atol=1e-12)
    np.testing.assert_allclose(grown.squares(True), known.squares(True))


@pytest.mark.parametrize("size", [1e-150, 1e200, 1e300])
def test_weights_of_any_size_choose_the_same_features(size):
    rng = np.random.default_rng(5)
    phi, y = rng.standard_normal((50, 9)), rng.standard_normal((50, 1))
    expected, sums = LabelSums(9), LabelSums(9)
    expected.add(phi, y, np.ones(50))
    sums.add(phi, y, np.full(50, size))
    v, u = sums.squares(True) / sums.unit**2, expected.squares(True) / expected.unit**2
    np.testing.assert_allclose(v, u, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("column", ["constant", "tiny", "huge"])
def test_the_cut_into_blocks_means_nothing_where_columns_say_nothing(column, dtype):
    rng = np.random.default_rng(0)
    huge = 1e18 if dtype == "float32" else 1e150
    n, size = 300, {"constant": 0.0, "tiny": 1.0 / huge, "huge": huge}[column]
    X = (0.0 if column == "tiny" else 3.7) + size * rng.standard_normal((n, 2))
    y = rng.standard_normal(n)
    chosen = []
    for cut in (1, 7, 64, n):
        parts = {"n_components": 5, "n_candidates": 40, "gamma": 0.5, "random_state": 0}
        model = AlignedRegressor(**parts, dtype=dtype)
        for a in range(0, n, cut):
            model.partial_fit(X[a : a + cut], y[a : a + cut])
        chosen.append(model.map_.candidates_.used)
    for used in chosen[1:]:
        np.testing.assert_array_equal(used, chosen[0])
