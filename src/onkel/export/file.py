"""A graph as a file: add metadata, check it, write it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from onkel._version import __version__
from onkel.export.graph import Graph
from onkel.export.package import onnx


def write(graph: Graph, path: str | os.PathLike[str], name: str, facts: dict[str, Any]) -> None:
    """Write a graph to an ONNX file, atomically.

    Parameters
    ----------
    graph : Graph
        With its outputs.
    path : path-like
        Usually ending in ``.onnx``.
    name : str
        The graph's name: the learner's class.
    facts : dict
        JSON-able notes that the file holds as its metadata.

    Raises
    ------
    ModelFileError
        If the folder does not exist or cannot be written.
    """
    from onkel.persistence.files import write_whole

    proto = graph.proto(name)
    proto.producer_name, proto.producer_version = "onkel", __version__
    for key, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value)
        proto.metadata_props.add(key=key, value=text)
    onnx().checker.check_model(proto)
    write_whole(Path(path), proto.SerializeToString())
