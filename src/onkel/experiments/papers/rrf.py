"""Nguyen et al. 2017 (RRF): reparameterized features, and what they are compared with.

Table 1 (classification), Table 2 (regression), Figures 1 and 2 (the number of frequencies, on
cod-rna). Width, step and penalty of the others are searched on a random tenth of the rows, then
they make one pass over all rows in 10 random orders. On ijcnn1 the search was done before, with a
grid that is coarser than the paper's in the width and reaches further in the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from onkel import datasets
from onkel.algorithms import make
from onkel.experiments.entry import Case, Rows, Search
from onkel.experiments.experiment import Experiment, Picture
from onkel.experiments.grids import FEW_STEPS, grid_of
from onkel.experiments.papers.lsokl import linear
from onkel.experiments.papers.rrf_settings import (
    CASP_NOTES,
    COD_RNA,
    COD_RNA_GRID,
    COD_RNA_NOTE,
    FEW_RUNS,
    FOUND,
    GAMMAS,
    GRIDS,
    IJCNN1,
    LOSSES,
    NOTES,
    SHARES,
    SIZES,
    TASKS,
)
from onkel.experiments.published import cell


def _fixed(algorithm: str, dataset: str) -> dict[str, Any]:
    """What the protocol fixes."""
    budget, D, D_fourier = SIZES[dataset]
    bounded = {"budget": budget}
    of_learner: dict[str, dict[str, Any]] = {
        "perceptron": {},
        "ogd": {},
        "projectron": {**bounded, "eta": 0.0},
        "projectron++": {**bounded, "eta": 0.0},
        "bpa-s": {**bounded, "C": 1.0},
        "bogd": {**bounded, "bound": "all"},
        "fogd": {"n_components": D_fourier},
        "nogd": {"n_components": budget, "rank": budget // 5},
        "dualsgd": {**bounded, "n_components": 2 * D},
    }
    if algorithm.startswith("rrf"):
        return {"n_components": D, "damping": 0.0, "loss": LOSSES[algorithm]}
    return of_learner.get(algorithm, bounded)


def _case(table: int, dataset: str, algorithm: str, **more: Any) -> Case:
    regression = table == 2
    return Case(
        rows=Rows(dataset, dtype="float32"),
        algorithm=algorithm,
        learner="rrf" if algorithm.startswith("rrf") else "",
        task="regression" if regression else TASKS.get(dataset, "binary"),
        metric="rmse" if regression else "mistakes",
        published=cell("rrf", table, dataset, algorithm),
        **{"n_runs": FEW_RUNS.get(algorithm, 10), **more},
    )


def _searched(table: int, dataset: str, algorithm: str) -> Case:
    """A cell whose width, step and penalty are searched in the run."""
    fixed = _fixed(algorithm, dataset)
    made = _case(table, dataset, algorithm, parameters=fixed, here=True)
    task = "regression" if table == 2 else "classification"
    all_of_them = make(made.made_by, task, **fixed).get_params(deep=False)
    if algorithm == "bpa-s":
        del all_of_them["C"]
    if task == "classification" and algorithm in ("perceptron", "rbp", "forgetron", "projectron",
                                                  "projectron++"):  # fmt: skip
        del all_of_them["learning_rate"]  # on which their predictions don't depend
    grid = grid_of(all_of_them, datasets.info(dataset).n_rows)
    return replace(made, search=Search(grid, share=SHARES.get(dataset, 0.1)))


def _found(algorithm: str) -> Case:
    """A cell of ijcnn1 whose settings were searched before."""
    found = FOUND[algorithm]
    search = Search({name: GRIDS[name] for name in found}, share=0.1, orders=3)
    return _case(
        1, "ijcnn1", algorithm, parameters={**_fixed(algorithm, "ijcnn1"), **found},
        search=search, note=NOTES.get(algorithm, ""),
    )  # fmt: skip


def _cod_rna(n_components: int, **more: Any) -> Case:
    return _case(
        1, "cod-rna", "rrf-hinge", parameters={"n_components": n_components, **COD_RNA},
        limit=5.7, search=Search(COD_RNA_GRID, orders=3), n_runs=20, **more,
    )  # fmt: skip


def _table1() -> Iterator[Case]:
    yield from map(_found, FOUND)
    ijcnn1 = _case(
        1, "ijcnn1", "rrf-hinge", parameters={"n_components": 100, **IJCNN1}, limit=3.7,
        step="prior", n_runs=20,
        note="Hinge loss, inputs as they are, all log-widths 0 at the start, constant steps as in "
        "the paper. Fixed widths (η_γ = 0) give 4.73 ± 0.30, damped steps (N = 10 000) 3.14.",
    )  # fmt: skip
    yield ijcnn1
    yield replace(ijcnn1.at({"loss": "logistic"}), algorithm="rrf-logit", note="", limit=None,
                  published=cell("rrf", 1, "ijcnn1", "rrf-logit"))  # fmt: skip
    yield replace(
        ijcnn1.at({"n_components": 400}), label="rrf-hinge, D = 400", published=None, limit=None,
        note="As before with D = 400, which the paper doesn't print. Fixed widths give "
        "3.48 ± 0.12, damped steps 2.26.",
    )  # fmt: skip
    yield linear(ijcnn1)
    for algorithm in FOUND:
        yield _searched(1, "cod-rna", algorithm)
    yield _cod_rna(100, note=COD_RNA_NOTE)
    yield _searched(1, "cod-rna", "rrf-logit")
    yield _cod_rna(
        200, label="rrf-hinge, D = 200",
        note="As before with D = 200: the average over more frequencies takes most of the spread "
        "away.",
    )  # fmt: skip
    for dataset in ("poker", "airlines_late"):
        for algorithm in ("fogd", "nogd", "dualsgd", "rrf-logit", "rrf-hinge"):
            yield _searched(1, dataset, algorithm)


def _table2() -> Iterator[Case]:
    for dataset in ("casp", "slice", "year", "airlines_delay"):
        for algorithm in ("rbp", "forgetron", "projectron", "bogd", "fogd", "nogd", "dualsgd",
                          "rrf-eps", "rrf-l1", "rrf-l2"):  # fmt: skip
            note = CASP_NOTES.get(algorithm, "") if dataset == "casp" else ""
            yield replace(_searched(2, dataset, algorithm), note=note)


def _by_frequencies(sizes: dict[str, tuple[int, ...]]) -> Iterator[Case]:
    """RRF and FOGD on cod-rna over D."""
    for algorithm, Ds in sizes.items():
        for D in Ds:
            if algorithm == "rrf-hinge":
                case = _cod_rna(D)
            else:
                case = _searched(1, "cod-rna", algorithm).at({"n_components": D})
                # η times the number of frequencies, as the features are normalised
                grid = {"gamma": GAMMAS, "learning_rate": tuple(D * eta for eta in FEW_STEPS)}
                case = replace(case, search=Search(grid, share=0.1))
            yield replace(case, x=float(D), n_runs=10, published=None, limit=None)


_FREQUENCIES = (10, 20, 50, 100, 150, 200, 400)
_PROTOCOL = (
    "One pass in 10 random orders; width, step and penalty searched on a random tenth of the rows "
    "(a hundredth of the paper's for poker and airlines), with the paper's grid"
)
EXPERIMENTS = (
    Experiment("rrf.table1", "rrf", "Online classification", f"{_PROTOCOL}.", tuple(_table1())),
    Experiment(
        "rrf.table2", "rrf", "Online regression",
        f"{_PROTOCOL}; targets in [0, 1], of airlines in minutes.", tuple(_table2()),
    ),
    Experiment(
        "rrf.figure1", "rrf", "RRF and FOGD over the number of frequencies",
        f"cod-rna. {_PROTOCOL}.",
        tuple(_by_frequencies({"rrf-hinge": _FREQUENCIES, "fogd": (*_FREQUENCIES, 800, 1600)})),
        (Picture("x", "value", "D", "mistakes, %", log_x=True),),
    ),
    Experiment(
        "rrf.figure2", "rrf", "The number of frequencies: mistakes and time",
        "RRF with the hinge loss on cod-rna, 10 orders.",
        tuple(_by_frequencies({"rrf-hinge": _FREQUENCIES})),
        (Picture("x", "value", "D", "mistakes, %"), Picture("x", "seconds", "D", "seconds")),
    ),
)  # fmt: skip
