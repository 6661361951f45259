"""Lu et al. 2016 (LSOKL), Tables 5, 7 and 9.

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
that they have nothing to search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from onkel import datasets
from onkel.experiments.entry import Experiment
from onkel.experiments.lsokl_notes import FULL_RANK, NOTES
from onkel.experiments.published import cell

Learners = dict[str, dict[str, Any]]
Grid = dict[str, tuple[float, ...]]

_SHARED = {"gamma": 1.0 / (2.0 * 8.0**2), "dtype": "float64"}
_TASKS = {5: "binary", 7: "multiclass", 9: "regression"}

# Budget, steps as the paper counts them, and where FOGD's and NOGD's, and OGD's and BOGD's are
# from; no step of OGD: no support-vector learner was run.
_CLASSIFICATION = {
    5: """
                  B    fogd    nogd  ogd  bogd  from
        german    100  0.002   0.2   0.2  0.2   authors/authors
        spambase  100  0.002   0.2   2.0  0.2   authors/search
        w7a       100  0.002   1.0   1.0  0.2   search/search
        w8a       100  0.002   1.0   -    -     search/-
        a9a       100  0.0005  0.2   0.2  0.2   search/search
        ijcnn1    100  0.002   0.5   0.5  0.2   search/search
    """,
    7: """
                  B    fogd    nogd  ogd  bogd  from
        dna       200  0.005   0.5   0.5  0.5   authors/authors
        satimage  200  0.005   0.5   0.5  0.5   authors/authors
        usps      200  0.001   1.0   1.0  2.0   search/search
        mnist     100  0.001   0.5   -    -     search/-
        letter    100  0.001   0.5   0.5  0.1   search/search
        shuttle   100  0.001   0.5   -    -     search/-
        covtype   100  0.0005  0.1   -    -     search/-
    """,
}
_REGRESSION = """
                fogd    nogd  perceptron  ogd   bogd  rbp   norma  norma_alpha  from
    housing     0.0006  0.3   0.1         0.3   0.3   0.1   0.03   0.03         authors
    mg          0.0006  0.4   0.1         0.4   0.4   0.1   0.03   0.03         authors
    abalone     0.0004  0.2   0.1         0.2   0.2   0.1   0.02   0.01         search
    parkinsons  0.0003  0.1   0.1         0.1   0.2   0.1   0.02   0.01         search
    cpusmall    0.0008  0.4   0.1         0.4   0.3   0.07  0.05   0.01         search
    cadata      0.0008  0.4   0.1         0.4   0.15  0.1   0.01   0.01         search
    casp        0.0003  0.15  0.1         0.15  0.1   0.1   0.03   0.03         search
