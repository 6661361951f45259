"""How far features are from their kernel, ‖G - Z Zᵀ‖ / ‖G‖, on the first 10 000 rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from onkel.experiments.data import load_rows, order
from onkel.experiments.entry import Case

_MOST = 10_000


def relative_error(X: np.ndarray, Z: np.ndarray, gamma: float) -> float:
    """The error of features Z of the Gaussian kernel, by blocks of rows."""
    wrong = whole = 0.0
    norms = np.einsum("ij,ij->i", X, X)
    for a in range(0, len(X), 1000):
        G = norms[a : a + 1000, None] + norms - 2.0 * (X[a : a + 1000] @ X.T)
        np.exp(-gamma * np.maximum(G, 0.0, out=G), out=G)
        whole += float(np.square(G).sum(dtype=float))
        G -= Z[a : a + 1000] @ Z.T
        wrong += float(np.square(G).sum(dtype=float))
    return float(np.sqrt(wrong / whole))


def kernel_error(case: Case, run: int) -> dict[str, Any]:
    """The error of a map that saw the rows once, in the run's order."""
    from onkel.maps import AdaptiveNystroem, FourierFeatures, NystroemFeatures

    kinds: dict[str, Any] = {
        "oana": AdaptiveNystroem, "nogd": NystroemFeatures, "fogd": FourierFeatures,
    }  # fmt: skip
    X, y, complete = load_rows(case.rows)
    X = np.ascontiguousarray(X[order(len(y), run)[:_MOST]])
    feature_map = kinds[case.made_by](**case.parameters)
    if "random_state" in feature_map.get_params():
        feature_map.set_params(random_state=run)
    began = time.perf_counter()
    Z = feature_map.fit(X).transform(X)
    seconds = time.perf_counter() - began
    value = relative_error(X, Z, case.parameters["gamma"])
    return {"value": value, "seconds": seconds, "rows": len(X), "comparable": complete}
