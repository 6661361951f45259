"""How near landmarks come to an exact Gaussian process with a width for each column.

    python -m benchmarks.exact_process [NAME ...] [--orders 2] [--evidence 1500]

NAME: a regression of the folder ONKEL_DATA. Four ninths of its rows, at most 6 000, in a seeded
order, are learned; up to 10 000 of the others are predicted. The exact processes have the kernel
Matérn 3/2, and the landmarks' own, 1/(1 + r²). Widths, scale and noise maximise the evidence of the
first ``--evidence`` rows; all rows learned then predict. Columns are in the default's units, so
heavy tails are compressed. *500 rows* is the second process over the first 500 rows as landmarks,
with its widths and its penalty. *500 landmarks* are those of the default after its last fit,
without cells and trees. The last columns are the whole default. The table has RMSEs in standard
deviations of the target, as means over the orders.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from benchmarks.streams import file_rows
from onkel import make
from onkel.algorithms import DEFAULT
from onkel.maps.landmarks.fitted import Units
from onkel.numerics.in_steps import finished

DATA = "pumadyn32nm", "parkinsons", "cpusmall", "cadata", "casp", "abalone", "mg"
MOST_LEARNED, MOST_PREDICTED = 6_000, 10_000
BUDGETS = 500, 1000
# Steps of L-BFGS; it mostly ends before.
MOST_STEPS = 60
# A kernel of squared distances, and its derivative by them.
Kernel = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def matern(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matérn 3/2: (1 + √3 r) exp(-√3 r)."""
    r = np.sqrt(3.0 * squares)
    falling = np.exp(-r)
    return (1.0 + r) * falling, -1.5 * falling


