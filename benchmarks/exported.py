"""``predict`` and the ONNX graph of the same model: ``python -m benchmarks.exported [--rounds N]``.

Rows per second of 4 096 rows with 22 features at once, microseconds for one row, the size of the
file, and the largest difference of the scores as a share of the largest score. One core; rounds are
interleaved, and the ratio is that of the medians.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line, rate, seconds  # first: it sets the threads

# isort: split
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from onkel import make

N_FEATURES, LEARNED, ROWS, SINGLE = 22, 5000, 4096, 200
MODELS: dict[str, dict[str, Any]] = {
    "okl": {"speed": "fast"},
    "krls": {},
    "fogd": {},
    "rrf": {},
    "nogd": {},
    "fastfood": {},
    "bsgd-m": {},
    "projectron++": {},
    "pa": {},
}


def stream(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).standard_normal((n, N_FEATURES))
    return X, X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) > 0.0


def exported(learner: Any, folder: str) -> tuple[Any, int]:
    """The learner's graph in a session of one thread, and the bytes of its file."""
    path = Path(folder) / "model.onnx"
    learner.export_onnx(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options), path.stat().st_size


def one_by_one(predict: Any, X: np.ndarray) -> None:
    for t in range(SINGLE):
        predict(X[t : t + 1])


def compare(name: str, params: dict[str, Any], rounds: int) -> None:
    learner = make(name, **params)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    learner.fit(*stream(LEARNED, 0))
    X = stream(ROWS, 1)[0].astype(learner.dtype)
    with tempfile.TemporaryDirectory() as folder:
        session, size = exported(learner, folder)
        expected, found = learner.decision_function(X), session.run(["decision"], {"X": X})[0]
        both = {"predict": learner.predict, "graph": lambda X: session.run(None, {"X": X})}
        whole = seconds({key: lambda f=f: f(X) for key, f in both.items()}, rounds)
        single = seconds({key: lambda f=f: one_by_one(f, X) for key, f in both.items()}, rounds)
    line(
        f"`{name}`", learner.dtype,
        *(rate(ROWS, whole[key]) for key in both), f"{whole['predict'] / whole['graph']:.2f}",
        *(f"{1e6 * single[key] / SINGLE:.0f}" for key in both), f"{size / 1e3:,.0f} kB",
        f"{np.abs(found - expected).max() / np.abs(expected).max():.0e}",
    )  # fmt: skip


def main() -> None:
    rounds = arguments(__doc__, rounds=7).rounds
    print(f"onnxruntime {onnxruntime.__version__}\n")
    columns = "`predict` rows/s", "graph rows/s", "ratio", "`predict` µs, one row", "graph µs"
    head("learner", "dtype", *columns, "file", "largest difference", left=2)
    for name, params in MODELS.items():
        compare(name, params, rounds)


if __name__ == "__main__":
    main()