"""
_D_REGRESSION = 450
# The paper says B = 30; with 20 its numbers for housing and mg come out digit by digit, and the
# others' too but for BOGD's.
_B_REGRESSION, _B_BOGD, _EXACT = 20, 30, ("housing", "mg")
# BPA-S's C where it isn't the authors', 1
_C = {"usps": 0.2}
_OLDEST = {"removal": "oldest", "max_weight": float("inf")}

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
}


def _rows(table: str) -> dict[str, dict[str, str]]:
    """Data set -> column -> text."""
    names, *lines = (line.split() for line in table.strip().splitlines())
    return {dataset: dict(zip(names, row, strict=True)) for dataset, *row in lines}


def _classifiers(table: int, dataset: str, row: dict[str, str]) -> Learners:
    """Algorithm -> its parameters; FOGD's features are not normalised there: η is η·D here."""
    budget, D = int(row["B"]), 4 * int(row["B"])
    bounded = {"budget": budget}
    learners: Learners = {
        "fogd": {"n_components": D, "learning_rate": float(row["fogd"]) * D},
        "nogd": {"n_components": budget, "rank": budget // 5, "learning_rate": float(row["nogd"])},
    }
    if row["ogd"] == "-":
        return learners
    if table == 5:
        alpha = 1.0 / datasets.info(dataset).n_rows ** 2
        bogd: dict[str, Any] = {"alpha": alpha, "bound": "all"}
    else:
        bogd = {"alpha": 1e-5, **_OLDEST}
    supports: Learners = {
        "perceptron": {},
        "ogd": {"learning_rate": float(row["ogd"])},
        "rbp": bounded,
        "forgetron": {**bounded, "variant": "lsokl"},
        "projectron": {**bounded, "eta": 0.0},
        "projectron++": {**bounded, "eta": 0.0},
        "bpa-s": {**bounded, "C": _C.get(dataset, 1.0)},
        "bogd": {**bounded, "learning_rate": float(row["bogd"]), **bogd},
    }
    return supports | learners


def _regressors(dataset: str, row: dict[str, str]) -> Learners:
    """Algorithm -> its parameters."""
    eta = {name: float(value) for name, value in row.items() if name != "from"}
    n_rows = datasets.info(dataset).n_rows
    bounded = {"budget": _B_REGRESSION, "learning_rate": eta["perceptron"]}
    learners: Learners = {
        "perceptron": {"learning_rate": eta["perceptron"]},
        "ogd": {"learning_rate": eta["ogd"]},
        "norma": {"budget": n_rows, "learning_rate": eta["norma"], "alpha": eta["norma_alpha"],
                  "nu": 0.4},
        "rbp": {**bounded, "learning_rate": eta["rbp"]},
        "forgetron": bounded,
        "projectron": {**bounded, "eta": 0.0},
        "bogd": {"budget": _B_REGRESSION if dataset in _EXACT else _B_BOGD, **_OLDEST,
                 "learning_rate": eta["bogd"], "alpha": 0.03},
        "fogd": {"n_components": _D_REGRESSION, "learning_rate": eta["fogd"] * _D_REGRESSION},
        "nogd": {"n_components": 30, "rank": 6, "learning_rate": eta["nogd"]},
    }  # fmt: skip
    return {name: {**given, "epsilon": 0.1} for name, given in learners.items()}


def _grid(table: int, dataset: str, algorithm: str, parameters: dict[str, Any]) -> Grid:
    """What is searched; nothing where the authors' parameters are known, or there are none."""
    if algorithm == "norma":
        return {} if dataset in _EXACT else _GRID_NORMA
    if algorithm == "bpa-s":
        return {"C": _CS} if dataset in _C else {}
    if (table, algorithm) == (5, "bogd") or "learning_rate" not in parameters:
        # BOGD's best would be a step so small that all rows are put in the larger class
        return {}
    if algorithm == "fogd":
        etas = _ETAS_FOGD if table == 9 else _ETAS
        return {"learning_rate": tuple(eta * parameters["n_components"] for eta in etas)}
    return {"learning_rate": _ETAS_REGRESSION if table == 9 else _ETAS}


def _entries(table: int, dataset: str, origin: str, learners: Learners) -> Iterator[Experiment]:
    """Those of the learners that the table has; NOGD without reduction of the rank beside one."""
    of_features, *of_supports = origin.split("/")
    for algorithm, parameters in learners.items():
        published = cell("lsokl", table, dataset, algorithm)
        if published is None:
            continue
        grid = _grid(table, dataset, algorithm, parameters)
        first = algorithm in ("fogd", "nogd") or not of_supports
        entry = Experiment(
            name=f"lsokl-{table}-{dataset}-{algorithm}",
            paper="lsokl",
            table=table,
            dataset=dataset,
            algorithm=algorithm,
            task=_TASKS[table],
            parameters={**parameters, **_SHARED},
            metric="mse" if table == 9 else "mistakes",
            published=published,
            same_rows=dataset != "mnist",
            n_first=10000 if dataset == "mnist" else None,
            n_runs=_FEW_RUNS.get((dataset, algorithm), 20),
            step=(of_features if first else of_supports[0]) if grid else "authors",
            grid=grid,
            note=NOTES.get((dataset, algorithm), ""),
        )
        yield entry
        if (dataset, algorithm) == ("spambase", "nogd"):
            full = {**entry.parameters, "rank": parameters["n_components"]}
            yield replace(entry, name=f"{entry.name}-full-rank", parameters=full, note=FULL_RANK)


def _all() -> Iterator[Experiment]:
    for table, text in _CLASSIFICATION.items():
        for dataset, row in _rows(text).items():
            yield from _entries(table, dataset, row["from"], _classifiers(table, dataset, row))
    for dataset, row in _rows(_REGRESSION).items():
        yield from _entries(9, dataset, row["from"], _regressors(dataset, row))


EXPERIMENTS: tuple[Experiment, ...] = tuple(_all())
