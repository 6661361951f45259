"""Lu et al. 2016 (LSOKL), Tables 5, 7 and 9: FOGD and NOGD.

Protocol: Gaussian kernel of bandwidth σ = 8 (gamma = 1/128), budget B, D = 4B frequencies (15·30 in
regression), rank 0.2·B, hinge loss or the squared error outside of a dead zone of 0.1, a constant
step, no penalty, 20 random orders, everything in double precision. The paper chose the step of each
data set by a random search over {2, 0.2, ..., 0.0002} and doesn't print it; ours are the authors'
scripts' where these reproduce the paper's numbers, else searched over the same range.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onkel.experiments.entry import Experiment
from onkel.experiments.published import cell

__all__ = ["ETAS", "EXPERIMENTS", "GAMMA", "lsokl_entry"]

GAMMA = 1.0 / (2.0 * 8.0**2)
D_REGRESSION = 450

#: steps as the paper counts them; FOGD's features there are not normalised, so that it is η·D here
ETAS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
_ETAS_REGRESSION = {
    "fogd": (0.001, 0.0008, 0.0006, 0.0005, 0.0004, 0.0003, 0.0002, 0.0001, 0.00005),
    "nogd": (0.7, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.02),
}

# table -> data set -> (B, FOGD's η, NOGD's η, where from)
_CLASSIFICATION = {
    5: {
        "german": (100, 0.002, 0.2, "authors"),
        "spambase": (100, 0.002, 0.2, "authors"),
        "w7a": (100, 0.002, 1.0, "search"),
        "w8a": (100, 0.002, 1.0, "search"),
        "a9a": (100, 0.0005, 0.2, "search"),
        "ijcnn1": (100, 0.002, 0.5, "search"),
    },
    7: {
        "dna": (200, 0.005, 0.5, "authors"),
        "satimage": (200, 0.005, 0.5, "authors"),
        "usps": (200, 0.001, 1.0, "search"),
        "mnist": (100, 0.001, 0.5, "search"),
        "letter": (100, 0.001, 0.5, "search"),
        "shuttle": (100, 0.001, 0.5, "search"),
        "covtype": (100, 0.0005, 0.1, "search"),
    },
}
_REGRESSION = {
    "housing": (0.0006, 0.3, "authors"),
    "mg": (0.0006, 0.4, "authors"),
    "abalone": (0.0004, 0.2, "search"),
    "parkinsons": (0.0003, 0.1, "search"),
    "cpusmall": (0.0008, 0.4, "search"),
    "cadata": (0.0008, 0.4, "search"),
    "casp": (0.0003, 0.15, "search"),
}
_PARTIAL_W8A = "The paper streams 64 700 rows (with w8a.t); the file here holds the 49 749 of w8a."
_PARTIAL_COVTYPE = "A random 92 962 of the paper's 581 012 rows, scaled to [0, 1]."
_UNKNOWN_MNIST = (
    "The paper streams 10 000 rows of 780 columns and doesn't say which; here the first 10 000 of "
    "the training images, pixels/255. Tried besides: the 10 000 test images (NOGD 21.4), pixels to "
    "[-1, 1] (19.4), rows of unit length (63), B = 200 (16.1)."
)
_SPAMBASE = (
    "Not met, and not by the authors' program either: on these rows it gives 32.1 ± 1.9. Tried: "
    "η from 5e-5 to 2 (31.7 to 32.2); B = 50 (32.1), 200 (30.2), 500 (28.2, k = 100); σ = 4 (32.1) "
    "and 64 (29.7); without the 391 duplicate rows (33.0); columns scaled to [0, 1] (39.5), "
    "[-1, 1] (32.7), standardised (12.5), log(1 + x) (14.1); rows of unit length (39.5). The rank "
    "explains it: see the next row."
)
_SPAMBASE_FULL = (
    "As before with rank k = B instead of 0.2·B. This is what the printed number looks like; the "
    "paper's text says 0.2·B."
)
_NOTES: dict[tuple[str, str], str] = {
    ("spambase", "nogd"): _SPAMBASE,
    ("w8a", "fogd"): _PARTIAL_W8A,
    ("w8a", "nogd"): _PARTIAL_W8A,
    ("covtype", "fogd"): _PARTIAL_COVTYPE,
    ("covtype", "nogd"): _PARTIAL_COVTYPE,
    ("mnist", "nogd"): _UNKNOWN_MNIST,
}


def _parameters(algorithm: str, budget: int, eta: float) -> dict[str, Any]:
    shared = {"gamma": GAMMA, "dtype": "float64"}
    if algorithm == "fogd":
        return {"n_components": 4 * budget, "learning_rate": eta * 4 * budget, **shared}
    return {"budget": budget, "rank": budget // 5, "learning_rate": eta, **shared}


def _regression_parameters(algorithm: str, eta: float) -> dict[str, Any]:
    shared = {"gamma": GAMMA, "epsilon": 0.1, "dtype": "float64"}
    if algorithm == "fogd":
        return {"n_components": D_REGRESSION, "learning_rate": eta * D_REGRESSION, **shared}
    return {"budget": 30, "rank": 6, "learning_rate": eta, **shared}


def lsokl_entry(table: int, dataset: str, algorithm: str, **more: Any) -> Experiment:
    """The cell of an algorithm, with its published value."""
    return Experiment(
        name=f"lsokl-{table}-{dataset}-{algorithm}",
        paper="lsokl",
        table=table,
        dataset=dataset,
        algorithm=algorithm,
        published=cell("lsokl", table, dataset, algorithm),
        **more,
    )


def _classification() -> list[Experiment]:
    entries = []
    for table, rows in _CLASSIFICATION.items():
        for dataset, (budget, eta_fogd, eta_nogd, step) in rows.items():
            for algorithm, eta, scale in (("fogd", eta_fogd, 4 * budget), ("nogd", eta_nogd, 1)):
                entries.append(
                    lsokl_entry(
                        table,
                        dataset,
                        algorithm,
                        task="binary" if table == 5 else "multiclass",
                        parameters=_parameters(algorithm, budget, eta),
                        metric="mistakes",
                        step=step,
                        grid={"learning_rate": tuple(e * scale for e in ETAS)},
                        same_rows=dataset != "mnist",
                        n_first=10000 if dataset == "mnist" else None,
                        note=_NOTES.get((dataset, algorithm), ""),
                    )
                )
    return entries


def _regression() -> list[Experiment]:
    entries = []
    for dataset, (eta_fogd, eta_nogd, step) in _REGRESSION.items():
        for algorithm, eta, scale in (("fogd", eta_fogd, D_REGRESSION), ("nogd", eta_nogd, 1)):
            entries.append(
                lsokl_entry(
                    9,
                    dataset,
                    algorithm,
                    task="regression",
                    parameters=_regression_parameters(algorithm, eta),
                    metric="mse",
                    step=step,
                    grid={"learning_rate": tuple(e * scale for e in _ETAS_REGRESSION[algorithm])},
                )
            )
    return entries


def _full_rank(entry: Experiment) -> Experiment:
    """NOGD without the reduction of the rank."""
    return replace(
        entry,
        name=f"{entry.name}-full-rank",
        parameters={**entry.parameters, "rank": entry.parameters["budget"]},
        note=_SPAMBASE_FULL,
    )


def _all() -> list[Experiment]:
    entries = [*_classification(), *_regression()]
    at = [entry.name for entry in entries].index("lsokl-5-spambase-nogd")
    entries.insert(at + 1, _full_rank(entries[at]))
    return entries


EXPERIMENTS: tuple[Experiment, ...] = tuple(_all())
