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
from papers.cases import Case, Experiment, Rows, Search
from papers.published import cell

# Budget, steps as the paper counts them, and their origin: of FOGD's and NOGD's/OGD's and BOGD's
CLASSIFICATION = {
    5: """
                  B    fogd    nogd  ogd  bogd  from
        german    100  0.002   0.2   0.2  0.2   authors/authors
        spambase  100  0.002   0.2   2.0  0.2   authors/search
        w7a       100  0.002   1.0   1.0  0.2   search/search
        w8a       100  0.002   1.0   ?    0.2   search/search
        a9a       100  0.0005  0.2   0.2  0.2   search/search
        ijcnn1    100  0.002   0.5   0.5  0.2   search/search
        cod-rna   100  ?       ?     ?    0.2   search/search
        kddcup08  100  ?       ?     ?    0.2   search/search
        kddcup99  100  ?       ?     ?    0.2   search/search
    """,
    7: """
                  B    fogd    nogd  ogd  bogd  from
        dna       200  0.005   0.5   0.5  0.5   authors/authors
        satimage  200  0.005   0.5   0.5  0.5   authors/authors
        usps      200  0.001   1.0   1.0  2.0   search/search
        mnist     100  0.001   0.5   ?    ?     search/search
        letter    100  0.001   0.5   0.5  0.1   search/search
        shuttle   100  0.001   0.5   ?    ?     search/search
        acoustic  100  ?       ?     ?    ?     search/search
        covtype   100  0.0005  0.1   ?    ?     search/search
        poker     100  ?       ?     ?    ?     search/search
    """,
}
REGRESSION = """
                fogd    nogd  perceptron  ogd   bogd  rbp   norma  norma_alpha  from
    housing     0.0006  0.3   0.1         0.3   0.3   0.1   0.03   0.03         authors
    mg          0.0006  0.4   0.1         0.4   0.4   0.1   0.03   0.03         authors
    abalone     0.0004  0.2   0.1         0.2   0.2   0.1   0.02   0.01         search
    parkinsons  0.0003  0.1   0.1         0.1   0.2   0.1   0.02   0.01         search
    cpusmall    0.0008  0.4   0.1         0.4   0.3   0.07  0.05   0.01         search
    cadata      0.0008  0.4   0.1         0.4   0.15  0.1   0.01   0.01         search
    casp        0.0003  0.15  0.1         0.15  0.1   0.1   0.03   0.03         search
    slice       ?       ?     0.1         ?     ?     0.1   0.03   0.03         search
    year        ?       ?     0.1         ?     ?     0.1   0.03   0.03         search
"""


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """Data set -> column -> text."""
    names, *lines = (line.split() for line in text.strip().splitlines())
    return {dataset: dict(zip(names, row, strict=True)) for dataset, *row in lines}


def step_of(text: str, unit: float = 1.0) -> dict[str, float]:
    """A step; none where it is to be searched."""
    return {} if text == "?" else {"learning_rate": float(text) * unit}


_PARTIAL_W8A = "The paper streams 64 700 rows (with w8a.t); the file here holds the 49 749 of w8a."
_PARTIAL_COVTYPE = "A random 92 962 of the paper's 581 012 rows, scaled to [0, 1]."
_UNKNOWN_MNIST = (
    "The paper streams 10 000 rows of 780 columns and doesn't say which; here the first 10 000 of "
    "the training images, pixels/255. Tried besides: the 10 000 test images (NOGD 21.4), pixels to "
    "[-1, 1] (19.4), rows of unit length (63), B = 200 (16.1)."
)
_SPAMBASE_NOGD = (
    "The authors' program gives 32.1 ± 1.9 on these rows. Tried: "
    "η from 5e-5 to 2 (31.7 to 32.2); B = 50 (32.1), 200 (30.2), 500 (28.2, k = 100); σ = 4 (32.1) "
    "and 64 (29.7); without the 391 duplicate rows (33.0); columns scaled to [0, 1] (39.5), "
    "[-1, 1] (32.7), standardised (12.5), log(1 + x) (14.1); rows of unit length (39.5). The rank "
    "explains it: lsokl.reasons has k = B."
)
_SPAMBASE = (
    "There is no parameter to choose, and the authors' Perceptron gives 24.71 ± 0.36 on these rows."
)
NOTES: dict[tuple[str, str], str] = {
    ("spambase", "nogd"): _SPAMBASE_NOGD,
    ("w8a", "fogd"): _PARTIAL_W8A,
    ("covtype", "fogd"): _PARTIAL_COVTYPE,
    ("poker", "fogd"): "A random 125 008 of the paper's rows.",
    ("cod-rna", "fogd"): "59 535 rows (the paper's training set), standardised; it streams the "
    "271 617 test rows.",
    ("kddcup99", "fogd"): "494 021 rows of the 10 percent file, symbols one-hot and all columns in "
    "[0, 1] (118 of them); the paper streams 1 131 571 rows of 127, and doesn't say how they were "
    "prepared. Raw columns gave 8.3. The step is searched on 10 000 rows. What remains is not "
    "explained: without the paper's rows nothing more could be tested.",
    ("year", "fogd"): "The file here may hold a small part of the rows.",
    ("mnist", "nogd"): _UNKNOWN_MNIST,
    ("spambase", "perceptron"): _SPAMBASE,
    ("spambase", "rbp"): _SPAMBASE,
    ("a9a", "perceptron"): "There is no parameter to choose.",
    ("a9a", "ogd"): "On orders that are not reported "
    "η = 0.15, 0.2, 0.25, 0.3 and 0.4 give 16.58, 16.50, 16.50, 16.57 and 16.74.",
    ("a9a", "forgetron"): "With the right root (the default) 29.98 over two orders.",
    ("ijcnn1", "perceptron"): "There is no parameter to choose. The printed deviation is an eighth "
    "of that between orders here.",
    ("cpusmall", "rbp, B = 20"): "η = 0.1, as of the other perceptrons, gives 0.0502.",
    ("usps", "bpa-s"): "C = 1 as in the authors' scripts gives 17.4.",
}


