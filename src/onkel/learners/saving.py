"""A learner as plain data: its parameters and all that it has learned, and back; and as a graph.

These are functions over any learner. What a file holds is checked before anything is made of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onkel.budgets import BUDGETS
from onkel.errors import MergeError, ModelFileError
from onkel.fields import Field, Flag, Listed, State, Text, Whole, check, inside, nbytes, require
from onkel.kernels import KERNELS
from onkel.learners.checking import column_names
from onkel.maps import MAPS
from onkel.maps.candidates import FEATURE_FUNCTIONS
from onkel.rules import RULES
from onkel.sklearn_bases import BaseEstimator
from onkel.state import Part, Stateful

if TYPE_CHECKING:
    from onkel.export.graph import Value
    from onkel.export.outputs import Outputs

_PLAIN = (str, int, float, bool, type(None), np.ndarray)
# Parameters that set the size of arrays from the start.
_SIZES = ("n_components", "n_candidates", "n_mixtures", "n_transfer", "n_per_row", "n_parts")
# Parameters that say where a machine computes, and not what: no file holds them.
_OF_MACHINE = ("device",)
# Columns that a file may have, however little it holds.
_MANY = 1 << 24


# ---- the learner -------------------------------------------------------------------------------


def state_of(learner: Any) -> State:
    """A copy of everything, as a nested dict of arrays and plain values."""
    state: State = {"params": params_to_state(learner)}
    if learner.__sklearn_is_fitted__():
        state["fitted"] = _Fitted(learner).get_state()
    return state


def learner_from(cls: type, state: State) -> Any:
    """A learner that continues, bit for bit, where that of :func:`state_of` stood."""
    with inside(state, "params") as params:
        check(params, {})
        learner = cls(**params_from_state(params))
    if "fitted" in state:
        with inside(state, "fitted") as fitted:
            check(fitted, {})
            _Fitted(learner).set_state(fitted)
    return learner


class _Names(Listed):
    """Names of columns, each as text."""

    def saved(self, value: np.ndarray) -> list[str]:
        return list(map(str, value))


class _Fitted(Stateful):
    """The attributes that a learner has learned; those of classifiers are declared there."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    @property
    def seed(self) -> int:
        """The seed that was drawn."""
        return int(self.learner.model_.seed)

    @property
    def named(self) -> bool:
        """Whether the columns have names."""
        return column_names(self.learner) is not None

    def state_fields(self) -> dict[str, Field]:
        fields: dict[str, Field] = {**_FRAME, "model_": Part(), **self.learner._own_fields()}
        fields["map_fixed_"] = Flag(where="map_fixed_")
        if self.learner.memory_ is not None:
            fields["memory_"] = Part(where="memory_")
        if self.learner.feedback_ is not None:
            fields["feedback_"] = Part()
        return fields

    def before_state(self, state: State) -> None:
        """Start the learner over the columns of a state."""
        check(state, {name.strip("_"): field for name, field in _FRAME.items()})
        d, first = state["n_features_in"], state["n_features_first"]
        require(first <= d, f"n_features_first: is {first}, more than the {d} columns in all")
        held = nbytes(state)
        # some learners store nothing per column, so any file may have many columns
        require(d <= max(_MANY, held), f"n_features_in: is {d}, more than the state holds")
        for name, value in self.learner.get_params().items():
            # no parameter asks for much more memory than the state has
            if name.split("__")[-1] in _SIZES and isinstance(value, int):
                fits = value * d <= max(1 << 27, 64 * held)
                require(fits, f"{name}: is {value}, more than the state holds")
        self.learner._start(first, self.learner._n_outputs(state))
        if d > first:
            self.learner.model_.add_columns(d - first)
            if self.learner.memory_ is not None:
                self.learner.memory_.add_columns(d - first)

    def set_fields(self, values: State) -> None:
        self.learner.model_.seed = values.pop("seed")
        for name, value in values.items():
            setattr(self.learner, name, value)

    def state_is_set(self) -> None:
        learner = self.learner
        rows = np.stack([np.zeros(learner.n_features_in_), np.ones(learner.n_features_in_)])
        finite = np.isfinite(learner.model_.scores(rows.astype(learner.dtype))).all()
        require(finite, "model: scores rows with numbers that are not finite")
        if learner.map_fixed_:
            try:
                learner.model_.fix_map()
            except MergeError as error:
                raise ModelFileError(f"map_fixed: {error}") from None
            learner.memory_ = None


