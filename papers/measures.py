"""How one run of a case is made: the learner, the rows in their order, and what is measured.

Every measure is called with a case and the run's number, and returns a JSON-able dict with
``value``, ``seconds``, ``rows`` (how many), ``comparable`` (whether the set is whole), and a curve
where there is one.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np

from onkel import (
    AdaptiveNystroem,
    DivergenceError,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    NystroemFeatures,
    StreamModel,
    SupportKernelClassifier,
    make,
)
from onkel.budgets import RandomRemoval
from onkel.evaluation.search import SEARCH_SEED
from onkel.maps.online_kmeans import Panel
from onkel.rules import Gradient, Pegasos
from onkel.streams import Block
from papers.aligned import alignment, chosen
from papers.bounds import bounded
from papers.cases import Case
from papers.nolana import kernel_error
from papers.olk import regret
from papers.rows import load_rows, order, train_and_test
from papers.streams import in_order


def _svc(seed: int, **parameters: Any) -> Any:
    """LIBSVM is scikit-learn's SVC; as in LIBSVM's own program, zeros are not stored."""
    from scipy.sparse import csr_array
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.svm import SVC

    return make_pipeline(FunctionTransformer(csr_array), SVC(cache_size=1000, **parameters))


def _llsvm(seed: int, *, gamma: float, n_components: int, C: float, tol: float = 0.01) -> Any:
    """Low-rank linearisation: Nyström features and a linear SVM, as precise as LIBLINEAR's own."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    nystroem = Nystroem(gamma=gamma, n_components=n_components, random_state=seed)
    return make_pipeline(nystroem, LinearSVC(C=C, dual=False, tol=tol))


class _LosingPanel(Panel):
    """Landmarks move, but the weights stay as they were."""

    def move(self) -> None:
        super().move()


class _LosingMap(AdaptiveNystroem):
    """Without the second stage of NOLANA (equation 12)."""

    def panel(self, X: Any, weight: Any) -> Panel:
        return _LosingPanel(self, X, weight)


def _gradient_over(map_class: Any) -> Callable[..., Any]:
    """Gradient steps over the features of a map."""

    def made(
        seed: int, *, loss: str, learning_rate: float, schedule: Any = "constant", **of_map: Any
    ) -> Any:
        cls = ExplicitKernelRegressor if loss == "squared" else ExplicitKernelClassifier
        return cls(map=map_class(**of_map), rule=Gradient(learning_rate, schedule), loss=loss)

    return made


def _bsgd_random(seed: int, *, alpha: float, **parameters: Any) -> Any:
    """Budgeted Pegasos that drops a random row, as Lu et al. have BSGD-R."""
    budget = RandomRemoval(parameters.pop("budget"))
    rule = Pegasos(alpha, project=False)
    return SupportKernelClassifier(
        loss="hinge", rule=rule, budget=budget, random_state=seed, **parameters
    )


#: learners that are not in onkel, made with (seed, **parameters)
OTHERS: dict[str, Callable[..., Any]] = {
    "svc": _svc,
    "bsgd-random": _bsgd_random,
    "llsvm": _llsvm,
    "nystroem": _gradient_over(NystroemFeatures),
    "nolana-losing": _gradient_over(_LosingMap),
}
#: those of them that learn all rows at once
BATCH = ("svc", "llsvm")
#: learners whose landmarks move
MOVING = ("nolana", "nolana-losing")


def new_learner(case: Case, seed: int) -> Any:
    """A fresh learner of a case."""
    if case.made_by in OTHERS:
        return OTHERS[case.made_by](seed, **case.parameters)
    task = "regression" if case.task == "regression" else "classification"
    learner = make(case.made_by, task, **case.parameters)
    if "random_state" in learner.get_params(deep=False):
        learner.set_params(random_state=seed)
    return learner


def piped_model(case: Case, seed: int) -> StreamModel:
    """A fresh learner of a case in its pipeline."""
    return StreamModel(new_learner(case, seed), **(case.piped or {}))


def piped_loss(
    case: Case, X: np.ndarray, y: np.ndarray, seed: int, warm_up: bool
) -> tuple[float, float]:
    """Share of mistakes or mean squared error of one pass over all rows, and its seconds."""
    model = piped_model(case, seed)
    if warm_up:
        deepcopy(model).learn(Block(X[:_FEW], y[:_FEW], 0))
    total, began = 0.0, time.perf_counter()
    for a in range(0, len(y), _BLOCK):
        predicted = model.learn(Block(X[a : a + _BLOCK], y[a : a + _BLOCK], a))
        total += float(_losses(case, predicted, y[a : a + _BLOCK]).sum())
    return total / len(y), time.perf_counter() - began


Outcome = dict[str, Any]
_POINTS, _FEW, _BLOCK = 20, 512, 4096


def finish(case: Case, loss: float) -> float:
    """The metric of a mean loss, a share of mistakes or a squared error."""
    if case.metric == "mistakes":
        return 100.0 * loss
    if case.metric == "accuracy":
        return 100.0 * (1.0 - loss)
    return loss if case.metric == "mse" else case.unit * float(np.sqrt(loss))


