"""Functions of values that need several nodes, or that ONNX lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from onkel.annotations import DTypeLike
from onkel.export.graph import ML, Operand, Value


def concat(*values: Value) -> Value:
    """Columns side by side."""
    if len(values) == 1:
        return values[0]
    return values[0].graph.node("Concat", *values, axis=1)


def where(condition: Value, yes: Operand, no: Operand) -> Value:
    """``yes`` where the condition holds, else ``no``; one of them is a value."""
    graph, dtype = condition.graph, next(x.dtype for x in (yes, no) if isinstance(x, Value))
    parts = (x if isinstance(x, Value) else graph.constant(x, dtype) for x in (yes, no))
    return graph.node("Where", condition, *parts, dtype=dtype)


def pick(table: np.ndarray, index: Value) -> Value:
    """The rows of a table of constants by their numbers."""
    return index.graph.node("Gather", index.graph.constant(table), index, axis=0)


def looked_up(x: Value, rows: Mapping[str, int] | Mapping[float, int]) -> Value:
    """Look up each text or number (n, 1) in ``rows``: (n,), 0 for others.

    Numbers are compared in float32.
    """
    text = x.dtype.kind not in "fiub"
    return x.graph.node(
        "LabelEncoder",
        (x if text else x.to(np.float32)).shaped(-1),
        domain=ML,
        dtype=np.int64,
        values_int64s=list(rows.values()),
        default_int64=0,
        **{"keys_strings" if text else "keys_floats": list(rows)},
    )


def filled(like: Value, value: float, width: int, dtype: DTypeLike | None = None) -> Value:
    """One number repeated to (n, width) for the n rows of ``like``; by default of its type."""
    graph = like.graph
    rows = graph.node("Gather", like.of("Shape", np.int64), graph.constant([0]), axis=0)
    shape = graph.node("Concat", rows, [width], axis=0)
    return graph.node("Expand", graph.constant([value], dtype or like.dtype), shape)


def asinh(x: Value) -> Value:
    """asinh in float64, which not every runtime has: log(1 + u) for u = |x| + x²/(1 + √(1 + x²)).

    log(1 + u) is u log(w)/(w - 1) with w the rounded 1 + u: exact for small u, too (Kahan).
    """
    x = x.to(np.float64)
    size, square = x.of("Abs"), x * x
    u = size + square / ((square + 1.0).of("Sqrt") + 1.0)
    more = (u + 1.0) - 1.0
    none = x.graph.node("Equal", more, 0.0, dtype=bool)
    share = u / where(none, 1.0, more)
    return x.of("Sign") * where(none, u, (u + 1.0).of("Log") * share)


def cosines_and_sines(turns: Value) -> tuple[Value, Value]:
    """cos and sin of angles in turns; whole turns are subtracted first, which is exact.

    cos 2h is computed as 1 - 2 sin²h: not every runtime has the cosine in float64.
    """
    around = turns - turns.of("Round")
    half = (around * math.pi).of("Sin")
    return -(half * half) * 2.0 + 1.0, (around * (2.0 * math.pi)).of("Sin")
