"""The papers' algorithms in a few lines of NumPy each, row by row in float64; the engine agrees.

Every oracle returns the scores (n, K) before each row was learned, K = 1 for binary and regression.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from onkel import maps, rules
from onkel.learners import (
    DoublySGDClassifier,
    DoublySGDRegressor,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    FastfoodClassifier,
    FastfoodRegressor,
    FOGDClassifier,
    FOGDRegressor,
    NOGDClassifier,
    NOGDRegressor,
    PAClassifier,
    PARegressor,
    RRFClassifier,
    RRFRegressor,
)

N, D = 250, 4
TASKS = ("binary", "multiclass", "regression")
CLASSIFICATION = ("hinge", "squared_hinge", "logistic", "margin_logistic")
REGRESSION = ("squared", "absolute", "epsilon_insensitive")
CASES = [(task, loss) for task in TASKS[:2] for loss in CLASSIFICATION]
CASES += [("regression", loss) for loss in REGRESSION]
EPSILON = 0.1


def rows(task):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D))
    if task == "regression":
        return X, np.sin(2.0 * X[:, 0]) * X[:, 1]
    signs = X[:, 0] * X[:, 1] > 0.1 * rng.standard_normal(N)
    # whole numbers: truth values would add up to two classes
    return X, signs.astype(int) + (X[:, 2] > 0.5) * (task == "multiclass")


def n_outputs(task):
    return 3 if task == "multiclass" else 1


def coded(task, y):
    return 2.0 * y - 1.0 if task == "binary" else y


def direction(loss, p, y, epsilon=EPSILON):
    """The loss and c = -∂loss/∂p, (K,)."""
    if len(p) == 1:
        m, delta = y * p[0], y - p[0]
        value, move = {
            "hinge": (max(0, 1 - m), y * (m < 1)),
            "squared_hinge": (max(0, 1 - m) ** 2, 2 * y * max(0, 1 - m)),
            "logistic": (np.log1p(np.exp(-m)), y / (1 + np.exp(m))),
            "margin_logistic": (np.log1p(np.exp(-m)), y / (1 + np.exp(m))),
            "perceptron": (max(0, -m), y * ((p[0] >= 0) != (y > 0))),
            "squared": (delta**2 / 2, delta * (abs(delta) > epsilon)),
            "absolute": (abs(delta), np.sign(delta)),
            "epsilon_insensitive": (
                max(0, abs(delta) - epsilon),
                np.sign(delta) * (abs(delta) > epsilon),
            ),
        }[loss]
        return value, np.array([move])
    k, own = int(y), np.eye(len(p))[int(y)]
    if loss == "logistic":
        q = np.exp(p) / np.exp(p).sum()
        return -np.log(q[k]), own - q
    rival = max((s for s in range(len(p)) if s != k), key=lambda s: p[s])
    move, gap = own - np.eye(len(p))[rival], 1 - p[k] + p[rival]
    if loss == "perceptron":
        return max(0, gap - 1), move * (np.argmax(p) != k)
    if loss == "margin_logistic":
        return np.log1p(np.exp(gap - 1)), move / (1 + np.exp(1 - gap))
    return max(0, gap) ** (1 + (loss == "squared_hinge")), move * (
        (gap > 0) if loss == "hinge" else 2 * max(0, gap)
    )


def fourier(X, frequencies):
    angles = X @ frequencies
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(frequencies.shape[1])


def gaussian(X, S, gamma):
    return np.exp(-gamma * ((X[:, None] - S[None]) ** 2).sum(axis=-1))


def with_ones(X):
    return np.hstack([X, np.ones((len(X), 1))])


# ---- the algorithms ------------------------------------------------------------------------------


def gradient(Z, y, K, loss, eta, alpha=0.0, radius=np.inf):
    """w ← (1 - η_t α) w + η_t c z, then onto the ball: FOGD, OLK, Pegasos, the perceptron."""
    w, P = np.zeros((K, Z.shape[1])), np.empty((len(Z), K))
    for t, z in enumerate(Z):
        P[t] = w @ z
        _, c = direction(loss, P[t], y[t])
        step = eta(t + 1)
        w = (1 - step * alpha) * w + step * np.outer(c, z)
        w *= min(1.0, radius / max(np.linalg.norm(w), 1e-300))
    return P


def passive_aggressive(Z, y, K, loss, C, variant):
    w, P = np.zeros((K, Z.shape[1])), np.empty((len(Z), K))
    for t, z in enumerate(Z):
        P[t] = w @ z
        value, c = direction(loss, P[t], y[t])
        q = (c @ c) * (z @ z)
        if q > 0:
            tau = {"PA": value / q, "PA-I": min(C, value / q), "PA-II": value / (q + 0.5 / C)}
            w += tau[variant] * np.outer(c, z)
    return P


def adagrad(Z, y, K, loss, eta):
    w, H, P = np.zeros((K, Z.shape[1])), np.zeros((K, Z.shape[1])), np.empty((len(Z), K))
    for t, z in enumerate(Z):
        P[t] = w @ z
        g = -np.outer(direction(loss, P[t], y[t])[1], z)
        H += g**2
        w -= eta * g / (np.sqrt(H) + 1e-8)
    return P


def doubly_sgd(X, y, K, loss, frequencies, per_row, eta, decay, alpha):
    """Row t adds (from row D/b on: moves again) b frequencies, α_i = -γ_t ℓ' φ_i(x_t)/b each."""
    m = frequencies.shape[1]
    A, P = np.zeros((K, 2, m)), np.empty((len(X), K))
    for t, x in enumerate(X):
        phi = np.array([np.cos(x @ frequencies), np.sin(x @ frequencies)])
        P[t] = np.einsum("kij,ij->k", A, phi)
        step = eta / (1 + decay * (t + 1))
        part = np.arange(m) % (m // per_row) == t % (m // per_row)
        c = direction(loss, P[t], y[t])[1]
        A = (1 - step * alpha) * A + step * c[:, None, None] * (part * phi) / per_row
    return P


def nogd(X, y, K, loss, gamma, n_components, rank, eta):
    """Kernel OGD until B rows are stored and another is due; then OGD over the k features."""
    S, A, w, M = np.empty((0, D)), np.empty((K, 0)), None, None
    P = np.empty((len(X), K))
    for t, x in enumerate(X):
        z = gaussian(S, x[None], gamma)[:, 0]
        P[t] = A @ z if w is None else w @ (M @ z)
        _, c = direction(loss, P[t], y[t])
        if w is None and c.any() and len(S) == n_components:
            values, vectors = np.linalg.eigh(gaussian(S, S, gamma))
            values, V = values[-rank:], vectors[:, -rank:]
            M = (V / np.sqrt(values)).T
            w = A @ np.linalg.pinv(M)
        if w is not None:
            w = w + eta * np.outer(c, M @ z)
        elif c.any():
            S, A = np.vstack([S, x]), np.hstack([A, eta * c[:, None]])
    return P


def rrf(X, y, K, loss, noise, log_width, eta, eta_gamma, damping):
    """Weights and log-widths by the same loss, with both gradients at the old weights.

    With damping, the widths' step shrinks and never goes further than to repair the row.
    """
    m = noise.shape[1]
    w, g, P = np.zeros((K, 2 * m)), log_width.copy(), np.empty((len(X), K))
    for t, x in enumerate(X):
        angles = x @ (np.exp(g)[:, None] * noise)
        cos, sin = np.cos(angles) / np.sqrt(m), np.sin(angles) / np.sqrt(m)
        P[t] = w @ np.r_[cos, sin]
        value, c = direction(loss, P[t], y[t])
        pull = c @ (w[:, m:] * cos - w[:, :m] * sin)
        slope, step = np.exp(g) * x * (noise @ pull), eta_gamma
        if damping:
            step = eta_gamma / np.sqrt(1 + (t + 1) / damping)
            step = min(step, value / max(slope @ slope, 1e-300))
        g = g + step * slope * c.any()
        w = w + eta * np.outer(c, np.r_[cos, sin])
    return P


def rrf_of_components(X, y, K, loss, start, component, eta, eta_gamma, damping):
    """RRF with ω_d = exp(g_b)(m_b + e_d), features √π_b [cos, sin]/√D_b, b the component of d."""
    noise, g, m, logit = (start[name].copy() for name in ("noise", "g", "m", "logit"))
    number = noise.shape[1]
    size = np.bincount(component)[component]
    w, P = np.zeros((K, 2 * number)), np.empty((len(X), K))
    for t, x in enumerate(X):
        frequencies = np.exp(g[:, component]) * (m[:, component] + noise)
        share = np.exp(logit) / np.exp(logit).sum()
        a = np.sqrt(share[component] / size)
        cos, sin = a * np.cos(x @ frequencies), a * np.sin(x @ frequencies)
        P[t] = w @ np.r_[cos, sin]
        value, c = direction(loss, P[t], y[t])
        pull = c @ (w[:, number:] * cos - w[:, :number] * sin)
        part = c @ (w[:, :number] * cos + w[:, number:] * sin)
        by = np.eye(g.shape[1])[component]
        slope_g = x[:, None] * ((frequencies * pull) @ by)
        slope_m = x[:, None] * np.exp(g) * (pull @ by)
        slope_l = 0.5 * (part @ by - share * part.sum())
        if not start["mixed"]:
            slope_m, slope_l = 0 * slope_m, 0 * slope_l
        squared = sum((s**2).sum() for s in (slope_g, slope_m, slope_l))
        step = eta_gamma
        if damping:
            step = min(step / np.sqrt(1 + (t + 1) / damping), value / max(squared, 1e-300))
        step *= c.any()
        g, m, logit = g + step * slope_g, m + step * slope_m, logit + step * slope_l
        w = w + eta * np.outer(c, np.r_[cos, sin])
    return P


# ---- and the engine ------------------------------------------------------------------------------


def engine(classifier, regressor, task, loss, **params):
    cls = regressor if task == "regression" else classifier
    if task == "regression":
        params["epsilon"] = EPSILON
    model = cls(**params, dtype="float64")
    return model if loss is None else model.set_params(loss=loss)


def check(model, task, oracle):
    """Scores before learning, in blocks of uneven size, against the oracle's."""
    X, y = rows(task)
    fixed = {} if task == "regression" else {"classes": [0, 1, 2][: 2 + (task == "multiclass")]}
    cuts = [0, 1, 30, 64, 200, N]
    P = [
        model.predict_then_learn(X[a:b], y[a:b], **fixed, return_scores=True)
        for a, b in itertools.pairwise(cuts)
    ]
    expected = oracle(X, coded(task, y), n_outputs(task))
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(
        np.concatenate(P).reshape(expected.shape), expected, rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize(
    ("schedule", "alpha", "eta"),
    [
        ("constant", 0.0, lambda t: 0.4),
        ("inverse_sqrt", 0.01, lambda t: 0.4 / np.sqrt(t)),
        ("inverse", 0.5, lambda t: 1.0 / (0.5 * t)),
    ],
)
def test_fogd(task, loss, schedule, alpha, eta):
    params = {"n_components": 25, "gamma": 0.3, "learning_rate": 0.4, "random_state": 0}
    params |= {"schedule": schedule, "alpha": alpha}
    model = engine(FOGDClassifier, FOGDRegressor, task, loss, **params)

    def oracle(X, y, K):
        return gradient(fourier(X, model.map_.frequencies_), y, K, loss, eta, alpha)

    check(model, task, oracle)


def hadamard(m):
    return np.ones((1, 1)) if m == 1 else np.kron([[1, 1], [1, -1]], hadamard(m // 2))


def fastfood(X, drawn, m):
    """Angles √(2γ) S H G Π H B x/√m, the matrices written out; √(2γ)/√m is in S, in turns."""
    H = hadamard(m)
    V = []
    for b in range(len(drawn["signs"][0])):
        B, G, S = (np.diag(drawn[name][0, b]) for name in ("signs", "normals", "lengths"))
        V.append(2.0 * np.pi * S @ H @ G @ np.eye(m)[drawn["order"][0, b]] @ H @ B)
    return X @ np.vstack(V)[:, : X.shape[1]].T


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_fastfood(task, loss):
    params = {"n_components": 25, "gamma": 0.3, "learning_rate": 0.4, "random_state": 0}
    model = engine(FastfoodClassifier, FastfoodRegressor, task, loss, **params)

    def oracle(X, y, K):
        angles = fastfood(X, model.map_.get_state(), 4)[:, :25]
        Z = np.hstack([np.cos(angles), np.sin(angles)]) / 5.0
        return gradient(Z, y, K, loss, lambda t: 0.4)

    check(model, task, oracle)


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize(("decay", "alpha"), [(0.0, 0.0), (0.02, 0.05)])
def test_doubly_sgd(task, loss, decay, alpha):
    params = {"n_components": 24, "n_per_row": 3, "gamma": 0.3, "learning_rate": 0.2}
    params |= {"decay": decay, "alpha": alpha, "random_state": 0}
    model = engine(DoublySGDClassifier, DoublySGDRegressor, task, loss, **params)

    def oracle(X, y, K):
        frequencies = model.map_.frequencies(0)[:, :24]
        return doubly_sgd(X, y, K, loss, frequencies, 3, 0.2, decay, alpha)

    check(model, task, oracle)


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_nogd(task, loss):
    params = {"n_components": 12, "rank": 5, "gamma": 0.3, "learning_rate": 0.4}
    model = engine(NOGDClassifier, NOGDRegressor, task, loss, **params)
    check(model, task, lambda X, y, K: nogd(X, y, K, loss, 0.3, 12, 5, 0.4))
    assert model.map_.landmarks_.shape == (12, D)


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize("damping", [0, 50])
def test_rrf(task, loss, damping):
    # steps small enough not to amplify rounding: with larger ones the widths move chaotically
    params = {"n_components": 15, "gamma": 0.3, "learning_rate": 0.2, "learning_rate_gamma": 0.02}
    params |= {"damping": damping, "random_state": 0}
    model = engine(RRFClassifier, RRFRegressor, task, loss, **params)
    start = np.full(D, 0.5 * np.log(2 * 0.3))

    def oracle(X, y, K):
        return rrf(X, y, K, loss, model.map_.noise_, start, 0.2, 0.02, damping)

    check(model, task, oracle)
    assert np.abs(model.map_.log_width_ - start).max() > 0.01


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize("damping", [0, 50])
@pytest.mark.parametrize(("law", "G"), [("frequency", 15), ("mixture", 4)])
def test_rrf_of_components(task, loss, damping, law, G):
    # a smaller step of the widths than above, for the same reason
    params = {"n_components": 15, "gamma": 0.3, "learning_rate": 0.2, "learning_rate_gamma": 0.015}
    params |= {"damping": damping, "random_state": 0, "law": law, "n_mixtures": 4}
    model = engine(RRFClassifier, RRFRegressor, task, loss, **params)
    fresh = model._make_map().set_params(random_state=0)
    fresh.start(D, "float64")
    fresh.fit_first(np.empty((0, D)))
    mixed = law == "mixture"
    start = {"noise": fresh.noise_, "g": fresh.log_width_, "mixed": mixed}
    start["m"] = fresh.mean_ if mixed else np.zeros((D, G))
    # without learned shares, all frequencies have the same share
    start["logit"] = fresh.logit_ if mixed else np.zeros(G)
    # four components of 15 frequencies: 3, 4, 4 and 4
    component = np.repeat(range(G), [3, 4, 4, 4]) if mixed else np.arange(15)

    def oracle(X, y, K):
        return rrf_of_components(X, y, K, loss, start, component, 0.2, 0.015, damping)

    check(model, task, oracle)
    assert np.abs(model.map_.log_width_ - fresh.log_width_).max() > 0.01
    if mixed:
        assert np.abs(model.map_.mean_ - fresh.mean_).max() > 0.01
        assert np.abs(model.map_.logit_).max() > 0.002


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_passive_aggressive(task, variant):
    loss = "epsilon_insensitive" if task == "regression" else "hinge"
    model = engine(PAClassifier, PARegressor, task, loss, C=0.1, variant=variant)

    def oracle(X, y, K):
        return passive_aggressive(with_ones(X), y, K, loss, 0.1, variant)

    check(model, task, oracle)


def composed(task, loss, rule):
    feature_map = maps.FourierFeatures(25, gamma=0.3)
    classes = (ExplicitKernelClassifier, ExplicitKernelRegressor)
    return engine(*classes, task, loss, map=feature_map, rule=rule, random_state=0)


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_olk_projects_onto_the_ball(task, loss):
    model = composed(task, loss, rules.ProjectedGradient(radius=0.9, learning_rate=0.8))

    def oracle(X, y, K):
        Z = fourier(X, model.map_.frequencies_)
        return gradient(Z, y, K, loss, lambda t: 0.8 / np.sqrt(t), radius=0.9)

    check(model, task, oracle)


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize("project", [True, False])
def test_pegasos(task, loss, project):
    model = composed(task, loss, rules.Pegasos(alpha=0.2, project=project))
    radius = 0.2**-0.5 if project else np.inf

    def oracle(X, y, K):
        Z = fourier(X, model.map_.frequencies_)
        return gradient(Z, y, K, loss, lambda t: 1 / (0.2 * t), alpha=0.2, radius=radius)

    check(model, task, oracle)


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_adagrad(task, loss):
    model = composed(task, loss, rules.AdaGrad(learning_rate=0.1))

    def oracle(X, y, K):
        return adagrad(fourier(X, model.map_.frequencies_), y, K, loss, 0.1)

    check(model, task, oracle)


@pytest.mark.parametrize("task", TASKS)
def test_perceptron(task):
    loss = "epsilon_insensitive" if task == "regression" else "perceptron"
    model = composed(task, None, rules.Perceptron(learning_rate=0.7))

    def oracle(X, y, K):
        Z = fourier(X, model.map_.frequencies_)
        return gradient(Z, y, K, loss, lambda t: 0.7)

    check(model, task, oracle)
