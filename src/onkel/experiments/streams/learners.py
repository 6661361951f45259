"""The default, its rivals here, and River's forests; each predicts a row before it learns it.

River's forests run with ten trees and their own defaults behind River's StandardScaler: on the rows
as they are, and with the last three targets and two exponential means as further columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.algorithms import make
from onkel.errors import DataError
from onkel.pipeline import StreamModel
from onkel.streams import Block

_TREES = 10
_LAGS = 3
_KEPT = (0.8, 0.99)
# seconds per row of ten trees
_FOREST = 2e-3

#: predictions of every row of (X, y) before it is learned, with a seed
Pass = Callable[[np.ndarray, np.ndarray, str, int], np.ndarray]


@dataclass(frozen=True)
class Learner:
    """A column of the table."""

    name: str
    told: str
    run: Pass
    #: whether it draws random numbers
    random: bool = False
    #: seconds per row, about
    slow: float = 1e-4


def _last(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
    """The target of the row before; for the first row its own, as there is none before."""
    return np.concatenate([y[:1], y[:-1]])


def _own(name: str, **params: Any) -> Pass:
    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
        estimator = make(name, task, **params)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=seed)
        return StreamModel(estimator).learn(Block(X, y, 0))

    return run


def with_lags(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X with the last three targets and two exponential means, as known before each row."""
    y = y.astype(np.float64)
    past = np.zeros((len(y), _LAGS + len(_KEPT)))
    for lag in range(1, _LAGS + 1):
        past[lag:, lag - 1] = y[:-lag]
    for j, kept in enumerate(_KEPT, _LAGS):
        level = 0.0
        for t in range(len(y)):
            past[t, j] = level
            level = kept * level + (1.0 - kept) * y[t]
    return np.hstack([X, past])


def _forest(name: str, lags: bool) -> Pass:
    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
        model, first = _river(name, task, seed)
        names = [f"x{j}" for j in range(X.shape[1] + lags * (_LAGS + len(_KEPT)))]
        told = []
        for row, target in zip((with_lags(X, y) if lags else X).tolist(), y.tolist(), strict=True):
            x = dict(zip(names, row, strict=True))
            predicted = model.predict_one(x)
            told.append(first if predicted is None else predicted)
            model.learn_one(x, target)
        return np.array(told)

    return run


def _river(name: str, task: str, seed: int) -> tuple[Any, Any]:
    """River's forest, and a stand-in for its prediction before the first row."""
    try:
        from river import forest, preprocessing
    except ImportError as error:
        raise DataError(
            "River's forests need River: pip install onkel[river], or leave them out with "
            "--learners default,fast,rrf,krls,last"
        ) from error
    classes = {
        ("arf", "classification"): forest.ARFClassifier,
        ("arf", "regression"): forest.ARFRegressor,
        ("amf", "classification"): forest.AMFClassifier,
        ("amf", "regression"): forest.AMFRegressor,
    }
    number = {"n_models": _TREES} if name == "arf" else {"n_estimators": _TREES}
    # ARF's regression leaves are linear, and diverge on columns of large numbers
    model = preprocessing.StandardScaler() | classes[name, task](**number, seed=seed)
    return model, 0.0 if task == "regression" else -1


_ALL = (
    Learner("default", "the default, nothing set", _own("okl"), random=True),
    Learner("fast", 'the default with speed="fast"', _own("okl", speed="fast")),
    Learner("rrf", "RRF", _own("rrf"), random=True),
    Learner("krls", "kernel recursive least squares", _own("krls")),
    Learner("last", "the last value or class again", _last),
    Learner("arf", "River's ARF", _forest("arf", lags=False), random=True, slow=_FOREST),
    Learner("arf-lags", "ARF with lags", _forest("arf", lags=True), random=True, slow=_FOREST),
    Learner("amf", "River's AMF", _forest("amf", lags=False), random=True, slow=_FOREST),
    Learner("amf-lags", "AMF with lags", _forest("amf", lags=True), random=True, slow=_FOREST),
)
LEARNERS = {learner.name: learner for learner in _ALL}


def find_learners(names: str | None) -> list[Learner]:
    """Learners by names separated by commas; all if None."""
    if names is None:
        return list(_ALL)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    for name in asked:
        if name not in LEARNERS:
            raise ValueError(f"--learners {name}: must be among {', '.join(LEARNERS)}")
    return [LEARNERS[name] for name in asked]
