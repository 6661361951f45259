"""What the default learner is held to: one number for every data set, and the papers' best.

>>> from onkel.experiments.own.goals import GOALS
>>> GOALS["letter"].target, GOALS["letter"].published
(13.4, 71.2)
"""

from __future__ import annotations

from dataclasses import dataclass

from onkel.experiments.entry import Rows


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
        The largest value allowed: what a prototype with one setting for all data reached.
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
