"""The data sets of the papers, by name: what they are, where they lie, how the papers cut and scale
them.

A set is one Parquet file: columns f0, f1, ..., the target ``y``, and ``split`` ("train", "test" or
"all"). Files are looked for in the folder of the environment variable ``ONKEL_DATA``, then in the
user's cache folder; :func:`fetch` downloads into the first of them.
"""

from __future__ import annotations

from onkel.datasets.loading import Dataset, load
from onkel.datasets.openml import fetch
from onkel.datasets.registry import DATASETS, Entry, info
from onkel.datasets.store import available, folders, path

__all__ = ["DATASETS", "Dataset", "Entry", "available", "fetch", "folders", "info", "load", "path"]
