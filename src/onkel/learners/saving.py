"""A learner as plain data: its parameters and all that it has learned, and back.

These are functions over any learner. What a file holds is checked before anything is made of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onkel.errors import MergeError, ModelFileError
from onkel.fields import Field, Flag, Listed, State, Text, Whole, check, inside, nbytes, require
from onkel.learners.checking import column_names
from onkel.learners.saved_parameters import params_from_state, params_to_state
from onkel.state import Part, Stateful

# Parameters that set the size of arrays from the start.
_SIZES = ("n_components", "n_candidates", "n_mixtures", "n_transfer", "n_per_row", "n_parts")
# Columns that a file may have, however little it holds.
_MANY = 1 << 24


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