def rational(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The landmarks' kernel: 1/(1 + r²)."""
    K = 1.0 / (1.0 + squares)
    return K, -(K * K)


KERNELS = matern, rational


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(n, m) between the rows of A (n, d) and B (m, d)."""
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * (A @ B.T)
    return np.asarray(np.maximum(squares, 0.0))


def minus_log_evidence(
    logs: np.ndarray, X: np.ndarray, y: np.ndarray, kernel: Kernel
) -> tuple[float, np.ndarray]:
    """-log p(y | X) without its constant, and its gradient by ``logs``.

    ``logs``: the logarithms of the widths w (d,), of the scale v and of the noise σ², where the
    covariance is v κ(‖w ∘ (x - x')‖²) + σ² I.
    """
    width, (scale, noise) = np.exp(logs[:-2]), np.exp(logs[-2:])
    U = X * width
    K, slope = kernel(squared_distances(U, U))
    C = scale * K
    C.flat[:: len(C) + 1] += noise + 1e-8 * scale
    factor, lower = cho_factor(C, lower=True, overwrite_a=True)
    alpha = cho_solve((factor, lower), y)
    log_det = 2.0 * np.log(factor.diagonal()).sum()
    inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    # ∂/∂θ = ½ tr((C⁻¹ - αα') ∂C/∂θ)
    G = inverse - np.outer(alpha, alpha)
    by_noise = 0.5 * noise * np.trace(G)
    by_scale = 0.5 * scale * (G * K).sum()
    # ∂r²/∂log w_k = 2 w_k² (x_k - x'_k)²
    G *= slope
    by_width = 2.0 * scale * ((G.sum(axis=1)[:, None] * U * U) - U * (G @ U)).sum(axis=0)
    value = 0.5 * (float(y @ alpha) + log_det)
    return value, np.concatenate([by_width, [by_scale, by_noise]])


class Process(NamedTuple):
    """A Gaussian process with the covariance v κ(‖w ∘ (x - x')‖²) + σ² I."""

    kernel: Kernel
    width: np.ndarray
    scale: float
    noise: float

    @classmethod
    def most_likely(cls, X: np.ndarray, y: np.ndarray, kernel: Kernel) -> Process:
        """The one with the largest evidence."""
        d = X.shape[1]
        begin = np.append(np.full(d, -0.5 * np.log(d)), [0.0, np.log(0.1)])
        limits = [(-10.0, 5.0)] * d + [(-5.0, 8.0), (-16.0, 2.0)]
        logs = minimize(
            partial(minus_log_evidence, X=X, y=y, kernel=kernel),
            begin, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": MOST_STEPS},
        ).x  # fmt: skip
        return cls(kernel, np.exp(logs[:-2]), *np.exp(logs[-2:]))

    def predict(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
        """Its predictions from all rows."""
        U = X * self.width
        C = self.kernel(squared_distances(U, U))[0]
        C.flat[:: len(C) + 1] += self.noise / self.scale + 1e-8
        alpha = cho_solve(cho_factor(C, lower=True, overwrite_a=True), y)
        return self._sums(U, alpha, X_new)

    def predict_by_some(
        self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, m: int
    ) -> np.ndarray:
        """Predictions by the first m rows as landmarks, which learn from all rows."""
        U = X * self.width
        K = self.kernel(squared_distances(U, U[:m]))[0]
        H = K.T @ K + self.noise / self.scale * K[:m]
        H.flat[:: len(H) + 1] += 1e-12 * np.trace(H)
        return self._sums(U[:m], cho_solve(cho_factor(H), K.T @ y), X_new)

    def _sums(self, S: np.ndarray, alpha: np.ndarray, X_new: np.ndarray) -> np.ndarray:
        """Σ α_j κ(x, s_j) for each row, a thousand rows at a time."""
        blocks = np.array_split(X_new * self.width, len(X_new) // 1000 + 1)
        found = [self.kernel(squared_distances(block, S))[0] @ alpha for block in blocks]
        return np.concatenate(found)


def of_default(
    X: np.ndarray, y: np.ndarray, X_new: np.ndarray, landmarks: int, whole: bool
) -> np.ndarray:
    """Predictions of the default after its last fit; not ``whole``: of its landmarks alone."""
    model = make(DEFAULT, "regression", random_state=0, n_components=landmarks, pairs=whole)
    return np.asarray(model.fit(X, y).predict(X_new))


def in_order(name: str, seed: int, evidence: int) -> list[float]:
    """The error of each model, for one order of the rows."""
    X, y = file_rows(name, seed, None)
    n = min(4 * len(y) // 9, MOST_LEARNED)
    X, y = X[: n + MOST_PREDICTED], y[: n + MOST_PREDICTED]
    y = (y - y[:n].mean()) / y[:n].std()
    U = finished(Units.in_steps(X[:n]))(X)
    processes = [Process.most_likely(U[:evidence], y[:evidence], kernel) for kernel in KERNELS]
    rows = U[:n], y[:n], U[n:]
    tasks: list[Callable[[], np.ndarray]] = [partial(each.predict, *rows) for each in processes]
    tasks += [partial(processes[-1].predict_by_some, *rows, m) for m in BUDGETS]
    for whole in (False, True):
        tasks += [partial(of_default, X[:n], y[:n], X[n:], m, whole) for m in BUDGETS]
    errors = [float(np.sqrt(np.mean((task() - y[n:]) ** 2))) for task in tasks]
    print(name, seed, *(f"{error:.5g}" for error in errors), file=sys.stderr, flush=True)
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--evidence", type=int, default=1_500, help="rows that choose parameters")
    options = parser.parse_args()
    one_core()
    budgets = [f"{m:,}" for m in BUDGETS]
    titles = "Matérn 3/2", "1/(1 + r²)", *(f"{m} rows" for m in budgets)
    ours = *(f"{m} landmarks" for m in budgets), *(f"default, {m}" for m in budgets)
    head("data", *titles, *ours)
    for name in options.names or DATA:
        found = [in_order(name, seed, options.evidence) for seed in range(options.orders)]
        line(name, *(f"{error:.4g}" for error in np.mean(found, axis=0)))


if __name__ == "__main__":
    main()
