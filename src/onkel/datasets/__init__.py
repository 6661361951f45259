"""The data sets of the papers, by name: their facts, their files, and the papers' splits and
scalings.

A set is one Parquet file: columns f0, f1, ..., the target ``y``, and ``split`` ("train", "test" or
"all"). Files are looked for in the folder of the environment variable ``ONKEL_DATA``, then in the
user's cache folder, then in ``papers/data`` of a clone of the repository, then in those of
:func:`add_folder`; :func:`fetch` downloads into the first.
:func:`drift_stream` needs no file: it generates a stream with drift.
"""

from __future__ import annotations

from onkel.datasets.drift import DRIFTS, drift_stream
from onkel.datasets.loading import Dataset, available, load, path
from onkel.datasets.openml import fetch
from onkel.datasets.registry import DATASETS, Entry, add_folder, folders, info

__all__ = [
    "DATASETS",
    "DRIFTS",
    "Dataset",
    "Entry",
    "add_folder",
    "available",
    "drift_stream",
    "fetch",
    "folders",
    "info",
    "load",
    "path",
]
