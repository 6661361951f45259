"""An ONNX graph: values with NumPy's operators, the file, and tables of who builds which part."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from onkel._version import __version__
from onkel.annotations import ArrayLike, DTypeLike
from onkel.errors import ExportError


def onnx() -> Any:
    """The package ``onnx``."""
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            f"export to ONNX needs the package onnx ({error}): pip install 'onkel[onnx]'"
        ) from None
    return onnx


# Old enough for the oldest runtime that the tests run with.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
ML = "ai.onnx.ml"
# A file of protocol buffers is smaller than 2 GiB.
_MOST_BYTES = 2**31 - 2**20
_INT = np.dtype(np.int64)

#: what a node takes: another's result, or a constant
Operand: TypeAlias = "Value | ArrayLike"


_Operator: TypeAlias = "Callable[[Value, Operand], Value]"


def _operator(op: str, dtype: DTypeLike | None = None) -> _Operator:
    """A method of two operands by its ONNX name; ``dtype`` of its result."""
    return lambda self, other: self.graph.node(op, self, other, dtype=dtype)


@dataclass(eq=False)
class Value:
    """A tensor of a graph: its name and type. Constants combined with it take its type."""

    graph: Graph
    name: str
    dtype: np.dtype

    __array_ufunc__ = None

    __add__: ClassVar[_Operator] = _operator("Add")
    __sub__: ClassVar[_Operator] = _operator("Sub")
    __mul__: ClassVar[_Operator] = _operator("Mul")
    __truediv__: ClassVar[_Operator] = _operator("Div")
    __matmul__: ClassVar[_Operator] = _operator("MatMul")
    __pow__: ClassVar[_Operator] = _operator("Pow")
    __gt__: ClassVar[_Operator] = _operator("Greater", bool)
    __lt__: ClassVar[_Operator] = _operator("Less", bool)
    __ge__: ClassVar[_Operator] = _operator("GreaterOrEqual", bool)

    def __neg__(self) -> Value:
        return self.of("Neg")

    def of(self, op: str, dtype: DTypeLike | None = None) -> Value:
        """A function of one argument by its ONNX name, such as "Exp"; ``dtype`` of its result."""
        return self.graph.node(op, self, dtype=dtype)

    def to(self, dtype: DTypeLike) -> Value:
        """The same numbers in another type."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        to = onnx().helper.np_dtype_to_tensor_dtype(dtype)
        return self.graph.node("Cast", self, dtype=dtype, to=to)

    def columns(self, which: ArrayLike) -> Value:
        """Columns of an (n, d) tensor, by number, in this order."""
        index = self.graph.constant(np.asarray(which, dtype=_INT).reshape(-1))
        return self.graph.node("Gather", self, index, axis=1)

    def span(self, start: int, stop: int) -> Value:
        """Columns of an (n, d) tensor from ``start`` up to, but without, ``stop``."""
        ends = (self.graph.constant(np.array([end], dtype=_INT)) for end in (start, stop, 1))
        return self.graph.node("Slice", self, *ends)

    def shaped(self, *shape: int) -> Value:
        """The same numbers in another shape; one length may be -1."""
        return self.graph.node("Reshape", self, self.graph.constant(np.array(shape, dtype=_INT)))

    def sum(self, axis: int, keep: bool = False) -> Value:
        """The sum over an axis."""
        axes = self.graph.constant(np.array([axis], dtype=_INT))
        return self.graph.node("ReduceSum", self, axes, keepdims=int(keep))


