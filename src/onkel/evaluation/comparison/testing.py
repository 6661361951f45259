"""Which differences between learners are more than the luck of the orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_rel

from onkel.evaluation.curves import by_name
from onkel.evaluation.result import PrequentialResult

LEVEL = 0.05
_FEWEST_RUNS = 3


def p_values(results: Sequence[PrequentialResult]) -> dict[str, float]:
    """p of each learner against the best mean: paired t-test over the orders, Holm's correction.

    Empty for fewer than three orders or two learners. The orders are of the same rows, so the test
    speaks of orders and seeds, not of other data. The best itself has p = 1.

    Source: Holm 1979; over several data sets, Demšar 2006.
    """
    groups = by_name(results)
    runs = min((len(group) for group in groups.values()), default=0)
    if len(groups) < 2 or runs < _FEWEST_RUNS:
        return {}
    sign = 1.0 if results[0].metric.lower_is_better else -1.0
    values = {n: np.array([r.value for r in group[:runs]]) for n, group in groups.items()}
    best = min(values, key=lambda name: sign * values[name].mean())
    others = [name for name in values if name != best]
    found = holm([_p(values[best], values[name]) for name in others])
    return {best: 1.0, **dict(zip(others, found, strict=True))}


def _p(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p of a paired t-test; differences that are all the same are certain."""
    difference = a - b
    if np.ptp(difference) == 0.0:
        return 1.0 if difference[0] == 0.0 else 0.0
    return float(ttest_rel(a, b).pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's correction of several p: the smallest times n, the next times n - 1, ..."""
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    corrected = np.maximum.accumulate(np.array(p)[order] * factors).clip(max=1.0)
    out = np.empty(len(p))
    out[order] = corrected
    return out.tolist()
