"""What the default learner is held to: goals, and FOGD, NOGD and RRF at their best.

A goal is one number for every data set.

>>> from papers.goals import GOALS
>>> GOALS["letter"].target, GOALS["letter"].published
(13.4, 71.2)

The rivals are FOGD, NOGD and RRF with the papers' grids, searched on the same data.

A grid is searched on a random tenth of the rows (but at least 1 000 and at most 10 000), in one
order that is not reported; the best point then learns all rows in three others. All of it twice: on
the rows as the papers scaled them, and as the default learner gets them. Budgets and numbers of
frequencies are the papers', too.

``rivals.json`` holds the best points and what they reached, in the form of the ``results.json``
that ``python -m papers rivals --search --report FOLDER`` writes. Its points were found by the same
search, on the same part of the rows in another order.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from onkel import datasets
from onkel.evaluation.search import PENALTIES, RRF_STEPS, STEPS, WIDTHS, Grid
from papers.cases import Case, Experiment, Rows, Search
from papers.rrf import SIZES


@dataclass(frozen=True)
class Goal:
    """A data set and the goal on it.

    Attributes
    ----------
    dataset : str
        A name of :data:`onkel.datasets.DATASETS`.
    metric : {"mistakes", "mse", "rmse"}
        Mistakes in percent; mean squared error of the target scaled to [0, 1]; root of the mean
        squared error in the target's own units.
    target : float
        The largest value allowed: that of kernel least squares with the first 500 rows as landmarks
        and one setting for all data; for the airlines set by hand.
    published : float or None
        Best of all methods in the papers' tables, where the papers have the set.
    """

    dataset: str
    metric: str
    target: float
    published: float | None = None

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""
        return "classification" if self.metric == "mistakes" else "regression"

    @property
    def rows(self) -> Rows:
        """Columns as in the file; classes, or values in the goal's units."""
        unit = self.metric == "mse"
        return Rows(self.dataset, scaling="none", dtype="float32", unit_target=unit)


_MISTAKES = (
    ("german", 26.3, 29.5),
    ("spambase", 7.8, 22.0),
    ("w7a", 2.34, 2.75),
    ("w8a", 2.61, 2.43),
    ("a9a", 15.5, 16.3),
    ("ijcnn1", 2.80, 3.68),
    ("cod-rna", 5.11, 4.33),
    ("dna", 8.2, 16.1),
    ("satimage", 10.9, 23.6),
    ("usps", 5.1, 6.7),
    ("letter", 13.4, 71.2),
    ("shuttle", 0.40, 12.3),
    ("mnist_test", 8.6, 10.7),
    ("covtype_sub93k", 25.6, 38.3),
    ("poker_sub125k", 45.4, 43.4),
)
_SQUARES = (
    ("housing", 0.0076, 0.0401),
    ("mg", 0.0205, 0.0534),
    ("abalone", 0.0064, 0.0114),
    ("parkinsons", 0.0127, 0.0484),
    ("cpusmall", 0.0021, 0.0251),
    ("cadata", 0.0138, 0.0398),
    ("casp", 0.0451, 0.0784),
)
_GOALS = (
    *(Goal(name, "mistakes", target, published) for name, target, published in _MISTAKES),
    *(Goal(name, "mse", target, published) for name, target, published in _SQUARES),
    Goal("airlines_late", "mistakes", 19.2, 18.7),
    Goal("airlines_delay", "rmse", 33.5, 33.316),
)

#: all goals by data set
GOALS: dict[str, Goal] = {goal.dataset: goal for goal in _GOALS}


RIVALS = ("fogd", "nogd", "rrf")
#: "papers": scaled as in the papers, beforehand; "online": by the stream's own running statistics
INPUTS = ("papers", "online")
N_RUNS = 3
_LEAST, _MOST = 1000, 10_000
_WIDTHS = (1 / 128, *WIDTHS)
# Budget of NOGD, frequencies of RRF and of FOGD where they are not the family's.
_SIZES = {
    **{name: SIZES[name] for name in ("cod-rna", "airlines_late", "airlines_delay", "casp")},
    "poker_sub125k": SIZES["poker"],
    "dna": (200, 100, 800),
    "satimage": (200, 100, 800),
    "usps": (200, 100, 800),
}
_SIZE, _SIZE_REGRESSION = (100, 100, 400), (30, 100, 450)


