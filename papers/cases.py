"""What is run, as data: rows, a search, a cell of a table, an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from onkel import make
from papers.published import Cell

#: units of the metrics; higher is better for accuracy only
METRICS = {
    "mistakes": "mistakes, %",
    "accuracy": "accuracy, %",
    "mse": "mean squared error, target in [0, 1]",
    "rmse": "root mean squared error",
    "error": "‖G - Ḡ‖ / ‖G‖",
    "regret": "regret",
    "moves": "landmarks moved",
    "bound": "bound on the regret",
    "rate": "exponent r",
    "length": "length of the chosen frequencies",
    "offset": "distance of their offsets from 0 or π",
    "turn": "degrees between the chosen frequencies and their axis",
    "axis": "degrees of the axis",
}


#: losses of learners that are not onkel's
_LOSSES = {"svc": "hinge", "bsgd-random": "hinge", "llsvm": "squared_hinge"}


@cache
def _loss_of(learner: str, task: str) -> str:
    """A learner's loss by default."""
    if learner in _LOSSES:
        return _LOSSES[learner]
    kind = "regression" if task == "regression" else "classification"
    of_mistakes = "epsilon_insensitive" if task == "regression" else "mistakes"
    return str(make(learner, kind).get_params(deep=False).get("loss", of_mistakes))


@dataclass(frozen=True)
class Rows:
    """Which rows of a data set, and in what form.

    ``subset`` and ``scaling``: the defaults of :func:`onkel.datasets.load` if None. ``positive``:
    this class against all others. ``unit_target``: the target is scaled to [0, 1]. ``share`` and
    ``most``: a random part of the rows for a search, drawn with a seed of its own. ``file``: a
    stream in a Parquet file, in its own order, in place of a data set; ``dataset`` is then "".
    ``one_hot``: columns of symbols, of which each value becomes a column; all columns are then
    scaled to [0, 1].
    """

    dataset: str
    subset: str | None = None
    scaling: str | None = None
    n_first: int | None = None
    positive: int | None = None
    unit_target: bool = False
    dtype: str = "float64"
    share: float = 1.0
    most: int | None = None
    file: str = ""
    one_hot: tuple[int, ...] = ()


@dataclass(frozen=True)
class Search:
    """How settings are chosen, never on orders or test rows that are reported.

    ``grid``: parameter -> values. ``share``, ``most``: the part of the rows. Each point is tried in
    so many ``orders``, or, with ``folds``, on each fold in turn after learning the others.
    ``heats``: smaller numbers of rows, on which a race over folds begins; after each at most half
    of the points go on.
    """

    grid: Mapping[str, tuple[Any, ...]]
    share: float = 1.0
    most: int | None = None
    orders: int = 1
    folds: int = 0
    heats: tuple[int, ...] = ()


