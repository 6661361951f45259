"""The table of algorithms: what each is made of and where it comes from.

The learners declare its rows. The command line, the docs and the generic tests read it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onkel import learners
from onkel.learners.base import OnlineEstimator
from onkel.learners.declaration import Row

ALL_TASKS = ("binary", "multiclass", "regression")
_TASKS = ("classification", *ALL_TASKS)

#: what the command line uses by default
DEFAULT = "okl"
#: the linear baseline of every comparison
LINEAR = "pa"


@dataclass(frozen=True)
class Algorithm(Row):
    """One named point of the grid loss × rule × representation × map or budget."""

    representation: str = ""
    classifier: type[OnlineEstimator] | None = None
    regressor: type[OnlineEstimator] | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it learns, of "binary", "multiclass" and "regression"."""
        classification = ALL_TASKS[:2] if self.classifier else ()
        return classification + (ALL_TASKS[2:] if self.regressor else ())

    def estimator(self, task: str) -> type[OnlineEstimator]:
        """The estimator class for a task ("classification" and "regression" are tasks, too)."""
        cls = self.regressor if task == "regression" else self.classifier
        if cls is None:
            raise ValueError(f"{self.name} does not learn {task}, but {', '.join(self.tasks)}")
        return cls

    @property
    def linear(self) -> bool:
        """True for learners linear in the inputs."""
        return self.finite == "identity"


def _rows() -> Iterator[Algorithm]:
    """A row for each name, with the classes that declare it."""
    found: dict[str, dict[str, Any]] = {}
    for cls in vars(learners).values():
        rows = cls._rows if isinstance(cls, type) and issubclass(cls, OnlineEstimator) else ()
        for row in rows:
            entry = vars(row) | {"representation": cls._representation}
            kind = "regressor" if cls._task == "regression" else "classifier"
            found.setdefault(row.name, entry)[kind] = cls
    for entry in found.values():
        yield Algorithm(**entry)


_FOUND = {row.name: row for row in _rows()}
ALGORITHMS: dict[str, Algorithm] = {DEFAULT: _FOUND[DEFAULT], **_FOUND}


def make(name: str, task: str = "classification", **params: Any) -> Any:
    """An estimator of the algorithm ``name`` for ``task``.

    Use it where the algorithm is a setting of your program. Otherwise name the class.

    Parameters
    ----------
    name : str
        A name of :data:`ALGORITHMS`.
    task : {"classification", "binary", "multiclass", "regression"}, default="classification"
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
    if task not in _TASKS:
        raise ValueError(f"task={task!r} must be one of {', '.join(map(repr, _TASKS))}")
    row = ALGORITHMS[name]
    cls = row.estimator(task)
    allowed = cls._get_param_names()
    for key in params:
        if key.split("__")[0] not in allowed:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(allowed)}")
    return cls(**row.params).set_params(**params)
