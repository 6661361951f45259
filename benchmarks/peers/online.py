"""Learners of one pass: every row is predicted before it is learned.

Each takes rows X (n, d) and targets y (n,), classes 0, 1, ... or values, and gives predictions of
all rows. scikit-learn predicts and learns rows by the hundred, the others one by one. Columns are
scaled by running statistics, or by the first thousand rows where the library keeps none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.ceilings import SEED

Pass = Callable[[np.ndarray, np.ndarray], np.ndarray]
_FIRST, _BATCH, _TREES, _FEATURES = 1000, 100, 10, 400


def _are_classes(y: np.ndarray) -> bool:
    return y.dtype.kind != "f"


def scaled(X: np.ndarray, first: int = _FIRST) -> np.ndarray:
    """Columns centred and divided by the deviation of the first rows."""
    spread = X[:first].std(axis=0)
    return (X - X[:first].mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def target_scale(y: np.ndarray, first: int = _FIRST) -> tuple[float, float]:
    """What to subtract from a target and divide it by: mean and deviation of the first rows."""
    return (0, 1) if _are_classes(y) else (y[:first].mean(), y[:first].std())


def onkel_with(name: str, **parameters: Any) -> Pass:
    """One of onkel's learners, as ``onkel learn`` runs it."""

    def run(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        from onkel import make
        from onkel.pipeline import StreamModel
        from onkel.streams import Block

        task = "classification" if _are_classes(y) else "regression"
        estimator = make(name, task, **parameters)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=SEED)
        model = StreamModel(estimator)
        parts = [slice(a, a + 4096) for a in range(0, len(y), 4096)]
        return np.concatenate([model.learn(Block(X[at], y[at], at.start)) for at in parts])

    return run


def sklearn_sgd(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """SGD over 400 random Fourier features, gamma = 1/d; targets scaled by the first rows."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    classes, X = _are_classes(y), scaled(X)
    features = RBFSampler(gamma=1 / X.shape[1], n_components=_FEATURES, random_state=SEED)
    Z = features.fit(X[:2])
    centre, spread = target_scale(y)
    target = y if classes else (y - centre) / spread
    model = (SGDClassifier if classes else SGDRegressor)(random_state=SEED)
    known = {"classes": np.unique(y)} if classes else {}
    predicted = np.full(len(y), target[0], target.dtype)
    for a in range(0, len(y), _BATCH):
        rows = Z.transform(X[a : a + _BATCH])
        if a:
            predicted[a : a + _BATCH] = model.predict(rows)
        model.partial_fit(rows, target[a : a + _BATCH], **known)
    return predicted * spread + centre


def river_with(name: str, **parameters: Any) -> Pass:
    """A tree or a forest of River's."""

    def run(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        from river import forest, tree

        kinds = {
            ("arf", True): forest.ARFClassifier, ("arf", False): forest.ARFRegressor,
            ("hoeffding", True): tree.HoeffdingTreeClassifier,
            ("hoeffding", False): tree.HoeffdingTreeRegressor,
        }  # fmt: skip
        model = kinds[name, _are_classes(y)](**parameters)
        # leaves of regression trees are linear, and diverge on columns of large numbers
        X, predictions = scaled(X), []
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            x = dict(enumerate(row))
            predicted = model.predict_one(x)
            predictions.append(y[0] if predicted is None else predicted)
            model.learn_one(x, target)
        return np.array(predictions)

    return run


def _vowpal_pass(options: str, rows: list[str], labels: list[str]) -> list[float]:
    from vowpalwabbit import Workspace

    model = Workspace(f"--quiet {options}")
    predicted = []
    for row, label in zip(rows, labels, strict=True):
        predicted.append(model.predict(f"| {row}"))
        model.learn(f"{label} | {row}")
    model.finish()
    return predicted


def _vowpal_rows(X: np.ndarray) -> list[str]:
    return [
        " ".join(f"{j}:{value:.6g}" for j, value in enumerate(row) if value) for row in X.tolist()
    ]


def vowpal_ksvm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gaussian kernel, gamma = 1/d; two classes."""
    options = f"--ksvm --kernel rbf --bandwidth {1 / X.shape[1]} --random_seed {SEED}"
    scores = _vowpal_pass(options, _vowpal_rows(scaled(X)), [str(2 * label - 1) for label in y])
    return (np.array(scores) > 0).astype(int)


def vowpal_linear(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Its default: a linear model with steps of its own for every column."""
    rows, n_classes = _vowpal_rows(scaled(X)), int(y.max()) + 1
    if not _are_classes(y):
        centre, spread = target_scale(y)
        labels = [f"{value:.9g}" for value in (y - centre) / spread]
        return np.array(_vowpal_pass("", rows, labels)) * spread + centre
    if n_classes == 2:
        labels = [str(2 * label - 1) for label in y]
        return (np.array(_vowpal_pass("--loss_function logistic", rows, labels)) > 0).astype(int)
    predicted = _vowpal_pass(f"--oaa {n_classes}", rows, [str(label + 1) for label in y])
    return np.array(predicted) - 1


def capymoa_arf(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """MOA's adaptive random forest."""
    from capymoa.classifier import AdaptiveRandomForestClassifier
    from capymoa.regressor import AdaptiveRandomForestRegressor
    from capymoa.stream import NumpyStream

    classes = _are_classes(y)
    stream = NumpyStream(X, y, target_type="categorical" if classes else "numeric")
    kind = AdaptiveRandomForestClassifier if classes else AdaptiveRandomForestRegressor
    model = kind(schema=stream.get_schema(), ensemble_size=_TREES, random_seed=SEED + 1)
    predictions = []
    while stream.has_more_instances():
        row = stream.next_instance()
        predicted = model.predict(row)
        predictions.append(y[0] if predicted is None else predicted)
        model.train(row)
    return np.array(predictions)
