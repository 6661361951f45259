"""What a learner tells of rows before it learns them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Told(NamedTuple):
    """Predictions of rows, each made before the row was learned.

    ``scores`` are those of a classifier: (n, 1) for two classes, else (n, n_classes), in the order
    of ``classes``. None where there are none.
    """

    predictions: np.ndarray
    scores: np.ndarray | None = None
    classes: np.ndarray | None = None
