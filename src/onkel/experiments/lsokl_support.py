"""Lu et al. 2016 (LSOKL), Tables 5, 7 and 9: the support-vector learners.

Protocol, kernel and search as in :mod:`onkel.experiments.lsokl`; the forms of the learners are
those of the authors' programs. Projectron and Projectron++ store every mistake until the set is
full, then always project (``eta=0``). The classifying Forgetron takes the programs' root
(``variant="lsokl"``). BOGD multiplies all of f by a factor where a coefficient is too large, with
λ = 1/n² (Table 5), or drops the oldest row with no factor at all (Tables 7, 9). Perceptron, RBP,
Forgetron and the Projectrons take steps of 1 in classification, so that they have nothing to
search.
"""

from __future__ import annotations

from typing import Any

from onkel import datasets
from onkel.experiments.entry import Experiment
from onkel.experiments.lsokl import ETAS, GAMMA, lsokl_entry
from onkel.experiments.published import cell

__all__ = ["EXPERIMENTS"]

_OLDEST = {"removal": "oldest", "max_weight": float("inf")}
#: the paper says B = 30; with 20 its numbers for housing and mg come out digit by digit, and the
#: others' too but for BOGD's
_B_REGRESSION = 20
_B_BOGD = 30
_EXACT = ("housing", "mg")

# table -> data set -> (B, OGD's η, BOGD's η, where from)
_CLASSIFICATION: dict[int, dict[str, tuple[int, float, float, str]]] = {
    5: {
        "german": (100, 0.2, 0.2, "authors"),
        "spambase": (100, 2.0, 0.2, "search"),
        "w7a": (100, 1.0, 0.2, "search"),
        "a9a": (100, 0.2, 0.2, "search"),
        "ijcnn1": (100, 0.5, 0.2, "search"),
    },
    7: {
        "dna": (200, 0.5, 0.5, "authors"),
        "satimage": (200, 0.5, 0.5, "authors"),
        "usps": (200, 1.0, 2.0, "search"),
        "letter": (100, 0.5, 0.1, "search"),
    },
}
# data set -> (η of the perceptrons, OGD's η, BOGD's η, where from)
_REGRESSION: dict[str, tuple[float, float, float, str]] = {
    "housing": (0.1, 0.3, 0.3, "authors"),
    "mg": (0.1, 0.4, 0.4, "authors"),
    "abalone": (0.1, 0.2, 0.2, "search"),
    "parkinsons": (0.1, 0.1, 0.2, "search"),
    "cpusmall": (0.1, 0.4, 0.3, "search"),
    "cadata": (0.1, 0.4, 0.15, "search"),
    "casp": (0.1, 0.15, 0.1, "search"),
}
# NORMA's (η, λ) where they aren't the authors', (0.03, 0.03)
_NORMA: dict[str, tuple[float, float]] = {
    "abalone": (0.02, 0.01),
    "parkinsons": (0.02, 0.01),
    "cpusmall": (0.05, 0.01),
    "cadata": (0.01, 0.01),
}
# RBP's η where it isn't the other perceptrons'
_ETA_RBP = {"cpusmall": 0.07}
# BPA-S's C where it isn't the authors', 1
_C = {"usps": 0.2}
_CS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_GRID_NORMA = {"learning_rate": (0.01, 0.02, 0.03, 0.05, 0.1), "alpha": (0.01, 0.03)}
_ETAS_REGRESSION = (0.7, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.02)
# fewer orders where the set of stored rows grows into the tens of thousands
_FEW_RUNS: dict[tuple[str, str], int] = {
    ("ijcnn1", "ogd"): 3,
    ("letter", "perceptron"): 5,
    ("letter", "ogd"): 5,
    ("w7a", "perceptron"): 5,
    ("w7a", "ogd"): 5,
}
_SPAMBASE = (
    "Not met. There is no parameter to choose, and the authors' Perceptron gives 24.71 ± 0.36 on "
    "these rows: the printed orders or scaling were others."
)
_NOTES: dict[tuple[str, str], str] = {
    ("spambase", "perceptron"): _SPAMBASE,
    ("spambase", "rbp"): _SPAMBASE,
    ("a9a", "perceptron"): "Not met, by 0.03: at most 21.10 was asked. There is no parameter to "
    "choose.",
    ("a9a", "ogd"): "Not met, by 0.01: at most 16.50 was asked. On orders that are not reported "
    "η = 0.15, 0.2, 0.25, 0.3 and 0.4 give 16.58, 16.50, 16.50, 16.57 and 16.74.",
    ("a9a", "forgetron"): "With the right root (the default) 29.98 over two orders.",
    ("ijcnn1", "perceptron"): "Not met: the printed deviation is an eighth of that between orders "
    "here, by which 12.27 is less than one away. There is no parameter to choose.",
    ("cpusmall", "rbp"): "η = 0.1, as of the other perceptrons, gives 0.0502.",
    ("usps", "bpa-s"): "C = 1 as in the authors' scripts gives 17.4.",
}


