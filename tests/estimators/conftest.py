"""The learners that the tests of this folder run over: every map with every kind of rule."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import budgets, estimators, maps, rules
from onkel.estimators import (
    AlignedClassifier,
    AlignedRegressor,
    DoublySGDClassifier,
    DoublySGDRegressor,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    FastfoodClassifier,
    FastfoodRegressor,
    FOGDClassifier,
    FOGDRegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    NOGDClassifier,
    NOGDRegressor,
    NOLANAClassifier,
    NOLANARegressor,
    PAClassifier,
    PARegressor,
    RRFClassifier,
    RRFRegressor,
)

WARM = {"gamma": "median", "n_warmup": 20}
SET = {"gamma": 0.5}
FEW = {"n_components": 12, "random_state": 3}
SUPPORT = {"budget": 9, "rank": 5, "random_state": 3}


def _open(map, rule, **params):
    return lambda cls: cls(map=map, rule=rule, random_state=3, **params)


OPEN = {
    "linear-decay": _open("identity", rules.Gradient(schedule="inverse", alpha=0.1)),
    "first-pa2": _open(
        maps.NystroemFeatures(9, **WARM), rules.PassiveAggressive(0.5, "PA-II"), loss=None
    ),
    "random-pegasos": _open(
        maps.NystroemFeatures(9, landmarks="random", **WARM), rules.Pegasos(alpha=0.05)
    ),
    "fastfood-least-squares": _open(maps.FastfoodFeatures(12, **WARM), "least_squares"),
    "learned-doubly": _open(
        maps.ReparameterizedFeatures(12, **SET), rules.DoublyStochastic(0.3, n_parts=4)
    ),
    "learned-least-squares": _open(
        maps.ReparameterizedFeatures(12, law="frequency", **WARM), rules.LeastSquares(1.0)
    ),
    "linear-doubly": _open("identity", rules.DoublyStochastic(0.05, 0.01, 0.1, n_parts=2)),
    "fourier-adagrad": _open(maps.FourierFeatures(12, **SET), "adagrad"),
    "fourier-forgetting": _open(
        maps.FourierFeatures(12, **SET), rules.LeastSquares(ridge=0.1, forgetting=0.99)
    ),
    "fourier-perceptron": _open(maps.FourierFeatures(12, **WARM), "perceptron"),
    "aligned-least-squares": _open(
        maps.AlignedFourier(12, 40, n_align=70, **WARM), rules.LeastSquares(forgetting=0.999)
    ),
    "aligned-adagrad": _open(maps.AlignedFourier(12, 40, n_align=None, **SET), "adagrad"),
    "mixture-projected": _open(
        maps.ReparameterizedFeatures(12, law="mixture", n_mixtures=5, **SET),
        rules.ProjectedGradient(radius=1.5),
    ),
    "moving-adagrad": _open(maps.AdaptiveNystroem(9, threshold=0.5, **SET), "adagrad"),
    "moving-forgetting": _open(
        maps.AdaptiveNystroem(9, threshold=0.5, **SET),
        rules.LeastSquares(ridge=0.1, forgetting=0.99),
    ),
    "moving-pegasos": _open(
        maps.AdaptiveNystroem(9, threshold=0.0, solver="scratch", landmarks="random", **WARM),
        rules.Pegasos(alpha=0.05),
    ),
    "support-projected": _open(
        maps.NystroemFeatures(landmarks="support", **SUPPORT, **SET),
        rules.ProjectedGradient(radius=1.5),
    ),
}
NAMED = {
    "fogd": ("FOGD", FEW | SET),
    "fogd-median": ("FOGD", FEW | WARM | {"alpha": 0.01, "schedule": "inverse_sqrt"}),
    "nogd": ("NOGD", SUPPORT | SET),
    "nogd-median": ("NOGD", SUPPORT | WARM),
    "nolana": ("NOLANA", SET | {"budget": 9, "threshold": 1.0, "random_state": 3}),
    "nolana-median": (
        "NOLANA",
        WARM | {"budget": 9, "rank": 5, "weighted": False, "expire": 12, "random_state": 3},
    ),
    "rrf": ("RRF", FEW | SET),
    "rrf-median": ("RRF", FEW | WARM),
    "rrf-d": ("RRF", FEW | SET | {"law": "frequency"}),
    "rrf-sm-median": ("RRF", FEW | WARM | {"law": "mixture", "n_mixtures": 3}),
    "aligned": ("Aligned", FEW | SET | {"n_candidates": 40, "n_align": 70}),
    "aligned-median": (
        "Aligned",
        FEW | WARM | {"n_candidates": 40, "n_align": 50, "selection": "sample", "power": 3.0},
    ),
    "pa": ("PA", {}),
    "fastfood": ("Fastfood", FEW | SET),
    "fastfood-median": ("Fastfood", FEW | WARM | {"kernel": "matern32"}),
    "doubly-sgd": ("DoublySGD", FEW | SET | {"n_per_row": 3, "decay": 0.01}),
    "doubly-sgd-median": ("DoublySGD", FEW | WARM | {"n_per_row": 4, "alpha": 0.01}),
    "krls-median": ("KRLS", {"budget": 9, "random_state": 3} | WARM),
}
CLASSES = {
    "classification": {
        "FOGD": FOGDClassifier,
        "NOGD": NOGDClassifier,
        "NOLANA": NOLANAClassifier,
        "RRF": RRFClassifier,
        "PA": PAClassifier,
        "Aligned": AlignedClassifier,
        "Fastfood": FastfoodClassifier,
        "DoublySGD": DoublySGDClassifier,
        "KRLS": KernelRLSClassifier,
        "open": ExplicitKernelClassifier,
    },
    "regression": {
        "FOGD": FOGDRegressor,
        "NOGD": NOGDRegressor,
        "NOLANA": NOLANARegressor,
        "RRF": RRFRegressor,
        "PA": PARegressor,
        "Aligned": AlignedRegressor,
        "Fastfood": FastfoodRegressor,
        "DoublySGD": DoublySGDRegressor,
        "KRLS": KernelRLSRegressor,
        "open": ExplicitKernelRegressor,
    },
}
BUDGETED = {
    "ogd-median": ("OGD", WARM | {"alpha": 0.01}),
    "olk-growing": ("OLKGrowing", SET | {"radius": 1.5, "random_state": 3}),
    "olk-fixed": ("OLKFixed", SET | {"budget": 9, "radius": 1.5, "random_state": 3}),
    "norma-median": ("NORMA", WARM | {"budget": 9}),
    "budget-perceptron": ("BudgetPerceptron", SET | {"budget": 9}),
    "forgetron": ("Forgetron", SET | {"budget": 9}),
    "bogd": ("BOGD", SET | {"budget": 9, "removal": "nonuniform", "random_state": 3}),
    "bpas-median": ("BPAS", WARM | {"budget": 9}),
    "projectron": ("Projectron", SET | {"budget": 9, "eta": 0.5}),
    "bpap-median": ("BPAP", WARM | {"budget": 9}),
    "bpann": ("BPANN", SET | {"budget": 9}),
    "bsgdp": ("BSGDP", SET | {"budget": 9}),
    "bsgdm-median": ("BSGDM", WARM | {"budget": 9, "alpha": 0.05}),
    "dualsgd-median": (
        "DualSGD",
        WARM | {"budget": 9, "n_components": 12, "n_transfer": 3, "random_state": 3},
    ),
    "pegasos-merging": (
        "SupportKernel",
        SET | {"rule": rules.Pegasos(0.05), "budget": budgets.Merging(9), "random_state": 3},
    ),
    "pegasos-smallest": (
        "SupportKernel",
        SET
        | {"rule": rules.Pegasos(0.05), "budget": budgets.SmallestRemoval(9), "random_state": 3},
    ),
}
NAMED |= BUDGETED
for _task, _kind in (("classification", "Classifier"), ("regression", "Regressor")):
    CLASSES[_task] |= {name: getattr(estimators, name + _kind) for name, _ in BUDGETED.values()}
PA_LOSS = {"classification": "hinge", "regression": "epsilon_insensitive"}


def make(name, task, dtype="float64"):
    """A small learner of the table, for "classification" or "regression"."""
    cls = CLASSES[task]
    if name in NAMED:
        family, params = NAMED[name]
        return cls[family](**params, dtype=dtype)
    estimator = OPEN[name](cls["open"]).set_params(dtype=dtype)
    return estimator.set_params(loss=PA_LOSS[task]) if estimator.loss is None else estimator


NAMES = [*NAMED, *OPEN]


@pytest.fixture(params=["classification", "regression"])
def task(request):
    return request.param


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def learner(name, task):
    return make(name, task)


@pytest.fixture(params=NAMES)
def classifier(request):
    return make(request.param, "classification")


# of these a row of next to no weight changes little: least squares, and a full set, aside
_SMOOTH = ("ogd-median", "olk-growing")


_GENTLE = [n for n in NAMED if n != "krls-median" and (n not in BUDGETED or n in _SMOOTH)]


@pytest.fixture(params=_GENTLE)
def named_classifier(request):
    return make(request.param, "classification")


@pytest.fixture(scope="session")
def X():
    return np.random.default_rng(0).standard_normal((90, 3))


@pytest.fixture(scope="session")
def targets(X):
    """Targets by task: three classes, the third of which comes late, and a smooth function."""
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    y[45:] += X[45:, 2] > 0.5
    return {
        "classification": np.array(["b", "c", "a"])[y],
        "regression": np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1],
        "binary": np.array(["b", "c"])[y.clip(max=1)],
    }


@pytest.fixture
def y(task, targets):
    return targets[task]