def _losses(case: Case, predicted: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (predicted - y) ** 2 if case.task == "regression" else (predicted != y).astype(float)


_WARM: set[tuple[str, str]] = set()


def _is_first(case: Case) -> bool:
    """Whether this process runs the learner for the first time, and so loads compiled code."""
    key = (case.made_by, case.task)
    first = key not in _WARM
    _WARM.add(key)
    return first


def _warm_up(case: Case, X: np.ndarray, y: np.ndarray) -> None:
    """Load compiled code, once per process and learner, so that this isn't timed."""
    if not _is_first(case):
        return
    more = {} if case.task == "regression" else {"classes": np.unique(y)}
    with suppress(ValueError), np.errstate(over="ignore", invalid="ignore"):
        new_learner(case, 0).predict_then_learn(X[:_FEW], y[:_FEW], **more)


def stream_once(case: Case, X: np.ndarray, y: np.ndarray, seed: int) -> Outcome:
    """One pass over the rows as they stand, each predicted before it is learned."""
    _warm_up(case, X, y)
    learner = new_learner(case, seed)
    marks = np.unique(np.linspace(0, len(y), min(_POINTS, len(y)) + 1).astype(int))
    more = {} if case.task == "regression" else {"classes": np.unique(y)}
    total, seconds = 0.0, 0.0
    values, times = [], []
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b in itertools.pairwise(marks):
            began = time.perf_counter()
            predicted = learner.predict_then_learn(X[a:b], y[a:b], **more)
            seconds += time.perf_counter() - began
            more = {}
            total += float(_losses(case, predicted, y[a:b]).sum())
            values.append(finish(case, total / b))
            times.append(seconds)
    moves = learner.map_.n_moves_ if case.made_by in MOVING else None
    curve = [marks[1:].tolist(), values, times]
    return {"value": values[-1], "seconds": seconds, "moves": moves, "curve": curve}


def _passed(case: Case, X: np.ndarray, y: np.ndarray, seed: int) -> Outcome:
    """One pass over the rows as they stand, by the learner alone or in its pipeline."""
    if case.piped is None:
        return stream_once(case, X, y, seed)
    loss, seconds = piped_loss(case, X, y, seed, _is_first(case))
    return {"value": finish(case, loss), "seconds": seconds}


def once(case: Case, run: int) -> Outcome:
    """The rows once, in the run's order."""
    X, y, complete = load_rows(case.rows)
    rows = order(len(y), run)
    outcome = _passed(case, X[rows], y[rows], run)
    return {**outcome, "rows": len(y), "comparable": complete}


def searched(case: Case, run: int) -> Outcome:
    """As `once`, in orders that are not reported; a learner that diverges has an infinite loss."""
    X, y, complete = load_rows(case.rows)
    rows = order(len(y), run + 1, SEARCH_SEED)
    try:
        outcome = _passed(case, X[rows], y[rows], 1000 + run)
    except DivergenceError:
        outcome = {"value": math.inf, "seconds": 0.0}
    return {**outcome, "rows": len(y), "comparable": complete}


def _taught(case: Case, parts: tuple[np.ndarray, ...], seed: int) -> Outcome:
    """Learn the training rows (the first two arrays), predict the test rows (the others)."""
    X, y, X_test, y_test = parts
    learner = new_learner(case, seed)
    began = time.perf_counter()
    if case.made_by in BATCH:
        learner.fit(X, y)
    else:
        more = {} if case.task == "regression" else {"classes": np.unique(y)}
        learner.predict_then_learn(X, y, **more)
    middle = time.perf_counter()
    predicted = learner.predict(X_test)
    ended = time.perf_counter()
    value = finish(case, float(_losses(case, predicted, y_test).mean()))
    return {"value": value, "seconds": middle - began, "test_seconds": ended - middle}


def split(case: Case, run: int, fewer: int = 0) -> Outcome:
    """Learn the training rows once, in the run's order; the metric is that of the test rows."""
    (X, y, *test), own = train_and_test(case.rows)
    rows = order(len(y), run)[: len(y) - fewer]
    outcome = _taught(case, (X[rows], y[rows], *test), run)
    return {**outcome, "rows": len(rows), "comparable": own}


def stopped(case: Case, run: int) -> Outcome:
    """As `split`, but the last 20 rows of the order are not learned."""
    return split(case, run, fewer=20)


def fold(case: Case, run: int) -> Outcome:
    """Predict one of five folds of a part of the training rows, after learning the others."""
    (X, y, *_), own = train_and_test(case.rows)
    places = order(len(y), 0, SEARCH_SEED)
    held = np.arange(len(y)) % 5 == run
    train, test = places[~held], places[held]
    outcome = _taught(case, (X[train], y[train], X[test], y[test]), 1000 + run)
    return {**outcome, "rows": len(y), "comparable": own}


MEASURES: dict[str, Callable[[Case, int], Outcome]] = {
    "once": once,
    "searched": searched,
    "split": split,
    "stopped": stopped,
    "fold": fold,
    "kernel error": kernel_error,
    "alignment": alignment,
    "chosen": chosen,
    "regret": regret,
    "bounded": bounded,
    "in order": in_order,
}
