"""The papers' tables and figures as data, and the runner that repeats them.

A user of onkel, and no part of it. ``python -m papers`` lists them, ``python -m papers
lsokl.table5`` runs one.

>>> from papers import EXPERIMENTS
>>> table = EXPERIMENTS["lsokl.table5"]
>>> cell = next(case for case in table.cases if case.name == "german/nogd")
>>> cell.published.value
30.4
"""

from __future__ import annotations

from pathlib import Path

from onkel import datasets
from papers.cache import Cache
from papers.cases import PAPERS, Case, Experiment, Rows, Search
from papers.published import Cell
from papers.registry import EXPERIMENTS, find
from papers.results import Result
from papers.runner import run_cases

#: the small sets come with the code
datasets.add_folder(Path(__file__).parent / "data")

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Cache",
    "Case",
    "Cell",
    "Experiment",
    "Result",
    "Rows",
    "Search",
    "find",
    "run_cases",
]
