"""Merging learners of parts of a stream into one learner: functions over any learner."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from onkel.errors import MergeError
from onkel.learners.checking import column_names
from onkel.learners.saved_parameters import params_to_state
from onkel.merging import differ, require_same


def fix_map(learner: Any) -> None:
    """Freeze what was fitted on first rows; see :meth:`OnlineEstimator.fix_map`."""
    if learner.__sklearn_is_fitted__() and learner._task == "classification":
        known = len(learner.classes_)
        if known < 2:
            raise MergeError(f"only {known} class is known: learn rows of two first")
    check_is_fitted(learner)
    learner.model_.fix_map()
    learner.map_fixed_, learner.memory_ = True, None
    if learner._task == "classification":
        learner.classes_fixed_ = True


def merge(learner: Any, other: Any, since: Any) -> None:
    """Take in what another has learned since both were ``since``, or since the first row."""
    for one in (other,) if since is None else (other, since):
        require_alike(learner, one)
    least = 0 if since is None else since.n_rows_
    for one in (learner, other):
        if one.n_rows_ < least:
            raise MergeError(
                f"since= has learned {least:,} rows, and a learner to be merged "
                f"{one.n_rows_:,}: give the one that both went on from"
            )
    learner.model_.take_in(other.model_, None if since is None else since.model_)
    if learner.feedback_ is not None:
        learner.feedback_.take_in(other.feedback_, None if since is None else since.feedback_)
    learner._take_in_own(other, since)
    learner.n_rows_ += other.n_rows_ - least


def require_alike(learner: Any, other: Any) -> None:
    """Raise a MergeError, naming the difference, unless the other learned over the same map."""
    if type(other) is not type(learner):
        raise differ("their class", type(learner).__name__, type(other).__name__)
    check_is_fitted(learner)
    check_is_fitted(other)
    if learner._task == "classification":
        require_same("the classes", list(learner.classes_), list(other.classes_))
    require_same("the parameters", params_to_state(learner), params_to_state(other))
    require_same("the columns", learner.n_features_in_, other.n_features_in_)
    names = (column_names(learner), column_names(other))
    if all(own is not None for own in names):
        require_same("the columns", *names)
    require_same("whether the map is fixed", learner.map_fixed_, other.map_fixed_)
    learner.model_.require_alike(other.model_)
