"""The budgeted learners in plain NumPy: a list of rows, row by row, no panel, no scale.

``stored`` is a list of [row number, label, coefficients (K,)]; everything else is recomputed from
it whenever it is needed.
"""

from __future__ import annotations

import numpy as np

_MASK = (1 << 64) - 1


class Random:
    """xorshift64 in Python's own integers."""

    def __init__(self, state):
        self.x = int(state)

    def uniform(self):
        self.x ^= (self.x << 13) & _MASK
        self.x ^= self.x >> 7
        self.x ^= (self.x << 17) & _MASK
        return (self.x >> 11) * 2.0**-53


def direction(loss, p, y, epsilon, margin=1.0):
    """(loss, c) of the scores p (K,)."""
    if loss == "epsilon_insensitive":
        delta = y - p[0]
        return max(0.0, abs(delta) - epsilon), np.array([np.sign(delta) * (abs(delta) > epsilon)])
    if loss == "squared":
        delta = y - p[0]
        return delta**2 / 2, np.array([delta * (abs(delta) > epsilon)])
    if len(p) == 1:
        wrong = (p[0] >= 0) != (y > 0) if loss == "perceptron" else y * p[0] < margin
        return max(0.0, 1 - y * p[0]), np.array([y * wrong])
    k = int(y)
    rival = max((s for s in range(len(p)) if s != k), key=lambda s: p[s])
    wrong = np.argmax(p) != k if loss == "perceptron" else p[k] - p[rival] < margin
    return max(0.0, 1 - p[k] + p[rival]), (np.eye(len(p))[k] - np.eye(len(p))[rival]) * wrong