_COLUMNS = Whole(low=1, high=2**31)
#: what a learner must have before its model is begun
_FRAME: dict[str, Field] = {
    "n_features_in_": replace(_COLUMNS, size="d"),
    "n_rows_": Whole(),
    "feature_names_in_": _Names(
        Text(), "d", lambda names: np.array(names, dtype=object), where="named"
    ),
    "_n_features_first": _COLUMNS,
    "seed": Whole(),
}


# ---- parameters: kernels, maps, rules and budgets inside a saved model ------------------------


def params_to_state(owner: BaseEstimator) -> State:
    """The constructor's parameters of ``owner`` as plain data."""
    params = owner.get_params(deep=False).items()
    return {name: _encode(name, value) for name, value in params if name not in _OF_MACHINE}


def params_from_state(state: State) -> State:
    """The inverse of :func:`params_to_state`."""
    return {name: _decode(value) for name, value in state.items()}


def _encode(name: str, value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if _classes().get(type(value).__name__) is type(value):
        return {"class": type(value).__name__, "params": params_to_state(value)}
    if name == "random_state" and not isinstance(value, (int, type(None))):
        # a generator has been drawn from; the seed drawn is in the fitted state
        return None
    if name == "class_weight" and isinstance(value, dict):
        pairs = [(k.item() if isinstance(k, np.generic) else k, v) for k, v in value.items()]
        return {"pairs": [[label, float(weight)] for label, weight in pairs]}
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    if callable(value):
        return {"function": _name_of(name, value)}
    if not isinstance(value, _PLAIN):
        raise ModelFileError(
            f"parameter {name}={value!r} cannot be saved: it is neither plain data nor a kernel, "
            "map, rule or budget that is known by name; register one of your own"
        )
    return value


def _name_of(name: str, function: object) -> str:
    """The name of a registered feature function."""
    known = getattr(function, "__name__", "")
    if FEATURE_FUNCTIONS.get(known) is not function:
        raise ModelFileError(
            f"parameter {name}={function!r} cannot be saved: a file holds no code. Define the "
            "function by 'def', and call onkel.maps.register_features on it before you save, and "
            "in the program that loads"
        )
    return str(known)


def _decode(value: object) -> Any:
    if isinstance(value, dict) and "function" in value:
        function = FEATURE_FUNCTIONS.get(value["function"])
        if function is None:
            raise ModelFileError(
                f"the model uses the feature function {value['function']!r}; call "
                "onkel.maps.register_features on it before the model is loaded"
            )
        return function
    if isinstance(value, dict) and "class" in value:
        cls = _classes().get(value["class"])
        if cls is None:
            raise ModelFileError(
                f"the model uses {value['class']!r}, which this onkel doesn't have; a class of "
                "your own must be registered before the model is loaded"
            )
        return cls(**params_from_state(value["params"]))
    if isinstance(value, dict) and "pairs" in value:
        return dict(value["pairs"])
    return value


def _classes() -> dict[str, type[BaseEstimator]]:
    """The classes that a file may hold, including those that a user registered."""
    tables: tuple[Mapping[str, type], ...] = (BUDGETS, KERNELS, MAPS, RULES)
    return {cls.__name__: cls for table in tables for cls in table.values()}


# ---- ONNX --------------------------------------------------------------------------------------


def write_graph(learner: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted learner as an ONNX graph."""
    from onkel.export.graph import Graph, write

    check_is_fitted(learner)
    graph = Graph()
    graph_outputs(learner, graph.input("X", learner.dtype, learner.n_features_in_)).write()
    write(graph, path, type(learner).__name__, graph_facts(learner))


def graph_outputs(learner: Any, X: Value) -> Outputs:
    """What the learner gives for rows X (n, d), as a graph."""
    from onkel.export.models import scores
    from onkel.export.outputs import of_classes, of_value

    P = scores(learner.model_, X.to(learner.dtype))
    if learner._task == "regression":
        return of_value(P)
    link = learner.calibration_
    return of_classes(P, learner.classes_, learner.probability_link if link is None else link)


def graph_facts(learner: Any) -> dict[str, object]:
    """What an ONNX file says about the learner."""
    facts = {"learner": type(learner).__name__, "task": learner._task}
    facts["rows"] = int(learner.n_rows_)
    if learner._task == "classification":
        facts["classes"] = learner.classes_.tolist()
    names = column_names(learner)
    return facts if names is None else facts | {"columns": [str(name) for name in names]}
