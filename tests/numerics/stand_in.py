"""NumPy as the array library of a device: its arrays refuse those of the main memory, as CuPy's."""

from __future__ import annotations

import numpy as np


class There(np.ndarray):
    """An array in the memory of the device."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        out = options.pop("out", ())
        into = {"out": tuple(map(_plain, out))} if out else {}
        found = getattr(ufunc, method)(*map(_plain, inputs), **into, **options)
        return out[0] if out else _there(found)

    def __array_function__(self, function, types, args, options):
        plain = [[_plain(a) for a in arg] if isinstance(arg, list) else _plain(arg) for arg in args]
        return _there(function(*plain, **options))


def _plain(A):
    if isinstance(A, There):
        return A.view(np.ndarray)
    if isinstance(A, np.ndarray):
        raise TypeError("an array of the main memory among those of the device")
    return A


def _there(A):
    return np.asarray(A).view(There)


class Library:
    """What of the library is used."""

    @property
    def __dict__(self):
        raise AssertionError("a library is no part of a model")

    @staticmethod
    def array(A):
        return np.array(A).view(There)

    @staticmethod
    def asnumpy(A):
        assert isinstance(A, There), "an array that is not on the device"
        return np.array(A.view(np.ndarray))

    @staticmethod
    def ones(shape, dtype):
        return _there(np.ones(shape, dtype))

    triu = staticmethod(np.triu)
    maximum = staticmethod(np.maximum)
    concatenate = staticmethod(np.concatenate)
