"""All columns of a table: a named input for each, and the features of all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from onkel.columns.column import CODE, Column
from onkel.columns.encoding import Encoder
from onkel.errors import ExportError
from onkel.export.columns.block import Block, Place
from onkel.export.columns.numbers import number, time
from onkel.export.columns.texts import text
from onkel.export.functions import concat, filled
from onkel.export.graph import Graph, Value


class Reading(NamedTuple):
    """How columns are read."""

    #: how missing values are treated
    missing: str
    #: type of the features
    dtype: np.dtype
    #: the statistics (codes, J) of each code, by the feature that holds the codes
    means: Mapping[int, np.ndarray]
    #: texts to expect, by column name, where some share features by a hash
    values: Mapping[str, Collection[str]]


def features_of(encoder: Encoder, graph: Graph, reading: Reading, places: Sequence[Place]) -> Value:
    """The features (n, d) at some places, as `Encoder.encode` makes them, with gaps filled.

    Parameters
    ----------
    encoder : Encoder
    graph : Graph
        It gets an input (n, 1) for each column: numbers, seconds since 1970, or text.
    reading : Reading
    places : sequence of (int, int)
        Feature, and the index of its statistic; an unknown place gives 0.
    """
    # inputs come first, so they keep their names
    inputs = [_input(graph, column) for column in encoder.columns]
    blocks = [
        Block(block.values.to(reading.dtype), block.places)
        for k, x in enumerate(inputs)
        for block in _blocks(encoder, k, x, reading)
    ]
    known: dict[Place, int] = {}
    for block in blocks:
        known |= {place: len(known) + i for i, place in enumerate(block.places)}
    zero = filled(inputs[0], 0.0, 1, reading.dtype)
    whole = concat(*(block.values for block in blocks), zero)
    return whole.columns([known.get(place, len(known)) for place in places])


def _input(graph: Graph, column: Column) -> Value:
    return graph.input(column.name, str if column.kind == "text" else np.float64, 1)


def _blocks(encoder: Encoder, k: int, x: Value, reading: Reading) -> Iterator[Block]:
    column, missing = encoder.columns[k], reading.missing
    if encoder.layout.waits(k):
        return
    if column.kind == "text":
        none = np.zeros((0, 0)) if encoder.statistics else None
        means = reading.means.get(encoder.layout.get(k, CODE), none)
        values = reading.values.get(column.name)
        yield text(encoder, k, x, missing, reading.dtype, means, values)
    elif column.kind == "time":
        yield from time(encoder, k, x, missing)
    elif column.kind in ("number", "flag"):
        yield from number(encoder, k, x, missing, reading.means)
    else:
        raise ExportError(f"column {column.name!r}: no ONNX graph is known for a {column.kind}")
