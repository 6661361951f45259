"""The table of algorithms: what each is made of and where it comes from.

The command line, the docs and the generic tests read it. A new algorithm is one row here and one
class on its axis.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ALGORITHMS", "DEFAULT", "LINEAR", "Algorithm", "make"]

ALL_TASKS = ("binary", "multiclass", "regression")


@dataclass(frozen=True)
class Algorithm:
    """One named point of the grid loss × rule × representation × map or budget.

    ``classifier`` and ``regressor`` name classes of :mod:`onkel.estimators`; ``params`` are what
    the name fixes on them.
    """

    name: str
    title: str
    loss: str
    rule: str
    representation: str
    finite: str
    paper: str
    reference: str
    classifier: str
    regressor: str
    tasks: tuple[str, ...] = ALL_TASKS
    params: dict[str, Any] = field(default_factory=dict)

    def estimator(self, task: str) -> type:
        """The estimator class for a task ("classification" and "regression" are tasks too)."""
        name = self.regressor if task == "regression" else self.classifier
        return getattr(importlib.import_module("onkel.estimators"), name)  # type: ignore[no-any-return]

    @property
    def linear(self) -> bool:
        """True for learners linear in the inputs."""
        return self.finite == "identity"


_ROWS = (
    Algorithm(
        "fogd", "Fourier online gradient descent",
        "any", "gradient", "explicit", "random Fourier",
        "Lu et al. 2016", "Algorithms 1, 3, 5", "FOGDClassifier", "FOGDRegressor",
    ),
    Algorithm(
        "nogd", "Nyström online gradient descent",
        "any", "gradient", "explicit", "Nyström (first support vectors)",
        "Lu et al. 2016", "Algorithms 2, 4, 6", "NOGDClassifier", "NOGDRegressor",
    ),
    Algorithm(
        "rrf", "reparameterized random features",
        "any", "gradient", "explicit", "reparameterized",
        "Nguyen et al. 2017", "Algorithm 1", "RRFClassifier", "RRFRegressor",
    ),
    Algorithm(
        "krls", "kernel recursive least squares",
        "squared", "least squares", "explicit", "Nyström (first rows)",
        "Engel et al. 2004", "over Nyström features", "KernelRLSClassifier", "KernelRLSRegressor",
    ),
    Algorithm(
        "pa", "linear passive-aggressive",
        "hinge, ε-insensitive", "passive-aggressive", "explicit", "identity",
        "Crammer et al. 2006", "Figure 1, sections 5, 8", "PAClassifier", "PARegressor",
    ),
    Algorithm(
        "sgd", "linear online gradient descent",
        "any", "gradient", "explicit", "identity",
        "Zinkevich 2003", "section 2",
        "ExplicitKernelClassifier", "ExplicitKernelRegressor",
        params={"map": "identity"},
    ),
)  # fmt: skip

ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}

#: what the command line uses where nothing is said
DEFAULT = "krls"
#: the linear row that every comparison has
LINEAR = "pa"


def make(name: str, task: str = "classification", **params: Any) -> Any:
    """An estimator of the algorithm ``name`` for ``task``.

    Parameters
    ----------
    name : str
        A name of :data:`ALGORITHMS`.
    task : {"classification", "regression"}, default="classification"
    **params
        Parameters of the estimator.

    Raises
    ------
    ValueError
        Unknown name, task or parameter; the message lists what there is.

    Examples
    --------
    >>> from onkel import make
    >>> make("fogd", n_components=50)
    FOGDClassifier(n_components=50)
    """
    if name not in ALGORITHMS:
        close = difflib.get_close_matches(str(name), ALGORITHMS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"algorithm {name!r} is not one of {', '.join(ALGORITHMS)}{hint}")
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r} must be 'classification' or 'regression'")
    row = ALGORITHMS[name]
    cls = row.estimator(task)
    allowed = cls._get_param_names()  # type: ignore[attr-defined]
    for key in params:
        if key.split("__")[0] not in allowed:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(allowed)}")
    return cls(**row.params).set_params(**params)
