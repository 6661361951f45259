"""How f moves, as every compiled loop is told it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class How(NamedTuple):
    """The rule and the loss, and the state that they share with f."""

    #: see :mod:`onkel.rules.base`
    state: np.ndarray
    loss: int
    epsilon: float
    #: its number, and its parameter vector
    rule: int
    par: Any
