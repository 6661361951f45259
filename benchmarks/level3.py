"""How near least squares comes to the speed of matrix products: ``python -m benchmarks.level3``.

The default learner with 500 landmarks, each with widths of its own, on 22 columns, after its
search. Its level-3 part consists of the solve and the products of every block and the factor of
every anchor. Their rate is the arithmetic that the algorithm needs, divided by the time they take.
It is compared with a product of two matrices, timed in the same rounds. One core, medians.
"""

from __future__ import annotations

from benchmarks.timing import arguments, seconds  # first: it sets the threads

# isort: split
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf

from benchmarks.streams import nonlinear
from onkel import OnlineKernelClassifier
from onkel.exact.least_squares import ANCHOR_ROWS
from onkel.numerics.linalg import BlockFactor

BUDGET, SEARCHED, TIMED = 500, 1 << 17, 1 << 14
# calls of an operation in a row: its matrices are then in the cache, as in a stream
TIMES = 20


def products(m: int, n: int) -> dict[str, tuple[Callable[[], object], float]]:
    """The products in a period of n rows with m features, and the arithmetic that each needs."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, m))
    R = np.asfortranarray(Z.T @ Z + m * np.eye(m))
    factor = BlockFactor.of(R)
    U = factor.transposed(Z)
    S = np.asfortranarray(U.T @ U + np.eye(n))
    sums = R.copy(order="F")
    square = rng.standard_normal((m, m))
    return {
        "product": (lambda: Z @ square, 2.0 * n * m * m),
        "U = C⁻ᵀZᵀ": (lambda: factor.transposed(Z), 1.0 * n * m * m),
        "S = UᵀU": (lambda: dsyrk(1.0, U.T, lower=1), 1.0 * m * n * n),
        "S = LLᵀ": (lambda: dpotrf(S, lower=1), n**3 / 3.0),
        "R + ZᵀZ": (lambda: dsyrk(1.0, Z.T, beta=1.0, c=sums, overwrite_c=1), 1.0 * n * m * m),
        "R = CᵀC": (lambda: BlockFactor.of(R), m**3 / 3.0),
    }


def repeated(task: Callable[[], object]) -> None:
    for _ in range(TIMES):
        task()


def main() -> None:
    options = arguments(__doc__, rounds=9)
    X, y = nonlinear(SEARCHED + TIMED)
    model = OnlineKernelClassifier(n_components=BUDGET, restart=False).fit(
        X[:SEARCHED], y[:SEARCHED]
    )
    parts = products(BUDGET + 1, ANCHOR_ROWS)
    rows = slice(SEARCHED, None)
    tasks: dict[str, Callable[[], object]] = {
        name: partial(repeated, task) for name, (task, _) in parts.items()
    }
    tasks["rows"] = lambda: model.partial_fit(X[rows], y[rows])
    times = seconds(tasks, options.rounds)
    print(f"{TIMED / times['rows']:,.0f} rows/s; widths {model.map_.width_.shape}")
    rate = {name: TIMES * needed / times[name] for name, (_, needed) in parts.items()}
    for name, value in rate.items():
        print(f"{name:12} {value / 1e9:6.1f} G/s  {value / rate['product']:4.0%}")
    level3 = [name for name in parts if name != "product"]
    whole = TIMES * sum(parts[name][1] for name in level3) / sum(times[name] for name in level3)
    print(f"{'level 3':12} {whole / 1e9:6.1f} G/s  {whole / rate['product']:4.0%}")


if __name__ == "__main__":
    main()