class Naive:
    """f = Σ α_j κ(s_j, ·) with the kernel matrix of all rows at hand."""

    def __init__(self, G, K, limit, rng):
        self.G, self.K, self.limit, self.rng = G, K, limit, rng
        self.stored = []
        self.Q, self.M = 0.0, 0

    def f(self, i, stored=None):
        parts = [a * self.G[j, i] for j, _, a in (self.stored if stored is None else stored)]
        return np.sum(parts, axis=0) if parts else np.zeros(self.K)

    def norm2(self):
        return sum(a @ b * self.G[i, j] for i, _, a in self.stored for j, _, b in self.stored)

    def shrink(self, factor):
        self.stored = [[i, y, a * factor] for i, y, a in self.stored]

    # ---- who goes (the new row stands last) --------------------------------------------------

    def random(self):
        del self.stored[int(self.rng.uniform() * self.limit)]

    def oldest(self):
        del self.stored[0]

    def smallest(self):
        weights = [a @ a * self.G[i, i] for i, _, a in self.stored[:-1]]
        del self.stored[int(np.argmin(weights))]

    def nearest(self):
        t = self.stored[-1][0]
        distances = [self.G[i, i] - 2 * self.G[i, t] for i, _, _ in self.stored[:-1]]
        del self.stored[int(np.argmin(distances))]

    def redundant(self, regression):
        def margin(n):
            i, y, _ = self.stored[n]
            p = self.f(i, self.stored[:n] + self.stored[n + 1 :])
            if regression:
                return -abs(y - p[0])
            if self.K == 1:
                return y * p[0]
            return p[int(y)] - max(p[s] for s in range(self.K) if s != int(y))

        del self.stored[max(range(self.limit), key=margin)]

    def weight_and_output(self, n, regression):
        i, y, a = self.stored[n]
        k = 0 if self.K == 1 else int(y)
        sigma, mu = abs(a[k]), self.f(i)[k]
        return sigma, abs(mu) if regression else (mu * y if self.K == 1 else mu)

    def forget(self, regression, second_root=False):
        sigma, mu = self.weight_and_output(0, regression)

        def damage(phi):
            return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

        low, high = 0.0, 1.0
        if self.Q + damage(1.0) <= 15 / 32 * self.M:
            low = 1.0
        elif second_root and damage(1.0) > damage(1e9):
            roots = np.roots([sigma**2 - 2 * sigma * mu, 2 * sigma, self.Q - 15 / 32 * self.M])
            low = max(roots)
        else:
            # the first crossing, by bisection on a fine grid
            grid = np.linspace(0, 1, 20001)
            high = grid[np.argmax(self.Q + damage(grid) > 15 / 32 * self.M)]
            for _ in range(80):
                middle = (low + high) / 2
                inside = self.Q + damage(middle) <= 15 / 32 * self.M
                low, high = (middle, high) if inside else (low, middle)
        self.Q += damage(low)
        self.shrink(low)
        del self.stored[0]

    def forget_with_second_root(self, regression):
        self.forget(regression, second_root=True)

    def forget_greedily(self, regression):
        for n in range(self.limit):
            sigma, mu = self.weight_and_output(n, regression)
            if sigma**2 + 2 * sigma - 2 * sigma * mu <= 15 / 32:
                del self.stored[n]
                return
        self.forget(regression)

    def forget_basic(self):
        m = self.limit + 1
        radius = 0.25 * np.sqrt(m / np.log(m))
        self.shrink(min(m ** (-0.5 / m), radius / np.sqrt(self.norm2())))
        if len(self.stored) > self.limit:
            del self.stored[0]

    def fixed_random(self):
        del self.stored[int(self.rng.uniform() * (self.limit + 1))]
        self.shrink((self.limit + 1) / self.limit)

    def bounded(self, removal, bound, most):
        new = self.stored.pop()
        m = len(self.stored)
        if removal == "oldest":
            del self.stored[0]
        elif removal == "uniform":
            del self.stored[int(self.rng.uniform() * m)]
            self.shrink(m / (m - 1))
        else:
            w = np.array([np.sqrt(a @ a * self.G[i, i]) for i, _, a in self.stored])
            p = np.maximum(0, 1 - (m - 1) * w / w.sum())
            p /= p.sum()
            r = int(np.argmax(np.cumsum(p) > self.rng.uniform()))
            self.stored = [[i, y, a / (1 - p[j])] for j, (i, y, a) in enumerate(self.stored)]
            del self.stored[r]
        if bound == "each":
            self.stored = [[i, y, np.clip(a, -most, most)] for i, y, a in self.stored]
        self.stored.append(new)
        if bound == "all":
            self.shrink(min(1.0, most / max(np.abs(a).max() for _, _, a in self.stored)))

    def replace(self):
        t, y, new = self.stored.pop()
        q = self.G[t, t]

        def change(n):
            i, _, a = self.stored[n]
            beta = a * self.G[i, t] / q + new
            return a @ a * self.G[i, i] + beta @ beta * q - 2 * a @ beta * self.G[i, t]

        r = min(range(self.limit), key=change)
        i, _, a = self.stored.pop(r)
        self.stored.append([t, y, a * self.G[i, t] / q + new])


def learn(G, y, K, loss, step, make_room, limit, rng, *, epsilon=0.1, alpha=0.0, radius=np.inf,
          thinning=None, every_time=False, nu=0.0):  # fmt: skip
    """Scores (n, K) before each row; ``step(t, loss, c, q)`` is the factor of c."""
    model, P, tube = Naive(G, K, limit, rng), np.empty((len(y), K)), None
    tube = epsilon if loss in ("squared", "epsilon_insensitive") else 1.0
    for t in range(len(y)):
        P[t] = model.f(t)
        regression = loss in ("squared", "epsilon_insensitive")
        value, c = direction(loss, P[t], y[t], tube if regression else epsilon, tube)
        eta = step(t + 1, value, c, G[t, t])
        if nu:
            tube += (1 if regression else -1) * eta * (bool(c.any()) - nu)
        model.shrink(1 - eta * alpha if alpha else 1.0)
        keep = 1.0
        if c.any() and thinning is not None:
            keep = (t + 1.0) ** -thinning
            keep = keep if rng.uniform() < keep else 0.0
        if c.any() and keep:
            model.M += 1
            model.stored.append([t, y[t], eta / keep * c])
            if every_time or (limit is not None and len(model.stored) > limit):
                make_room(model, eta)
        assert limit is None or len(model.stored) <= limit
        if radius < np.inf:
            model.shrink(min(1.0, radius / np.sqrt(max(model.norm2(), 1e-300))))
    return P, model
