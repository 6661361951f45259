"""Every learner as an ONNX graph: onnxruntime predicts what ``predict`` predicts."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import budgets, make
from onkel.algorithms import ALGORITHMS
from onkel.kernels import KERNELS
from onkel.learners import (
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    SupportKernelClassifier,
    SupportKernelRegressor,
)
from onkel.maps import (
    MAPS,
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FourierFeatures,
    IdentityFeatures,
    LearnedLandmarks,
    NystroemFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
    SignProjection,
)

pytestmark = pytest.mark.compiled

N = 300
X = np.random.default_rng(0).normal(0.5, 1.0, (N, 3))
NEW = np.random.default_rng(1).normal(0.5, 1.3, (1000, 3))
WAVE = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1]
TARGETS = {
    "binary": np.where(WAVE > 0.3, "yes", "no"),
    "multiclass": np.digitize(WAVE, [-0.2, 0.7]) * 10,
    "regression": WAVE,
}
#: parameters that make a learner small, if it has them
SMALL = {
    "budget": 15, "n_components": 20, "n_candidates": 40, "n_align": 100, "n_mixtures": 3,
    "n_transfer": 3, "gamma": 0.5, "random_state": 0,
}  # fmt: skip
CASES = [(name, task) for name, row in ALGORITHMS.items() for task in row.tasks]
FEW = {"gamma": 0.5, "random_state": 0}


def small(name, task, **params):
    learner = make(name, task)
    known = learner.get_params(deep=False)
    return learner.set_params(**{k: v for k, v in SMALL.items() if k in known}, **params)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_every_learner_is_exported(name, task, graph_of, agrees):
    learner = small(name, task, dtype="float64").fit(X, TARGETS[task])
    run = graph_of(learner)
    agrees(learner, run, NEW)
    # any number of rows
    agrees(learner, run, NEW[:1])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_graph_computes_in_the_learners_precision(name, graph_of, agrees):
    learner = small(name, "binary", dtype="float32").fit(X, TARGETS["binary"])
    run = graph_of(learner)
    assert run.session.get_inputs()[0].type == "tensor(float)"
    agrees(learner, run, NEW)


EACH_MAP = [
    IdentityFeatures(),
    IdentityFeatures(fit_intercept=False),
    FourierFeatures(30, orthogonal=True, **FEW),
    FourierFeatures(30, kernel="cauchy", **FEW),
    RegeneratedFeatures(300, **FEW),
    FastfoodFeatures(70, **FEW),
    NystroemFeatures(30, rank=7, **FEW),
    *(
        ReparameterizedFeatures(12, law=law, n_mixtures=3, **FEW)
        for law in ("frequency", "mixture")
    ),
    AlignedFourier(20, 60, selection="sample", **FEW),
    AdaptiveNystroem(12, threshold=0.5, **FEW),
    SignProjection(40, random_state=0),
    LearnedLandmarks(20, 256, 0),
]


def test_the_list_of_maps_is_complete():
    assert {feature_map.name for feature_map in EACH_MAP} == set(MAPS)


@pytest.mark.parametrize("task", ["multiclass", "regression"])
@pytest.mark.parametrize("feature_map", EACH_MAP, ids=lambda m: m.name)
def test_every_map_is_exported_under_least_squares(feature_map, task, graph_of, agrees):
    cls = ExplicitKernelRegressor if task == "regression" else ExplicitKernelClassifier
    dtype = "float64" if task == "regression" else "float32"
    learner = cls(map=feature_map, rule="least_squares", dtype=dtype).fit(X, TARGETS[task])
    agrees(learner, graph_of(learner), NEW)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_is_exported(kernel, dtype, graph_of, agrees):
    learner = SupportKernelClassifier(kernel=kernel, gamma=0.2, rule="perceptron", dtype=dtype)
    # rows far from 0, where squares would cancel; which rows stay decides how far scores do
    learner.set_params(random_state=0).fit(X + 30.0, TARGETS["multiclass"])
    agrees(learner, graph_of(learner), NEW + 30.0)


#: rules that a budget is derived for; all others take the perceptron
RULES = {"bounded": "gradient"} | dict.fromkeys(("bpa_simple", "bpa_nearest"), "passive_aggressive")


@pytest.mark.parametrize("name", budgets.BUDGETS)
def test_every_budget_is_exported(name, graph_of, agrees):
    budget = budgets.make_budget(name)
    few = {key: value for key, value in SMALL.items() if key in budget.get_params()}
    learner = SupportKernelRegressor(
        gamma=0.5, rule=RULES.get(name, "perceptron"), budget=budget.set_params(**few)
    ).set_params(loss="epsilon_insensitive", dtype="float64", random_state=0)
    learner.fit(X, TARGETS["regression"])
    agrees(learner, graph_of(learner), NEW)


def test_columns_that_came_in_mid_stream(graph_of, agrees):
    y = TARGETS["regression"]
    for name in ("fastfood", "fogd", "nogd", "dualsgd", "rrf", "aligned"):
        learner = small(name, "regression", dtype="float64").partial_fit(X[:, :2], y)
        learner.add_columns(1).partial_fit(X, y)
        agrees(learner, graph_of(learner), NEW)
    wide = small("fastfood", "regression", dtype="float64").partial_fit(X, y)
    wide.add_columns(7)
    rows = np.random.default_rng(0).standard_normal((N, 10))
    agrees(wide.partial_fit(rows, y), graph_of(wide), rows)


@pytest.mark.parametrize("name", ["nogd", "ogd", "fogd", "okl"])
def test_learners_that_have_seen_few_rows(name, graph_of, agrees):
    # NOGD still gathers landmarks, OKL has no widths yet, and two classes come late
    learner = small(name, "binary", dtype="float64")
    if "n_components" in learner.get_params():
        learner.set_params(n_components=50)
    for rows in (slice(0, 1), slice(1, 20)):
        learner.partial_fit(X[rows], TARGETS["binary"][rows])
        agrees(learner, graph_of(learner), NEW)


@pytest.mark.parametrize(
    "labels", [[False, True], [3, 7], [-1.0, 1.0, 5.0], ["ä", "日本"], ["a", "b", "c"]], ids=str
)
def test_labels_are_those_of_the_model(labels, graph_of):
    y = np.array(labels)[np.arange(N) % len(labels)]
    learner = small("pa", "classification", dtype="float64").fit(X, y)
    found = graph_of(learner)(X=NEW)["prediction"]
    assert found.tolist() == learner.predict(NEW).tolist()
