"""The learners of a comparison, from names with settings, estimators or models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from onkel.algorithms import ALGORITHMS
from onkel.evaluation.comparison.adapters import adapted
from onkel.learners.base import OnlineEstimator
from onkel.learners.factory import make_estimator, parse_value

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Entry:
    """One learner of a comparison."""

    #: in tables and legends
    name: str
    #: seed of a run -> a new estimator
    make: Callable[[int], Any]
    #: its name in the table of algorithms; "" if it has none
    algorithm: str = ""

    @property
    def linear(self) -> bool:
        """True for learners linear in the inputs."""
        return self.algorithm in ALGORITHMS and ALGORITHMS[self.algorithm].linear


def entry(
    given: object,
    task: str,
    *,
    name: str | None = None,
    params: dict[str, Any] | None = None,
    classes: np.ndarray | None = None,
) -> Entry:
    """A learner of a comparison.

    ``given``: a name with settings, such as "fogd:n_components=100:gamma=0.1"; a class of another
    library, such as "sklearn.linear_model:SGDClassifier:alpha=0.001"; or the learner itself.
    ``name``, for tables, is what was given, or the class's name. ``params`` are further parameters
    of a name; its own settings come first. ``classes`` are all there are: scikit-learn's
    classifiers ask for them. A ValueError names a learner or parameter that there is not, or one
    that takes no single rows.
    """
    if isinstance(given, OnlineEstimator):
        return Entry(name or type(given).__name__, lambda seed: _seeded(given, seed))
    if not isinstance(given, str):
        name = name or type(given).__name__
        other = adapted(given, task, name, classes)
        return Entry(name, other.copied)
    first, *rest = given.split(":")
    if names_a_class(given):
        settings = _settings(given, rest[1:])
        other = adapted(_class(first, rest[0])(**settings), task, given, classes)
        return Entry(name or ":".join(rest), other.copied)
    settings = {**(params or {}), **_settings(given, rest)}
    make_estimator(first, task, settings)  # raises at once if something is wrong
    return Entry(name or given, lambda seed: make_estimator(first, task, settings, seed), first)


def names_a_class(given: str) -> bool:
    """Whether a text names a class of another library: "module:Class", not "name:setting=value"."""
    parts = given.split(":")
    return len(parts) > 1 and "=" not in parts[1]


def split_names(given: str) -> list[str]:
    """The parts of "okl,fogd:n_components=100", each once."""
    return list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))


def named(entries: Iterable[Entry]) -> list[Entry]:
    """The entries; ValueError where two have one name."""
    found: dict[str, Entry] = {}
    for one in entries:
        if one.name in found:
            raise ValueError(
                f"two learners are called {one.name!r}; give each a name of its own, in a dict"
            )
        found[one.name] = one
    return list(found.values())


def _settings(given: str, parts: Iterable[str]) -> dict[str, Any]:
    settings = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ValueError(
                f"{given}: write settings as name=value after a colon, such as fogd:gamma=0.1"
            )
        settings[key.strip()] = parse_value(value.strip())
    return settings


def _class(module: str, name: str) -> Any:
    try:
        return vars(import_module(module))[name]
    except ModuleNotFoundError as error:
        raise ValueError(f"rival {module}:{name}: {error}; is it installed?") from None
    except KeyError:
        raise ValueError(f"rival {module}:{name}: {module} has no {name}") from None


def _seeded(estimator: OnlineEstimator, seed: int) -> Any:
    """A copy that has learned nothing; without a seed of its own it gets that of the run."""
    new = clone(estimator)
    if "random_state" in new.get_params(deep=False) and new.random_state is None:
        new.set_params(random_state=seed)
    return new