Learners = dict[str, dict[str, Any]]
Grid = dict[str, tuple[float, ...]]

GAMMA = 1.0 / (2.0 * 8.0**2)
_TASKS = {5: "binary", 7: "multiclass", 9: "regression"}

_D_REGRESSION = 450
# The paper says B = 30. With 20 its numbers for housing and mg are matched to the digit, and come
# closer on the other data sets, too, except for BOGD.
_B_PRINTED, _B_MATCHED, _EXACT = 30, 20, ("housing", "mg")
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


#: symbols of kddcup99: protocol, service, flag
SYMBOLS = {"kddcup99": (1, 2, 3)}


def classifiers(table: int, dataset: str, budget: int | None = None) -> Learners:
    """Algorithm -> its parameters; the paper's FOGD does not normalise features: η is η·D here."""
    row = rows_of(CLASSIFICATION[table])[dataset]
    budget = budget or int(row["B"])
    D, bounded = 4 * budget, {"budget": budget}
    if table == 5:
        alpha = 1.0 / datasets.info(dataset).n_rows ** 2
        bogd: dict[str, Any] = {"alpha": alpha, "bound": "all", "removal": "uniform"}
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
    bounded = {"budget": _B_PRINTED, **perceptron}
    learners: Learners = {
        "perceptron": perceptron,
        "ogd": step_of(row["ogd"]),
        "norma": {"budget": datasets.info(dataset).n_rows, **step_of(row["norma"]),
                  "alpha": float(row["norma_alpha"]), "nu": 0.4},
        "rbp": {**bounded, **step_of(row["rbp"])},
        "forgetron": bounded,
        "projectron": {**bounded, "eta": 0.0},
        "bogd": {"budget": _B_PRINTED, **_OLDEST, **step_of(row["bogd"]), "alpha": 0.03},
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
        rows=Rows(
            dataset, n_first=10000 if dataset == "mnist" else None, one_hot=SYMBOLS.get(dataset, ())
        ),
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
    """The cells that the table prints; beside some of Table 9 those with B = 20."""
    of_features, *of_supports = origin.split("/")
    for algorithm, parameters in learners.items():
        first = algorithm in ("fogd", "nogd") or not of_supports
        found = case_of(
            table, dataset, algorithm, parameters, of_features if first else of_supports[0]
        )
        if found.published is not None:
            yield found
        matched = ("rbp", "forgetron", "projectron", *(("bogd",) * (dataset in _EXACT)))
        if table == 9 and algorithm in matched:
            yield replace(found.at({"budget": _B_MATCHED}), label=f"{algorithm}, B = {_B_MATCHED}")


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
    budget="B = 30, D = 450, rank 6; squared error outside of a dead zone |f - y| > 0.1, as in the "
    "authors' programs, where the paper writes (f - y)² > ε. The rows with B = 20, which the paper "
    "doesn't name, come closer to what it prints"
)
EXPERIMENTS = tuple(
    Experiment(f"lsokl.table{table}", "lsokl", title, protocol, tuple(_cases(table)))
    for table, title, protocol in (
        (5, "Online binary classification", _CLASSES),
        (7, "Online classification into several classes", _CLASSES),
        (9, "Online regression", _VALUES),
    )
)
