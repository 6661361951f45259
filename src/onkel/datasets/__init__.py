"""The data sets of the papers, by name: their facts, their files, and the papers' splits and
scalings.

A set is one Parquet file: columns f0, f1, ..., the target ``y``, and ``split`` ("train", "test" or
"all"). Files are looked for in the folder of the environment variable ``ONKEL_DATA``, then in the
user's cache folder, then in ``papers/data`` of a clone of the repository, then in those of
:func:`add_folder`; :func:`fetch` downloads into the first.
:func:`drift_stream` needs no file: it generates a stream with drift.
"""

from __future__ import annotations

from onkel.datasets.drift import DRIFTS as DRIFTS
from onkel.datasets.drift import drift_stream as drift_stream
from onkel.datasets.loading import Dataset as Dataset
from onkel.datasets.loading import available as available
from onkel.datasets.loading import load as load
from onkel.datasets.loading import path as path
from onkel.datasets.openml import fetch as fetch
from onkel.datasets.registry import DATASETS as DATASETS
from onkel.datasets.registry import Entry as Entry
from onkel.datasets.registry import add_folder as add_folder
from onkel.datasets.registry import folders as folders
from onkel.datasets.registry import info as info
