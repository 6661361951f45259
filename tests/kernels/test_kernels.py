"""Every kernel against its formula, and its random frequencies against the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import NOGDClassifier, OGDClassifier
from onkel.kernels import KERNELS, Kernel, Periodic, Polynomial, RationalQuadratic, make_kernel
from onkel.maps import FourierFeatures
from onkel.maps.bandwidth import fit_gamma

R3, R5 = np.sqrt(3.0), np.sqrt(5.0)


def formula(name, x, s, gamma):
    delta = x - s
    r2 = delta @ delta
    r = np.sqrt(2.0 * gamma * r2)
    formulas = {
        "gaussian": np.exp(-gamma * r2),
        "laplacian": np.exp(-gamma * np.abs(delta).sum()),
        "cauchy": np.prod(1.0 / (1.0 + gamma * delta**2)),
        "rational_quadratic": 1.0 / (1.0 + gamma * r2),
        "matern32": (1 + R3 * r) * np.exp(-R3 * r),
        "matern52": (1 + R5 * r + 5 * r**2 / 3) * np.exp(-R5 * r),
        "polynomial": (gamma * x @ s + 1.0) ** 3,
        "linear": x @ s,
        "periodic": np.exp(-4 * gamma * np.sum(np.sin(np.pi * delta) ** 2)),
    }
    if name not in formulas:
        pytest.fail(f"kernel {name!r} has no formula: add it, in plain NumPy, to this function")
    return formulas[name]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_gram_is_the_formula(name, sparse):
    rng = np.random.default_rng(0)
    X, S = rng.standard_normal((7, 3)), rng.standard_normal((4, 3))
    kernel = make_kernel(name)
    expected = [[formula(name, x, s, 0.3) for s in S] for x in X]
    rows = csr_matrix(X) if sparse else X
    np.testing.assert_allclose(kernel.gram(rows, S, 0.3), expected, rtol=1e-10)
    own = [formula(name, x, x, 0.3) for x in X]
    np.testing.assert_allclose(kernel.diagonal(rows, 0.3), own, rtol=1e-10)


@pytest.mark.parametrize("name", [k for k in KERNELS if make_kernel(k).shift_invariant])
def test_random_frequencies_estimate_the_kernel(name):
    X = np.random.default_rng(1).standard_normal((12, 3))
    # 40 000 paired features: a standard error of at most 1/sqrt(2 * 40 000) = 0.0035
    Z = FourierFeatures(40_000, name, gamma=0.4, random_state=2).fit_transform(X)
    K = make_kernel(name).gram(X, X, 0.4)
    assert np.abs(Z @ Z.T - K).max() < 5 * 0.0036


def test_orthogonal_frequencies_estimate_better():
    X = np.random.default_rng(3).standard_normal((20, 8))
    K = make_kernel("gaussian").gram(X, X, 0.1)

    def error(orthogonal):
        squared = 0.0
        for seed in range(20):
            Z = FourierFeatures(32, gamma=0.1, orthogonal=orthogonal, random_state=seed)
            F = Z.fit_transform(X)
            squared += ((F @ F.T - K) ** 2).mean()
        return squared

    assert error(True) < 0.8 * error(False)


def test_rational_quadratic_tends_to_the_gaussian():
    X = np.random.default_rng(4).standard_normal((6, 2))
    wide = RationalQuadratic(shape=1e7).gram(X, X, 0.5)
    np.testing.assert_allclose(wide, make_kernel("gaussian").gram(X, X, 0.5), atol=1e-5)


def test_periodic_columns_come_back():
    X = np.random.default_rng(5).standard_normal((6, 2))
    kernel = Periodic(period=24.0)
    np.testing.assert_allclose(kernel.gram(X + 48.0, X, 0.5), kernel.gram(X, X, 0.5), atol=1e-12)
    circles = np.concatenate([np.cos(2 * np.pi * X / 24), np.sin(2 * np.pi * X / 24)], axis=1)
    on_circles = make_kernel("gaussian")
    np.testing.assert_allclose(kernel.gram(X, X, 0.5), on_circles.gram(circles, circles, 0.5))
    np.testing.assert_allclose(kernel.distances(X), on_circles.distances(circles), atol=1e-7)


def test_a_kernel_without_a_spectrum_draws_none():
    class Flat(Kernel):
        name = "flat"
        radial = False

    with pytest.raises(ValueError, match="'flat' is not radial: give it frequencies"):
        Flat().spectrum(np.random.default_rng(0), 2, 3, 1.0)


def test_polynomial_parameters():
    x = np.array([[1.0, 2.0]])
    assert Polynomial(degree=2, coef0=0.5).gram(x, x, 2.0)[0, 0] == pytest.approx(10.5**2)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Polynomial(degree=0), "degree=0 must be a positive whole number"),
        (Polynomial(degree=2.5), "degree=2.5 must be a positive whole number"),
        (Polynomial(degree="2"), "degree='2' must be a positive whole number"),
        (Polynomial(coef0=np.nan), "coef0=nan must be a finite number"),
        (Periodic(period=0.0), "period=0.0 must be a positive number"),
        (Periodic(period="day"), "period='day' must be a positive number"),
        (RationalQuadratic(shape=-1.0), "shape=-1.0 must be a positive number"),
    ],
)
def test_bad_parameters_are_named(kernel, message):
    X, y = np.eye(4), [0, 1, 0, 1]
    for model in (OGDClassifier(kernel=kernel), NOGDClassifier(kernel=kernel)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_median_and_scale():
    X = np.array([[0.0], [1.0], [3.0]])  # distances 1, 2, 3
    assert fit_gamma("median", make_kernel("gaussian"), X) == pytest.approx(1 / 8)
    assert fit_gamma("median", make_kernel("laplacian"), X) == pytest.approx(1 / 2)
    assert fit_gamma("scale", make_kernel("gaussian"), X) == pytest.approx(1 / X.var())
    same = np.ones((5, 4))
    assert fit_gamma("median", make_kernel("gaussian"), same) == 1 / 4
    assert fit_gamma("scale", make_kernel("gaussian"), same) == 1 / 4
    assert fit_gamma(0.7, make_kernel("gaussian"), same) == 0.7


def test_names():
    assert make_kernel("rbf").name == "gaussian"
    with pytest.raises(ValueError, match="kernel='rbff' is not one of 'cauchy'"):
        make_kernel("rbff")
    with pytest.raises(ValueError, match="did you mean 'laplacian'"):
        make_kernel("laplace")
    with pytest.raises(ValueError, match="orthogonal=True needs a radial kernel"):
        FourierFeatures(8, "laplacian", orthogonal=True).fit(np.eye(3))
    with pytest.raises(ValueError, match="no spectrum"):
        FourierFeatures(8, "polynomial").fit(np.eye(3))
