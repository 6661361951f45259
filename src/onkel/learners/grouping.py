"""Checks of the keys of groups, which find the first row without a valid one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.columns.notation import is_missing
from onkel.errors import DataError
from onkel.learners.base import OnlineEstimator
from onkel.numerics.arrays import as_values

_KINDS = (str, int, float)


def by_group(estimator: Any, groups: Any) -> dict[str, Any]:
    """The argument ``groups`` for a learner that takes it; none for the others."""
    takes = isinstance(estimator, OnlineEstimator) and estimator.takes_groups
    return {"groups": groups} if takes and groups is not None else {}


def group_keys(groups: Any) -> list[Any]:
    """Keys as plain texts and numbers, one per row."""
    keys = groups if isinstance(groups, list) else as_values(groups).tolist()
    if not isinstance(keys, list):
        raise ValueError(f"groups={groups!r} must be an array (n,), a key for every row")
    return [key.item() if isinstance(key, np.generic) else key for key in keys]


def check_keys(keys: list[Any], n: int) -> DataError | None:
    """The error of the first invalid key, of n."""
    if len(keys) != n:
        raise ValueError(f"X has {n} rows and groups has {len(keys)}; they must agree")
    for row, key in enumerate(keys):
        if not isinstance(key, _KINDS) or (isinstance(key, float) and not math.isfinite(key)):
            what = "is missing" if is_missing(key) else f"is {key!r}"
            return DataError(
                f"the group {what}; every row needs one, a text or a number",
                row=row,
                column="groups",
                value=key,
            )
    return None
