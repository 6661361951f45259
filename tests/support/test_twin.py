"""The twin vector machine against a plain restatement, and its SVM against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from onkel import TVMClassifier
from onkel.support.slots import SIZE

GAMMA, B, C, MARGIN, TOL, DISCORD = 0.8, 9, 2.0, 0.8, 0.02, 10.0


def rows(n_classes, n=220, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = (X[:, 0] * X[:, 1] > 0.1 * rng.standard_normal(n)).astype(int)
    return X, y + (X[:, 0] > 0.8) * (n_classes == 3)


def gram(X, S):
    return np.exp(-GAMMA * ((X[:, None] - S[None]) ** 2).sum(axis=-1))


def gap(p, c):
    if len(p) == 1:
        return p[0] if c == 1 else -p[0]
    return (p[c] - max(p[s] for s in range(len(p)) if s != c)) / 2


def limits(mass, k, K):
    """The largest α⁺ and α⁻ of output k, (size,) each."""
    own = mass[:, 1] if K == 1 else mass[:, k]
    return C * own, C * (mass.sum(axis=1) - own)


class Naive:
    """Lists of prototypes; every value from its definition."""

    def __init__(self, K, n_classes):
        self.K = K
        self.S, self.mass = np.zeros((0, 2)), np.zeros((0, n_classes))
        self.plus, self.minus = np.zeros((0, K)), np.zeros((0, K))

    @property
    def beta(self):
        return self.plus - self.minus

    def f(self, X):
        return gram(X, self.S) @ self.beta

    def keep(self, index):
        for name in ("S", "mass", "plus", "minus"):
            setattr(self, name, getattr(self, name)[index])

    def append(self, s, mass, plus, minus):
        for name, value in (("S", s), ("mass", mass), ("plus", plus), ("minus", minus)):
            setattr(self, name, np.vstack([getattr(self, name), value]))

    def farthest(self):
        F = self.f(self.S)
        far = [max(gap(p, c) for c in range(self.mass.shape[1])) for p in F]
        free = [j for j in range(len(F)) if not self.beta[j].any() and far[j] > MARGIN]
        return max(free, key=lambda j: far[j]) if free else None

    def merge_cost(self, m, n):
        a, b = self.mass[m].sum(), self.mass[n].sum()
        apart = np.sum((self.mass[m] / a - self.mass[n] / b) ** 2)
        near = 1 - gram(self.S[m : m + 1], self.S[n : n + 1])[0, 0]
        return (near + DISCORD / 2 * apart) * a * b / (a + b)

    def merge(self):
        pairs = [(m, n) for m in range(B + 1) for n in range(m + 1, B + 1)]
        m, n = min(pairs, key=lambda pair: self.merge_cost(*pair))
        a, b = self.mass[m].sum(), self.mass[n].sum()
        self.S[m] = (a * self.S[m] + b * self.S[n]) / (a + b)
        for name in ("mass", "plus", "minus"):
            getattr(self, name)[m] += getattr(self, name)[n]
        return n

    def make_room(self):
        r = self.farthest()
        r = self.merge() if r is None else r
        order = list(range(B + 1))
        order[r] = B  # the last prototype moves to the free place
        self.keep(order[:B])

    def optimise(self):
        for _ in range(100):
            F, moves = self.f(self.S), []
            for k in range(self.K):
                high, low = limits(self.mass, k, self.K)
                up = np.clip(self.plus[:, k] + 1 - F[:, k], 0, high)
                down = np.clip(self.minus[:, k] + 1 + F[:, k], 0, low)
                for j in range(len(F)):
                    moves.append((abs(up[j] - self.plus[j, k]), self.plus, j, k, up[j]))
                    moves.append((abs(down[j] - self.minus[j, k]), self.minus, j, k, down[j]))
            size, duals, j, k, value = max(moves, key=lambda move: move[0])
            if size <= TOL:
                return
            duals[j, k] = value

    def learn(self, x, c):
        p = self.f(x[None])[0] if len(self.S) else np.zeros(self.K)
        if len(self.S) and gap(p, c) >= MARGIN:
            return p
        nothing = np.zeros(self.K)
        self.append(x, np.eye(self.mass.shape[1])[c], nothing, nothing)
        if len(self.S) > B:
            self.make_room()
        self.optimise()
        return p


def learner(**more):
    params = {"budget": B, "C": C, "margin": MARGIN, "tol": TOL, "gamma": GAMMA} | more
    return TVMClassifier(dtype="float64", **params)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_against_the_restatement(n_classes):
    X, y = rows(n_classes)
    naive = Naive(1 if n_classes == 2 else 3, n_classes)
    expected = np.array([naive.learn(x, c) for x, c in zip(X, y, strict=True)])
    model = learner()
    model.partial_fit(X[:1], y[:1], classes=range(n_classes))
    P = [expected[0], *(model.model_.learn(*one) for one in coded(X[1:], y[1:], n_classes))]
    np.testing.assert_allclose(np.vstack(P), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(model.support_vectors_, naive.S, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.coef_.T.reshape(B, -1), naive.beta, rtol=1e-6, atol=1e-8)
    assert naive.mass.sum() <= len(X)


def coded(X, y, n_classes):
    labels = 2.0 * y - 1.0 if n_classes == 2 else y.astype(float)
    return ((X[t : t + 1], labels[t : t + 1], np.ones(1)) for t in range(len(y)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_svm_is_solved(n_classes):
    """KKT on all prototypes at any time: the dual is that of a general solver."""
    X, y = rows(n_classes)
    model = learner(tol=1e-6, max_steps=100_000).fit(X[:120], y[:120]).model_
    m = int(model.counts[SIZE])
    K = gram(model.support, model.support)
    for k in range(model.n_outputs):
        high, low = limits(model.mass[:, :m].T, k, model.n_outputs)

        def dual(a):
            beta = a[:m] - a[m:]
            return 0.5 * beta @ K @ beta - a.sum()

        box = list(zip(np.zeros(2 * m), np.concatenate([high, low]), strict=True))
        best = minimize(dual, np.zeros(2 * m), bounds=box, method="L-BFGS-B", tol=1e-12)
        ours = np.concatenate([model.plus[k, :m], model.minus[k, :m]])
        assert (ours >= 0).all()
        assert (ours <= np.concatenate([high, low]) + 1e-12).all()
        assert dual(ours) == pytest.approx(best.fun, rel=1e-4)
        np.testing.assert_allclose(model.outputs[k, :m], K @ model.coef[k], atol=1e-9)


def test_a_third_class_leaves_the_first_two_their_halves_of_f():
    X, y = rows(2)
    model = learner().fit(X, y).model_
    f = model.scores(X)
    model.add_output(1)
    np.testing.assert_allclose(model.scores(X), np.hstack([-f / 2, 0 * f, f / 2]), atol=1e-12)
    np.testing.assert_allclose(model.A, model.plus - model.minus, atol=1e-12)
    assert min(model.plus.min(), model.minus.min()) >= 0.0


def test_a_weight_multiplies_C():
    X, y = rows(2, n=7)
    twice = learner(margin=100.0).fit(X, y, sample_weight=np.full(7, 2.0))
    assert twice.model_.mass.sum() == 14.0
    np.testing.assert_allclose(twice.coef_, learner(margin=100.0, C=2 * C).fit(X, y).coef_)


@pytest.mark.compiled
def test_more_accurate_than_other_budgets():
    """B = 30 on two moons: fewer mistakes than merging and replacing within the same budget."""
    from onkel import make

    X, y = make_moons(4000, noise=0.25, random_state=0)
    rate = {
        name: np.mean(make(name, budget=30, gamma=2.0, **more).predict_then_learn(X, y) != y)
        for name, more in (("tvm", {}), ("bsgd-m", {"alpha": 1e-3}), ("bpa-s", {}))
    }
    assert rate["tvm"] < min(rate["bsgd-m"], rate["bpa-s"])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"budget": 1}, "budget=1 must be a whole number of at least 2"),
        ({"C": 0.0}, "C=0.0 must be a positive number"),
        ({"margin": -1.0}, "margin=-1.0 must be a positive number"),
        ({"tol": 0.0}, "tol=0.0 must be a positive number"),
        ({"max_steps": 0}, "max_steps=0 must be a whole number of at least 1"),
        ({"kernel": "laplacian"}, "the Gaussian kernel only"),
        ({"loss": "logistic"}, "loss='logistic' is not one of"),
    ],
)
def test_what_cannot_be_is_refused(params, message):
    X, y = rows(2, n=5)
    with pytest.raises(ValueError, match=message):
        learner(**params).fit(X, y)
