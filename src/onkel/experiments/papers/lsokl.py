"""Lu et al. 2016 (LSOKL), Tables 5, 7 and 9: online learning.

Protocol: Gaussian kernel of bandwidth σ = 8 (gamma = 1/128), budget B, D = 4B frequencies (15·30 in
regression), rank 0.2·B, hinge loss or the squared error outside of a dead zone of 0.1, a constant
step, no penalty, 20 random orders, everything in double precision. The paper chose the step of each
data set by a random search over {2, 0.2, ..., 0.0002} and doesn't print it; ours are the authors'
scripts' where these reproduce the paper's numbers, else searched over the same range.

The support-vector learners have the forms of the authors' programs. Projectron and Projectron++
store every mistake until the set is full, then always project (``eta=0``). The classifying
Forgetron takes the programs' root (``variant="lsokl"``). BOGD multiplies all of f by a factor where
a coefficient is too large, with λ = 1/n² (Table 5), or drops the oldest row with no factor at all
(Tables 7, 9). Perceptron, RBP, Forgetron and the Projectrons take steps of 1 in classification, so
that they have nothing to search. A step written "?" is searched in the run, on a random part of the
rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from onkel import datasets
from onkel.experiments.entry import Case, Rows, Search
from onkel.experiments.experiment import Experiment
from onkel.experiments.papers.lsokl_notes import FULL_RANK, NOTES
from onkel.experiments.papers.lsokl_steps import CLASSIFICATION, REGRESSION, rows_of, step_of
from onkel.experiments.published import cell

Learners = dict[str, dict[str, Any]]
Grid = dict[str, tuple[float, ...]]

GAMMA = 1.0 / (2.0 * 8.0**2)
_TASKS = {5: "binary", 7: "multiclass", 9: "regression"}

_D_REGRESSION = 450
# The paper says B = 30. With 20 its numbers for housing and mg are matched to the digit, and on
# the other data sets, too, except for BOGD.
_B_REGRESSION, _B_BOGD, _EXACT = 20, 30, ("housing", "mg")
# BPA-S's C where it isn't 1 as in the authors' scripts
_C = {"usps": 0.2}
_OLDEST = {"removal": "oldest", "max_weight": float("inf")}
#: the most rows on which a step is searched in the run
_MOST = 10_000

_ETAS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
_ETAS_REGRESSION = (0.7, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.02)
_ETAS_FOGD = (0.001, 0.0008, 0.0006, 0.0005, 0.0004, 0.0003, 0.0002, 0.0001, 0.00005)
_CS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_GRID_NORMA: Grid = {"learning_rate": (0.01, 0.02, 0.03, 0.05, 0.1), "alpha": (0.01, 0.03)}
# fewer orders where the set of stored rows grows into the tens of thousands
_FEW_RUNS = {
    ("ijcnn1", "ogd"): 3,
    ("letter", "perceptron"): 5,
    ("letter", "ogd"): 5,
    ("w7a", "perceptron"): 5,
    ("w7a", "ogd"): 5,
    **{(name, ogd): 3 for name in ("w8a", "cod-rna", "kddcup08") for ogd in ("perceptron", "ogd")},
}
_OTHER_ROWS = ("mnist", "kddcup99", "cod-rna")


def classifiers(table: int, dataset: str, budget: int | None = None) -> Learners:
    """Algorithm -> its parameters; the paper's FOGD does not normalise features: η is η·D here."""
    row = rows_of(CLASSIFICATION[table])[dataset]
    budget = budget or int(row["B"])
    D, bounded = 4 * budget, {"budget": budget}
    if table == 5:
        alpha = 1.0 / datasets.info(dataset).n_rows ** 2
        bogd: dict[str, Any] = {"alpha": alpha, "bound": "all"}
    else:
        bogd = {"alpha": 1e-5, **_OLDEST}
    return {
        "perceptron": {},
        "ogd": step_of(row["ogd"]),
        "rbp": bounded,
        "forgetron": {**bounded, "variant": "lsokl"},
        "projectron": {**bounded, "eta": 0.0},
        "projectron++": {**bounded, "eta": 0.0},
        "bpa-s": {**bounded, "C": _C.get(dataset, 1.0)},
        "bogd": {**bounded, **step_of(row["bogd"]), **bogd},
        "fogd": {"n_components": D, **step_of(row["fogd"], D)},
        "nogd": {"n_components": budget, "rank": budget // 5, **step_of(row["nogd"])},
    }


def _regressors(dataset: str, row: dict[str, str]) -> Learners:
    """Algorithm -> its parameters."""
    perceptron = step_of(row["perceptron"])
    bounded = {"budget": _B_REGRESSION, **perceptron}
    learners: Learners = {
        "perceptron": perceptron,
        "ogd": step_of(row["ogd"]),
        "norma": {"budget": datasets.info(dataset).n_rows, **step_of(row["norma"]),
                  "alpha": float(row["norma_alpha"]), "nu": 0.4},
        "rbp": {**bounded, **step_of(row["rbp"])},
        "forgetron": bounded,
        "projectron": {**bounded, "eta": 0.0},
        "bogd": {"budget": _B_REGRESSION if dataset in _EXACT else _B_BOGD, **_OLDEST,
                 **step_of(row["bogd"]), "alpha": 0.03},
        "fogd": {"n_components": _D_REGRESSION, **step_of(row["fogd"], _D_REGRESSION)},
        "nogd": {"n_components": 30, "rank": 6, **step_of(row["nogd"])},
    }  # fmt: skip
    return {name: {**given, "epsilon": 0.1} for name, given in learners.items()}


def _grid(table: int, dataset: str, algorithm: str, n_components: int) -> Grid:
    """The grid to search; empty where the authors' parameters are known, or there are none."""
    if algorithm == "norma":
        return {} if dataset in _EXACT else _GRID_NORMA
    if algorithm == "bpa-s":
        return {"C": _CS} if dataset in _C else {}
    stepping = ("ogd", "fogd", "nogd") if table == 5 else ("ogd", "fogd", "nogd", "bogd")
    if table != 9 and algorithm not in stepping:
        # BOGD's best would be a step so small that all rows are put in the larger class
        return {}
    if algorithm == "fogd":
        etas = _ETAS_FOGD if table == 9 else _ETAS
        return {"learning_rate": tuple(eta * n_components for eta in etas)}
    return {"learning_rate": _ETAS_REGRESSION if table == 9 else _ETAS}


def case_of(
    table: int, dataset: str, algorithm: str, parameters: dict[str, Any], step: str
) -> Case:
    """A cell of a table; a step that is not given is searched in the run."""
    grid = _grid(table, dataset, algorithm, parameters.get("n_components", 0))
    here = "learning_rate" in grid and "learning_rate" not in parameters
    search = Search(grid, most=_MOST) if here else Search(grid, orders=3)
    return Case(
        rows=Rows(dataset, n_first=10000 if dataset == "mnist" else None),
        algorithm=algorithm,
        task=_TASKS[table],
        parameters={**parameters, "gamma": GAMMA, "dtype": "float64"},
        metric="mse" if table == 9 else "mistakes",
        published=cell("lsokl", table, dataset, algorithm),
        same_rows=dataset not in _OTHER_ROWS,
        n_runs=_FEW_RUNS.get((dataset, algorithm), 20),
        step=step if grid else "authors",
        search=search if grid else None,
        here=here,
        note=NOTES.get((dataset, algorithm), ""),
    )


def _cells(table: int, dataset: str, origin: str, learners: Learners) -> Iterator[Case]:
    """The cells that the table prints, and NOGD with full rank beside one of them."""
    of_features, *of_supports = origin.split("/")
    for algorithm, parameters in learners.items():
        first = algorithm in ("fogd", "nogd") or not of_supports
        found = case_of(
            table, dataset, algorithm, parameters, of_features if first else of_supports[0]
        )
        if found.published is not None:
            yield found
        if (dataset, algorithm) == ("spambase", "nogd"):
            full = found.at({"rank": parameters["n_components"]})
            yield replace(full, label="nogd, k = B", note=FULL_RANK)


def linear(case: Case) -> Case:
    """Passive-aggressive on the same rows in the same orders."""
    epsilon = {"epsilon": 0.1} if case.task == "regression" else {}
    return Case(
        rows=case.rows, algorithm="pa", parameters={"dtype": case.rows.dtype, **epsilon},
        task=case.task, metric=case.metric, step="default", same_rows=case.same_rows,
    )  # fmt: skip


def _cases(table: int) -> Iterator[Case]:
    for dataset, row in rows_of(CLASSIFICATION.get(table, REGRESSION)).items():
        learners = _regressors(dataset, row) if table == 9 else classifiers(table, dataset)
        cells = list(_cells(table, dataset, row["from"], learners))
        yield from cells
        yield linear(cells[-1])


_PROTOCOL = (
    "One pass in 20 random orders, each row predicted before it is learned; Gaussian kernel, "
    "σ = 8; {budget}; constant steps, no penalty, double precision."
)
_CLASSES = _PROTOCOL.format(budget="budget B, D = 4B frequencies, rank 0.2 B; hinge loss")
_VALUES = _PROTOCOL.format(
    budget="B = 30, D = 450, rank 6; squared error outside of a dead zone of 0.1"
)
EXPERIMENTS = tuple(
    Experiment(f"lsokl.table{table}", "lsokl", title, protocol, tuple(_cases(table)))
    for table, title, protocol in (
        (5, "Online binary classification", _CLASSES),
        (7, "Online classification into several classes", _CLASSES),
        (9, "Online regression", _VALUES),
    )
)