@dataclass(frozen=True)
class Case:
    """One cell of a table, one line or one point of a figure: a learner on rows.

    Attributes
    ----------
    rows : Rows
    algorithm : str
        As the paper calls it; also the name of the line.
    parameters : mapping
        Of the learner. ``random_state`` is the run's number.
    learner : str
        A name of :data:`onkel.algorithms.ALGORITHMS`, or of
        :data:`papers.measures.OTHERS`; left out, ``algorithm``.
    piped : mapping or None
        Arguments of a :class:`onkel.StreamModel` around the learner: the run then does what
        ``onkel learn`` does. None: the learner by itself.
    task : {"binary", "multiclass", "regression"}
    metric : str
        A key of :data:`METRICS`.
    unit : float
        The target's unit, for ``rmse`` of targets that were scaled.
    measure : str
        A key of :data:`papers.measures.MEASURES`: what a run is.
    published : Cell or None
    limit : float or None
        The largest value allowed where rows or protocol differ from the paper's.
    same_rows : bool
        Whether the rows here are the paper's.
    n_runs : int
    step : {"authors", "search", "prior", "default"}
        Where the settings come from: the authors' scripts; a search; earlier experience with the
        data; the learner's defaults.
    search : Search or None
        How the settings were, or are, searched.
    here : bool
        Whether the search is part of the run: ``parameters`` then hold the other parameters.
    label, panel : str
        Names of the line and of its panel; by default algorithm and data set.
    take : str
        Which number of a run is the value: cases that differ only in this share their runs.
    x : float or None
        Place of a point on its figure's axis.
    slow : float
        Seconds per row beyond the usual, for the estimate of minutes.
    note : str
        What a reader has to know to judge the number.
    """

    rows: Rows
    algorithm: str
    parameters: Mapping[str, Any]
    task: str = "binary"
    metric: str = "mistakes"
    learner: str = ""
    piped: Mapping[str, Any] | None = None
    unit: float = 1.0
    measure: str = "once"
    published: Cell | None = None
    limit: float | None = None
    same_rows: bool = True
    n_runs: int = 20
    step: str = "search"
    search: Search | None = None
    here: bool = False
    label: str = ""
    panel: str = ""
    take: str = "value"
    x: float | None = None
    slow: float = 0.0
    note: str = ""

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.rows.dataset

    @property
    def name(self) -> str:
        """Data set and learner."""
        return f"{self.panel or self.dataset}/{self.label or self.algorithm}"

    @property
    def made_by(self) -> str:
        """Name of the learner."""
        return self.learner or self.algorithm

    @property
    def loss(self) -> str:
        """The loss that the run learns with, or "mistakes" where only these move the learner."""
        given = self.parameters.get("loss")
        return str(given) if given else _loss_of(self.made_by, self.task)

    @property
    def quantity(self) -> str:
        """What the value is, a key of :data:`METRICS`: the metric, or what is taken instead."""
        return self.take if self.take in METRICS else self.metric

    @property
    def more_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self.metric == "accuracy"

    def at(self, point: Mapping[str, Any]) -> Case:
        """The same case with these parameters in place of its own."""
        return replace(self, parameters={**self.parameters, **point})


#: full references
PAPERS = {
    "lsokl": "Lu, Hoi, Wang, Zhao & Liu: Large Scale Online Kernel Learning, JMLR 17 (2016)",
    "rrf": "Nguyen, Le, Bui & Phung: Large-scale Online Kernel Learning with Random Feature "
    "Reparameterization, IJCAI 2017",
    "nolana": "Si, Kumar & Li: Nonlinear Online Learning with Adaptive Nyström Approximation, 2018",
    "aligned": "Sinha & Duchi: Learning Kernels with Random Features, NIPS 2016",
    "olk": "He & Kwok: Simple Randomized Algorithms for Online Learning with Kernels, 2014",
    "onkel": "onkel's own measurements",
}


@dataclass(frozen=True)
class Picture:
    """A row of panels.

    ``over``: the horizontal axis, "rows" as they come or "x" of the points. ``y``: "value" or
    "seconds", the second and third array of a curve. The line of a case that takes "bound" is the
    third.
    """

    over: str
    y: str
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper: its protocol in words, its cells, its pictures.

    ``layout``: a key of :data:`papers.registry.LAYOUTS`. Only ``streams`` has no
    cases of its own: it gets them from files that the user names.
    """

    name: str
    paper: str
    title: str
    protocol: str
    cases: tuple[Case, ...] = ()
    pictures: tuple[Picture, ...] = ()
    layout: str = "cells"

    @property
    def kind(self) -> str:
        """ "table" or "figure"."""
        return "figure" if self.pictures else "table"

    @property
    def counted(self) -> bool:
        """Whether its verdicts count: figures share runs with tables, reasons change cells."""
        return not self.pictures and self.layout != "reasons"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets, each once; generated data are left out."""
        return [name for name in dict.fromkeys(case.dataset for case in self.cases) if name]

    @property
    def algorithms(self) -> list[str]:
        """Names of the learners, each once, as the paper has them."""
        return list(dict.fromkeys(case.algorithm for case in self.cases))

    def on(self, datasets: list[str] | None, algorithms: list[str] | None = None) -> Experiment:
        """The experiment restricted to some data sets or learners."""
        kept = tuple(
            case
            for case in self.cases
            if (not datasets or case.dataset in (*datasets, ""))
            and (not algorithms or case.algorithm in algorithms)
        )
        return replace(self, cases=kept)