def fixed(goal: Goal, rival: str, inputs: str) -> dict[str, Any]:
    """Parameters that aren't searched."""
    sizes = _SIZE if goal.task == "classification" else _SIZE_REGRESSION
    budget, n_rrf, n_fourier = _SIZES.get(goal.dataset, sizes)
    of_rival: dict[str, dict[str, Any]] = {
        "fogd": {"n_components": n_fourier},
        "nogd": {"n_components": budget, "rank": budget // 5},
        "rrf": {"n_components": n_rrf, "damping": 0.0},
    }
    shared: dict[str, Any] = {"dtype": "float64" if inputs == "papers" else "float32"}
    if goal.task == "regression" and inputs == "papers" and rival != "rrf":
        shared["epsilon"] = 0.1
    return {**of_rival[rival], **shared}


def grid(goal: Goal, rival: str, n_components: int, n_rows: int) -> Grid:
    """What is searched; ``n_rows`` are all rows of the set.

    The papers' features are not normalised: their η is ours divided by D, their λ ours times D.
    """
    if rival != "rrf":
        by_feature = rival == "fogd" and goal.task == "classification"
        etas = tuple(eta * n_components if by_feature else eta for eta in STEPS)
        return {"gamma": _WIDTHS, "learning_rate": etas}
    losses = ("hinge", "logistic") if goal.task == "classification" else ("squared", "absolute")
    steps = tuple(
        (eta * n_components, eta, penalty / n_rows / n_components)
        for eta, penalty in itertools.product(RRF_STEPS, PENALTIES)
        if eta * penalty / n_rows < 1.0  # else the weights change sign with every row
    )
    return {"loss": losses, "gamma": WIDTHS, "learning_rate,learning_rate_gamma,alpha": steps}


def _case(goal: Goal, rival: str, inputs: str) -> Case:
    online, known = inputs == "online", fixed(goal, rival, inputs)
    label = f"{rival}, {inputs}"
    found = stored().get(goal.dataset, {}).get(label)
    n_rows = found["n_rows"] if found else datasets.info(goal.dataset).n_rows
    searched = grid(goal, rival, known["n_components"], n_rows)
    return Case(
        rows=goal.rows if online else Rows(goal.dataset),
        algorithm=rival,
        label=label,
        parameters={**known, **(found["parameters"] if found else {})},
        piped={"scaling": "standard", "scale_target": True} if online else None,
        task=datasets.info(goal.dataset).task,
        metric=goal.metric,
        n_runs=N_RUNS,
        search=Search(searched, share=min(1.0, max(0.1, _LEAST / n_rows)), most=_MOST),
        here=not found,
    )


def _cases() -> Iterator[Case]:
    for goal, inputs, rival in itertools.product(GOALS.values(), INPUTS, RIVALS):
        yield _case(goal, rival, inputs)


@cache
def stored() -> dict[str, dict[str, Any]]:
    """The rivals' results that come with the package, by data set and label."""
    file = resources.files("papers") / "rivals.json"
    found: dict[str, dict[str, Any]] = {}
    for result in json.loads(file.read_text(encoding="utf-8"))["results"]["rivals"]:
        dataset, _, label = result["name"].partition("/")
        found.setdefault(dataset, {})[label] = result
    return found


def best_of(results: dict[str, Any], inputs: str | None = None) -> tuple[str, float] | None:
    """The rival with the lowest mean on one data set, its name and that mean.

    Parameters
    ----------
    results : dict
        Of one data set, as in :func:`stored`.
    inputs : {"papers", "online"}, optional
        Only rivals with these inputs.
    """
    means = {
        name: float(np.mean(result["values"]))
        for name, result in results.items()
        if inputs is None or name.endswith(f", {inputs}")
    }
    if not means:
        return None
    best = min(means, key=lambda name: means[name])
    return best, means[best]


RIVALS_TABLE = Experiment(
    "rivals", "onkel", "FOGD, NOGD and RRF at the best of the papers' grids",
    "A grid on a random tenth of the rows (1 000 to 10 000), then three other orders of all rows; "
    "papers: scaled as in the papers, online: as the default learner gets them.",
    tuple(_cases()), layout="settings",
)  # fmt: skip
