"""Calls from compiled loops to functions that users add, by their address alone.

The loops are compiled once and kept on disk. They can't contain a function that a user writes, but
they can call it at its address in memory. :func:`rule_function` and :func:`slot_function` compile
such a function and give the number by which a loop calls it. Numbers hold within one process, so
they are asked for at each call and never saved. With ``NUMBA_DISABLE_JIT=1`` a number stands for
the Python function itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

# No address of a function is below this; all numbers of the library's own rules and budgets are.
FIRST_ADDRESS = 4096
_COMPILES = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
_INT, _FLOAT = ir.IntType(64), ir.DoubleType()

#: what a number stands for: the compiled function, which must stay alive, or the Python function
_KNOWN: dict[int, Any] = {}


def _number(function: Any) -> int:
    number = function.address if _COMPILES else FIRST_ADDRESS + len(_KNOWN)
    _KNOWN[number] = function
    return int(number)


def _pointer(context: Any, builder: Any, ty: Any, value: Any, *index: Any) -> Any:
    """Where an element of an array stands, as plain bytes."""
    array = context.make_array(ty)(context, builder, value)
    place = cgutils.get_item_pointer(context, builder, ty, array, index, wraparound=False)
    return builder.bitcast(place, cgutils.voidptr_t)


def _call(builder: Any, address: Any, returns: Any, args: list[Any]) -> Any:
    signature = ir.FunctionType(returns, [arg.type for arg in args])
    return builder.call(builder.inttoptr(address, signature.as_pointer()), args)


# ---- rules ---------------------------------------------------------------------------------------


@cache
def rule_function(
    step: Callable[..., tuple[float, float]], margin: Callable[..., object], own: int, mine: int
) -> int:
    """The number of a rule whose scalars begin at place ``own``, and its state at ``mine``."""
    if not _COMPILES:

        def plain(what, par, state, weight, value, norm):  # type: ignore[no-untyped-def]
            if what == 0:
                return margin(par[own:], state[mine:], norm), 0.0
            return step(par[own:], state[mine:], state[0], weight, value, norm)

        return _number(plain)
    step, margin = numba.njit(step), numba.njit(margin)
    numbers = types.CPointer(types.float64)
    f8, i8 = types.float64, types.int64

    def call(what, par, n_par, state, n_state, weight, value, norm, out):  # type: ignore[no-untyped-def]
        scalars, states = numba.carray(par, n_par), numba.carray(state, n_state)
        if what == 0:
            out[0] = margin(scalars[own:], states[mine:], norm)
        else:
            out[0], out[1] = step(scalars[own:], states[mine:], states[0], weight, value, norm)

    signature = types.void(i8, numbers, i8, numbers, i8, f8, f8, f8, numbers)
    return _number(numba.cfunc(signature)(call))


@intrinsic
def _call_rule(typing, rule, what, par, state, weight, value, norm):  # type: ignore[no-untyped-def]
    pair = types.UniTuple(types.float64, 2)

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address, what, par, state, weight, value, norm = args
        zero = _INT(0)
        places = []
        for ty, array in ((signature.args[2], par), (signature.args[3], state)):
            length = context.make_array(ty)(context, builder, array).nitems
            places += [_pointer(context, builder, ty, array, zero), length]
        out = cgutils.alloca_once(builder, _FLOAT, size=2)
        both = [cgutils.gep_inbounds(builder, out, i) for i in range(2)]
        for place in both:
            # a function that fails leaves NaN, which is refused as a model that diverged
            builder.store(_FLOAT(float("nan")), place)
        result = builder.bitcast(out, cgutils.voidptr_t)
        _call(builder, address, ir.VoidType(), [what, *places, weight, value, norm, result])
        return context.make_tuple(builder, pair, [builder.load(place) for place in both])

    f8 = types.float64
    return pair(types.int64, types.int64, par, state, f8, f8, f8), build


def _plain_rule(rule, what, par, state, weight, value, norm):  # type: ignore[no-untyped-def]
    return _KNOWN[rule](what, par, state, weight, value, norm)


call_rule: Any = _call_rule if _COMPILES else _plain_rule


# ---- budgets -------------------------------------------------------------------------------------


@cache
def slot_function(slot: Callable[..., object], dtype: np.dtype) -> int:
    """The number of a budget whose coefficients and kernel values are of this type."""
    if not _COMPILES:
        return _number(slot)
    slot = numba.njit(slot)
    real, numbers = types.CPointer(numba.from_dtype(dtype)), types.CPointer(types.float64)
    i8 = types.int64

    def call(par, n_par, A, outputs, capacity, info, n_info, similar, size):  # type: ignore[no-untyped-def]
        coef, known = numba.carray(A, (outputs, capacity)), numba.carray(info, (n_info, capacity))
        own = numba.carray(par, n_par)
        return slot(own, coef[:, :size], known[:, :size], numba.carray(similar, size))

    signature = types.int64(numbers, i8, real, i8, i8, numbers, i8, real, i8)
    return _number(numba.cfunc(signature)(call))


@intrinsic
def _call_slot(typing, kind, par, A, info, panel, t, size):  # type: ignore[no-untyped-def]
    if A.dtype != panel.dtype:
        raise TypingError("coefficients and kernel values must be of one type")

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address, _, _, _, _, t, size = args
        zero = _INT(0)
        arrays = list(zip(signature.args[1:5], args[1:5], strict=True))
        shapes = [
            cgutils.unpack_tuple(builder, context.make_array(ty)(context, builder, value).shape)
            for ty, value in arrays
        ]
        starts = [(zero,), (zero, zero), (zero, zero), (t, zero)]
        (par, A, info, similar) = (
            _pointer(context, builder, *array, *start)
            for array, start in zip(arrays, starts, strict=True)
        )
        values = [par, *shapes[0], A, *shapes[1], info, shapes[2][0], similar, size]
        return _call(builder, address, _INT, values)

    i8 = types.int64
    return i8(i8, par, A, info, panel, i8, i8), build


def _plain_slot(kind, par, A, info, panel, t, size):  # type: ignore[no-untyped-def]
    return _KNOWN[kind](par, A[:, :size], info[:, :size], panel[t, :size])


call_slot: Any = _call_slot if _COMPILES else _plain_slot


# ---- Python functions that a loop calls now and then ---------------------------------------------

_NOTIFIED = ctypes.CFUNCTYPE(None, ctypes.c_int64)


@contextmanager
def python_function(function: Callable[[int], None]) -> Iterator[int]:
    """The number by which a loop calls a Python function of one whole number.

    It holds inside the context. A call takes the GIL, some microseconds. An error of the function
    is raised when the context ends; until then calls do nothing.
    """
    errors: list[BaseException] = []

    def call(number: int) -> None:
        if errors:
            return
        try:
            function(number)
        except BaseException as error:
            errors.append(error)

    compiled = _NOTIFIED(call) if _COMPILES else None
    address = ctypes.cast(compiled, ctypes.c_void_p).value if compiled else FIRST_ADDRESS + id(call)
    assert address is not None
    _KNOWN[address] = call
    try:
        yield address
    finally:
        del _KNOWN[address]
        if errors:
            raise errors[0]


@intrinsic
def _call_python(typing, address, number):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        _call(builder, args[0], ir.VoidType(), [args[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), build


def _plain_python(address, number):  # type: ignore[no-untyped-def]
    _KNOWN[address](number)


call_python: Any = _call_python if _COMPILES else _plain_python
