"""What an experiment is: data, learner, protocol, and the number it is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onkel.experiments.published import Cell

#: full references
PAPERS = {
    "lsokl": "Lu, Hoi, Wang, Zhao & Liu: Large Scale Online Kernel Learning, JMLR 17 (2016)",
    "rrf": "Nguyen, Le, Bui & Phung: Large-scale Online Kernel Learning with Random Feature "
    "Reparameterization, IJCAI 2017",
}


@dataclass(frozen=True)
class Experiment:
    """One cell of a paper's table, as data.

    Every run streams the rows once, in its own seeded order, through a fresh learner that predicts
    each row before it learns it.

    Attributes
    ----------
    name : str
        Such as "lsokl-5-german-fogd".
    paper, table : str, int
    dataset : str
        A name of :data:`onkel.datasets.DATASETS`.
    algorithm : str
        A name of :data:`onkel.algorithms.ALGORITHMS`.
    parameters : mapping
        Of the estimator. ``random_state`` is the run's number.
    metric : {"mistakes", "mse"}
        Mistakes in percent, or the mean squared error; lower is better.
    published : Cell or None
    limit : float or None
        The most it may be where rows or protocol differ from the paper's, so that the published
        cell is no yardstick.
    same_rows : bool
        Whether the rows here are the paper's.
    subset, scaling : str or None
        Where they are not those of :func:`onkel.datasets.load`.
    n_first : int or None
        Only the first so many rows.
    n_runs : int
    step : {"authors", "search", "prior", "default"}
        Where the step sizes come from: the authors' scripts; a search (:attr:`grid`); earlier
        experience with the data; the estimator's default.
    grid : mapping
        Parameter -> values searched.
    search_share : float
        Share of the rows the search ran on, drawn at random.
    note : str
        What a reader has to know to judge the number.
    """

    name: str
    paper: str
    table: int
    dataset: str
    algorithm: str
    task: str
    parameters: Mapping[str, Any]
    metric: str
    published: Cell | None = None
    limit: float | None = None
    same_rows: bool = True
    subset: str | None = None
    scaling: str | None = None
    n_first: int | None = None
    n_runs: int = 20
    step: str = "search"
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    search_share: float = 1.0
    note: str = ""

    @property
    def dtype(self) -> str:
        """Precision of rows and learner."""
        return str(self.parameters.get("dtype", "float32"))

    @property
    def reference(self) -> str:
        """Paper and table for people."""
        return f"{self.paper.upper()} Table {self.table}" if self.table else "linear reference"
