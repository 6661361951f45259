"""Si, Kumar & Li 2018 (NOLANA): landmarks that move; Tables 1 and 2, Figures 1 to 4.

All learners but PA store md + mr numbers, r = 0.8 m; one pass in 5 orders, float32. Steps were
chosen for NOLANA on orders that are not reported, and NOGD and FOGD use the same; those of DualSGD
and RRF are searched in the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from onkel import datasets
from onkel.experiments.entry import Case, Rows, Search
from onkel.experiments.experiment import Experiment, Picture
from onkel.experiments.grids import PENALTIES, WIDTHS, rrf_grid
from onkel.experiments.papers.nolana_settings import MOVE, MOVES, NOTES, SETTINGS, Setting
from onkel.experiments.published import cell


def _fourier(s: Setting, d: int) -> int:
    """As many frequencies as fit into md + mr numbers."""
    return (s.m * d + s.m * s.r) // d


def _parameters(name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Column of Table 2 -> learner and parameters."""
    s, d = SETTINGS[name], datasets.info(name).n_features
    steps = {"loss": s.loss, **s.step}
    moving = {"n_components": s.m, "rank": s.r, "gamma": s.gamma, "threshold": s.threshold,
              "weighted": s.weighted}  # fmt: skip
    adagrad = {"learning_rate": s.adagrad, "schedule": "adagrad", "loss": s.loss}
    D = _fourier(s, d)
    dual: dict[str, Any] = {"budget": s.m, "n_components": max(1, s.m * s.r // d)}
    if s.task != "regression":
        dual["loss"] = s.loss  # regression: its own; the squared loss diverges with steps 1/(λt)
    return {
        "pa": ("pa", {}),
        "nogd": ("nystroem", {"n_components": s.m, "rank": s.r, "gamma": s.gamma, **steps}),
        "fogd": ("fogd", {"n_components": D, "gamma": s.gamma, **steps}),
        "dualsgd": ("dualsgd", dual),
        "rrf": ("rrf", {"n_components": D, "damping": 0.0, "loss": s.loss}),
        "nolana": ("nolana", {**moving, **steps}),
        "nolana, AdaGrad's step": ("nolana", {**moving, **adagrad}),
    }


def _case(name: str, column: str) -> Case:
    s = SETTINGS[name]
    learner, parameters = _parameters(name)[column]
    n_rows = datasets.info(name).n_rows
    grid: dict[str, Any] | None = None
    if column == "dualsgd":
        grid = {"alpha": tuple(penalty / n_rows for penalty in PENALTIES)}
    elif column == "rrf":
        grid = rrf_grid(parameters["n_components"], n_rows)
    if grid:
        # the other learners' width is on the grid, too
        grid = {**grid, "gamma": tuple(sorted({*WIDTHS, s.gamma}))}
    regression = s.task == "regression"
    algorithm = column.partition(",")[0]
    return Case(
        rows=Rows(name, subset="all", dtype="float32", **s.rows),
        algorithm=algorithm, label=column, learner=learner, parameters=parameters, task=s.task,
        metric="rmse" if regression else "accuracy", unit=99.0 if regression else 1.0,
        published=cell("nolana", 2, name, algorithm) if column == algorithm else None,
        n_runs=5, search=Search(grid, most=5000) if grid else None, here=grid is not None,
        step="default" if learner == "pa" else "search",
        note=NOTES.get((name, column), ""), slow=MOVE / 20 if learner == "nolana" else 0.0,
    )  # fmt: skip


def _table1() -> Iterator[Case]:
    base = _case("usps", "nolana")
    for threshold in MOVES:
        for column, label in (("nolana", ""), ("nolana, AdaGrad's step", ", AdaGrad's step")):
            case = _case("usps", column).at({"threshold": float(threshold)})
            printed = cell("nolana", 1, "usps", "nolana", str(threshold))
            yield replace(
                case, label=f"ε = {threshold}{label}", published=None if label else printed,
                slow=MOVE * max(0.0, 1.0 - threshold / 150), note="",
            )  # fmt: skip
    for threshold, moves in MOVES.items():
        yield replace(
            base.at({"threshold": float(threshold)}), label=f"ε = {threshold}, moves", take="moves",
            note=f"The paper's number of updates: {moves}.", published=None,
        )  # fmt: skip


def _table2() -> tuple[Case, ...]:
    return tuple(_case(name, column) for name in SETTINGS for column in _parameters(name))


def _solvers() -> Iterator[Case]:
    for solver in ("randomized", "rank_two", "scratch"):
        case = _case("usps", "nolana").at({"threshold": 50.0, "solver": solver})
        yield replace(case, label=solver, published=None, slow=MOVE / 2, note="", n_runs=1)


def _carried() -> Iterator[Case]:
    """With NOLANA's second stage (equation 12), and without it."""
    for label, learner in (("carried over", "nolana"), ("left as they are", "nolana-losing")):
        case = _case("usps", "nolana").at({"threshold": 50.0})
        yield replace(case, label=label, learner=learner, published=None, slow=MOVE / 2, note="")


def _errors() -> Iterator[Case]:
    for name, (threshold, budgets) in {
        "cpusmall": (0.02, (10, 20, 40, 80)),
        "usps": (80.0, (50, 100, 200)),
        "covtype": (1.0, (50, 100, 200)),
    }.items():
        d = datasets.info(name).n_features
        for m in budgets:
            s = replace(SETTINGS[name], m=m)
            fixed = {"n_components": m, "rank": s.r, "gamma": s.gamma}
            maps: dict[str, dict[str, Any]] = {
                "oana": {**fixed, "threshold": threshold, "weighted": True},
                "nogd": fixed,
                "fogd": {"n_components": _fourier(s, d), "gamma": s.gamma},
            }
            for algorithm, parameters in maps.items():
                yield Case(
                    rows=Rows(name, subset="all", dtype="float32", **s.rows), algorithm=algorithm,
                    parameters=parameters, task=s.task, metric="error", measure="kernel error",
                    n_runs=1, step="prior", x=float(m),
                )  # fmt: skip


_ACCURACY = Picture("rows", "value", "rows", "accuracy so far, % (cpusmall: RMSE)")
_USPS = "usps, m = 100, r = 80, logistic loss, one pass"
EXPERIMENTS = (
    Experiment(
        "nolana.table1", "nolana", "Accuracy, time and moves over ε",
        f"{_USPS} in 5 orders; ε is the squared distance beyond which a landmark moves.",
        tuple(_table1()),
    ),
    Experiment(
        "nolana.table2", "nolana", "All learners at equal memory",
        "md + mr numbers for each but PA, r = 0.8 m; one pass in 5 orders; accuracy, of cpusmall "
        "the RMSE in the target's units, of predictions made before each row was learned.",
        _table2(),
    ),
    Experiment(
        "nolana.figure1", "nolana", "Time by solver of the eigenproblem", f"{_USPS}, ε = 50.",
        tuple(_solvers()), (Picture("rows", "seconds", "rows of usps", "seconds"),),
    ),
    Experiment(
        "nolana.figure2", "nolana", "Weights carried over when a landmark moves, and not",
        f"{_USPS}, ε = 50, 5 orders; with equation 12, and with weights left as they are.",
        tuple(_carried()), (_ACCURACY,),
    ),
    Experiment(
        "nolana.figure3", "nolana", "Error of the kernel matrix at equal memory",
        "‖G - Ḡ‖ / ‖G‖ on the first 10 000 rows of one order.", tuple(_errors()),
        (Picture("x", "value", "landmarks m", "relative error"),),
    ),
    Experiment(
        "nolana.figure4", "nolana", "Accuracy as rows come",
        "The runs of nolana.table2; means over the orders.", _table2(), (_ACCURACY,),
    ),
)  # fmt: skip