class Graph:
    """Nodes, constants, inputs and outputs; see :meth:`proto`."""

    def __init__(self) -> None:
        self._onnx = onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._names: set[str] = set()
        self._bytes = 0

    # ---- ends ----------------------------------------------------------------------------------

    def input(self, name: str, dtype: DTypeLike, width: int) -> Value:
        """An input of rows (n, width), numbers or text."""
        value = Value(self, self._new_name(name), np.dtype(dtype))
        self._inputs.append(self._described(value, ["rows", width]))
        return value

    def output(self, name: str, value: Value, width: int | None = None) -> None:
        """Make a value of shape (n,) or (n, width) an output."""
        named = Value(self, self._new_name(name), value.dtype)
        self._add("Identity", [value.name], named.name, "", {})
        self._outputs.append(self._described(named, ["rows"] if width is None else ["rows", width]))

    def _described(self, value: Value, shape: list[str | int]) -> Any:
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(_stored(value.dtype))
        return helper.make_tensor_value_info(value.name, kind, shape)

    def _new_name(self, name: str) -> str:
        while not name or name in self._names:
            name += "_"
        self._names.add(name)
        return name

    # ---- what is computed ----------------------------------------------------------------------

    def node(
        self,
        op: str,
        *inputs: Operand,
        dtype: DTypeLike | None = None,
        domain: str = "",
        **attributes: object,
    ) -> Value:
        """The result of an operator; plain inputs become constants of the first value's type.

        ``dtype``: the type of the result, by default that of the first value.
        """
        first = next(one for one in inputs if isinstance(one, Value))
        names = [
            one.name if isinstance(one, Value) else self.constant(one, first.dtype).name
            for one in inputs
        ]
        out = Value(
            self, self._new_name(f"{op}_{len(self._nodes)}"), np.dtype(dtype or first.dtype)
        )
        self._add(op, names, out.name, domain, attributes)
        return out

    def _add(
        self, op: str, inputs: list[str], output: str, domain: str, attributes: dict[str, object]
    ) -> None:
        make = self._onnx.helper.make_node
        # a runtime may name the nodes that it makes by those they replace
        node = make(op, inputs, [output], name=output, domain=domain, **attributes)
        self._nodes.append(node)

    def constant(self, values: ArrayLike, dtype: DTypeLike | None = None) -> Value:
        """Numbers or texts stored in the file."""
        array = np.ascontiguousarray(values, dtype=dtype)
        array = array.reshape(np.shape(values))
        self._bytes += array.nbytes
        if self._bytes > _MOST_BYTES:
            raise ExportError(
                f"the graph's constants take more than {_MOST_BYTES / 2**30:.1f} GiB, and an ONNX "
                "file holds less than 2: learn with fewer components, or fewer columns"
            )
        value = Value(self, self._new_name(f"constant_{len(self._constants)}"), array.dtype)
        stored = array.astype(_stored(array.dtype), copy=False)
        self._constants.append(self._onnx.numpy_helper.from_array(stored, value.name))
        return value

    # ---- the whole -----------------------------------------------------------------------------

    def proto(self, name: str) -> Any:
        """The graph as an ONNX model."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, name, self._inputs, self._outputs, initializer=self._constants
        )
        domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        return helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)


def _stored(dtype: np.dtype) -> np.dtype:
    """The type that ONNX stores: texts are objects."""
    return np.dtype(object) if dtype.kind in "UO" else dtype


def write(graph: Graph, path: str | os.PathLike[str], name: str, facts: dict[str, object]) -> None:
    """Write a graph to an ONNX file, atomically; ModelFileError if that is not possible.

    ``name`` is the graph's, ``facts`` are JSON-able notes that the file holds as its metadata.
    """
    from onkel.persistence.atomic import write_whole

    proto = graph.proto(name)
    proto.producer_name, proto.producer_version = "onkel", __version__
    for key, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value)
        proto.metadata_props.add(key=key, value=text)
    onnx().checker.check_model(proto)
    write_whole(Path(path), proto.SerializeToString())


Builder = Callable[..., Any]


@dataclass(eq=False)
class Builders:
    """Builders by the class they export, such as kernels.

    A subclass may compute something else, so a builder serves its exact class only. ``what``,
    ``table`` and ``arguments`` are for the error where there is none: a kind such as "kernel",
    where the table stands, and what a builder takes.
    """

    what: str
    table: str
    arguments: str
    _builders: dict[type, Builder]

    def register(self, cls: type, builder: Builder) -> None:
        """Use ``builder`` to export a class of your own; see docs/guide/export.md."""
        self._builders[cls] = builder

    def of(self, part: Any) -> Builder:
        """The builder for ``part``; an ExportError says what to write where its class has none."""
        if type(part) not in self._builders:
            name, known = type(part).__name__, ", ".join(cls.__name__ for cls in self._builders)
            raise ExportError(
                f"no ONNX graph is known for the {self.what} {name}. There is: {known}. Write a "
                f"builder of {self.arguments}, and register it by {self.table}.register({name}, "
                "builder); docs/guide/export.md shows one"
            )
        return self._builders[type(part)]
