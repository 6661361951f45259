"""Whether two versions of onkel predict the same: record with one, compare with the other.

    python -m benchmarks.same_predictions record before.npz
    python -m benchmarks.same_predictions compare before.npz

Every algorithm of the table learns fixed streams: two classes, three classes and a target, dense
and sparse, in several block sizes, with its shipped parameters, in float32 and float64. Recorded
are the scores before each row was learned and the scores of rows that were never learned.
``compare`` prints the largest difference of each run that differs, relative to the largest score,
and fails above ``--tolerance``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix

from onkel import ALGORITHMS, make

N_ROWS, N_COLUMNS, N_HELD_OUT = 1100, 6, 50
#: name of a run, block size, rows learned
CUTS = (("whole", N_ROWS, N_ROWS), ("blocks", 64, 600), ("pieces", 7, 300), ("rows", 1, 150))


def streams() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Rows (n, d), a fifth of them zeros, and a target for each task."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS + N_HELD_OUT, N_COLUMNS))
    X[rng.random(X.shape) < 0.2] = 0.0
    f = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + 0.1 * rng.normal(size=len(X))
    three = np.digitize(f, np.quantile(f, [0.33, 0.66]))
    return X, {"binary": (f > 0).astype(int), "multiclass": three, "regression": f}


def runs(only: tuple[str, ...] = ()) -> Iterator[tuple[str, np.ndarray]]:
    """Name and scores of every run, of the algorithms in ``only`` or of all."""
    X, targets = streams()
    for name, row in ALGORITHMS.items():
        if only and name not in only:
            continue
        for task in row.tasks:
            for dtype in ("float32", "float64"):
                for cut, size, n in CUTS:
                    yield (
                        f"{name}/{task}/{dtype}/{cut}",
                        learn(name, task, dtype, X[:n], targets[task][:n], size, X[N_ROWS:]),
                    )
            yield (
                f"{name}/{task}/sparse",
                learn(
                    name, task, "float64", csr_matrix(X[:600]), targets[task][:600], 64, X[N_ROWS:]
                ),
            )


def learn(name, task, dtype, X, y, size, held_out):  # type: ignore[no-untyped-def]
    """Scores before each row was learned, then those of the rows held out."""
    model = make(name, task, dtype=dtype)
    if "random_state" in model.get_params():
        model.set_params(random_state=3)
    classes = {} if task == "regression" else {"classes": np.unique(y), "return_scores": True}
    parts = [
        model.predict_then_learn(X[a : a + size], y[a : a + size], **classes)
        for a in range(0, X.shape[0], size)
    ]
    last = model.predict(held_out) if task == "regression" else model.decision_function(held_out)
    return np.concatenate([*parts, last]).astype(np.float64)


def compare(before: dict[str, np.ndarray], tolerance: float, only: tuple[str, ...]) -> int:
    """Print every run that differs by more than ``tolerance``; 1 if there is one."""
    failed = n = 0
    for name, scores in runs(only):
        if name not in before:
            print(f"{name:44} new")
            continue
        n += 1
        scale = max(np.abs(before[name]).max(), 1e-300)
        difference = np.abs(scores - before[name]).max() / scale
        if not difference <= tolerance:
            failed += 1
            first = int(
                np.argmax(
                    ~(np.abs(scores - before[name]) <= tolerance * scale)
                    .reshape(len(scores), -1)
                    .all(axis=1)
                )
            )
            print(f"{name:44} {difference:.1e} from row {first} on", flush=True)
    print(f"{n} runs compared, {failed} differ by more than {tolerance:g}")
    return int(failed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file")
    parser.add_argument("--tolerance", type=float, default=1e-12)
    parser.add_argument("--only", default="", help="names of algorithms, by comma")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    only = tuple(name for name in options.only.split(",") if name)
    if options.action == "record":
        np.savez_compressed(options.file, **dict(runs(only)))
        return 0
    return compare(dict(np.load(options.file)), options.tolerance, only)


if __name__ == "__main__":
    sys.exit(main())
