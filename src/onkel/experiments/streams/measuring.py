"""A run over a stream in its own order: every row predicted before it is learned."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from onkel.experiments.data import load_rows
from onkel.experiments.entry import Case
from onkel.experiments.streams.learners import LEARNERS


def in_order(case: Case, run: int) -> dict[str, Any]:
    """Mistakes in percent, or root mean squared error; the run's number is the seed.

    The first row, about which nothing can be known, isn't scored. Seconds are processor time.
    """
    X, y, whole = load_rows(case.rows)
    task = "regression" if case.task == "regression" else "classification"
    began = time.process_time()
    told = LEARNERS[case.made_by].run(X, y, task, run)[1:]
    seconds = time.process_time() - began
    if task == "classification":
        value = 100.0 * float(np.mean(told != y[1:]))
    else:
        value = float(np.sqrt(np.mean((told - y[1:]) ** 2)))
    return {"value": value, "seconds": seconds, "rows": len(y), "comparable": whole}