def _bogd(table: int, dataset: str, budget: int, eta: float) -> dict[str, Any]:
    if table == 5:
        alpha = 1.0 / datasets.info(dataset).n_rows ** 2
        form: dict[str, Any] = {"alpha": alpha, "bound": "all"}
    else:
        form = {"alpha": 1e-5, **_OLDEST}
    return {"budget": budget, "learning_rate": eta, **form}


def _classifiers(table: int, dataset: str) -> dict[str, dict[str, Any]]:
    """Algorithm -> its parameters."""
    budget, eta_ogd, eta_bogd, _ = _CLASSIFICATION[table][dataset]
    bounded = {"budget": budget}
    return {
        "perceptron": {},
        "ogd": {"learning_rate": eta_ogd},
        "rbp": bounded,
        "forgetron": {**bounded, "variant": "lsokl"},
        "projectron": {**bounded, "eta": 0.0},
        "projectron++": {**bounded, "eta": 0.0},
        "bpa-s": {**bounded, "C": _C.get(dataset, 1.0)},
        "bogd": _bogd(table, dataset, budget, eta_bogd),
    }


def _regressors(dataset: str) -> dict[str, dict[str, Any]]:
    eta, eta_ogd, eta_bogd, _ = _REGRESSION[dataset]
    eta_norma, alpha_norma = _NORMA.get(dataset, (0.03, 0.03))
    n_rows = datasets.info(dataset).n_rows
    tube = {"epsilon": 0.1}
    step = {"learning_rate": eta, **tube}
    bounded = {"budget": _B_REGRESSION, **step}
    of_bogd = {"budget": _B_REGRESSION if dataset in _EXACT else _B_BOGD, **_OLDEST}
    return {
        "perceptron": step,
        "ogd": {"learning_rate": eta_ogd, **tube},
        "norma": {"budget": n_rows, "learning_rate": eta_norma, "alpha": alpha_norma, "nu": 0.4}
        | tube,
        "rbp": {**bounded, "learning_rate": _ETA_RBP.get(dataset, eta)},
        "forgetron": bounded,
        "projectron": {**bounded, "eta": 0.0},
        "bogd": {**of_bogd, "learning_rate": eta_bogd, "alpha": 0.03, **tube},
    }


def _grid(table: int, dataset: str, algorithm: str) -> dict[str, tuple[float, ...]]:
    """What is searched; nothing where the authors' parameters are known, or there are none."""
    if algorithm == "norma":
        return _GRID_NORMA if dataset in _NORMA else {}
    if algorithm == "bpa-s":
        return {"C": _CS} if dataset in _C else {}
    if table == 9:
        return {"learning_rate": _ETAS_REGRESSION}
    if (table, algorithm) == (5, "bogd"):
        # the search's best would be a step so small that all rows are put in the larger class
        return {}
    return {"learning_rate": ETAS} if algorithm in ("ogd", "bogd") else {}


def _entries(
    table: int, dataset: str, task: str, learners: dict[str, dict[str, Any]], step: str
) -> list[Experiment]:
    """Those of the learners that the table has."""
    return [
        lsokl_entry(
            table,
            dataset,
            algorithm,
            task=task,
            parameters={**parameters, "gamma": GAMMA, "dtype": "float64"},
            metric="mse" if table == 9 else "mistakes",
            step=step if _grid(table, dataset, algorithm) else "authors",
            grid=_grid(table, dataset, algorithm),
            n_runs=_FEW_RUNS.get((dataset, algorithm), 20),
            note=_NOTES.get((dataset, algorithm), ""),
        )
        for algorithm, parameters in learners.items()
        if cell("lsokl", table, dataset, algorithm) is not None
    ]


def _all() -> list[Experiment]:
    entries = []
    for table, rows in _CLASSIFICATION.items():
        for dataset, (*_, step) in rows.items():
            task = "binary" if table == 5 else "multiclass"
            entries += _entries(table, dataset, task, _classifiers(table, dataset), step)
    for dataset, (*_, step) in _REGRESSION.items():
        entries += _entries(9, dataset, "regression", _regressors(dataset), step)
    return entries


EXPERIMENTS: tuple[Experiment, ...] = tuple(_all())
