"""How f moves, as passed to every compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class How(NamedTuple):
    """The rule and the loss, and the state that they share with f."""

    #: see :mod:`onkel.rules.base`
    state: np.ndarray
    loss: int
    epsilon: float
    #: the rule's number, and its parameter vector
    rule: int
    par: Any
