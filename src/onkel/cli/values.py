"""Read what users write on the command line: settings, delays, tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import numpy as np

from onkel.evaluation.formatting import count
from onkel.learners.making import parse_value

_MOST_CLASSES = 32
"""A column of whole numbers with more distinct values than this is taken for a quantity."""


def parse_settings(given: Iterable[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs: numbers, fractions (1/128), true, false, none, else text.

    Parameters
    ----------
    given : iterable of str
        As after ``--set``.

    Returns
    -------
    dict
        Values by name.

    Raises
    ------
    ValueError
        If there is no ``=``.

    Examples
    --------
    >>> parse_settings(["gamma=1/128", "n_components=400", "loss=hinge"])
    {'gamma': 0.0078125, 'n_components': 400, 'loss': 'hinge'}
    """
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--set {text}: write it as name=value, such as gamma=0.1")
        settings[name.strip()] = parse_value(value.strip())
    return settings


_UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_delay(text: str) -> int | timedelta:
    """A number of rows, or a time such as 1h; ValueError for anything else.

    Examples
    --------
    >>> parse_delay("24"), parse_delay("1.5h")
    (24, datetime.timedelta(seconds=5400))
    """
    if text.isdecimal():
        return int(text)
    found = re.fullmatch(r"(\d+\.?\d*)\s*(s|min|h|d|w)", text.strip())
    if found is None:
        raise ValueError(
            f"--delay {text}: must be a number of rows, or a time such as 90s, 15min, 1h, 2d or 1w"
        )
    try:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError:
        raise ValueError(f"--delay {text}: is too long a time") from None


def with_features(params: dict[str, Any], features: int | None) -> dict[str, Any]:
    """Settings with ``--features N``, which is n_components of the learner or of its map.

    Raises
    ------
    ValueError
        If the settings give another number.
    """
    if features is None:
        return params
    name = "map__n_components" if "map" in params else "n_components"
    if params.get(name, features) != features:
        raise ValueError(f"--features {features}: --set {name}={params[name]} says another number")
    return {**params, name: features}


def choose_task(y: np.ndarray, asked: str) -> tuple[str, str]:
    """Whether a target is to be classified or regressed, and why.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Target of the first block.
    asked : {"auto", "classification", "regression"}
        "auto": the kind of values decides.

    Returns
    -------
    task : {"classification", "regression"}
        Task.
    reason : str
        For the user, to see whether the choice is right.

    Raises
    ------
    ValueError
        If a regression is asked for a target of text.

    Examples
    --------
    >>> choose_task(np.array([0.5, 1.25, 7.0]), "auto")
    ('regression', 'the target is a number with decimals')
    """
    numeric = y.dtype.kind in "biuf"
    if asked == "regression" and not numeric:
        shown = repr(str(y[0]))
        raise ValueError(f"--task regression: the target holds text, such as {shown}, not numbers")
    if asked != "auto":
        return asked, "as asked"
    if y.dtype.kind == "b" or not numeric:
        return "classification", f"the target holds {'text' if not numeric else 'true and false'}"
    distinct = len(np.unique(y))
    whole = bool(np.all(y == np.rint(y)))
    found = count(distinct, "distinct whole number")
    if y.dtype.kind == "f" and not (whole and distinct <= 2):
        return (
            "regression",
            f"the target is a number {'that may have' if whole else 'with'} decimals",
        )
    if distinct <= min(_MOST_CLASSES, max(2, len(y) // 4)):
        return "classification", f"the target holds {found}"
    return "regression", f"the target holds {found} in {count(len(y), 'row')}"
