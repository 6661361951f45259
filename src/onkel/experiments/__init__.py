"""The papers' tables and figures as data, and the runner that repeats them.

``onkel reproduce`` lists them, ``onkel reproduce lsokl.table5`` runs one.

>>> from onkel.experiments import EXPERIMENTS
>>> table = EXPERIMENTS["lsokl.table5"]
>>> cell = next(case for case in table.cases if case.name == "german/nogd")
>>> cell.published.value
30.4
"""

from __future__ import annotations

from onkel.experiments.entry import Case, Rows, Search
from onkel.experiments.experiment import PAPERS, Experiment
from onkel.experiments.published import Cell
from onkel.experiments.registry import EXPERIMENTS, find
from onkel.experiments.results import Result
from onkel.experiments.running.cache import Cache
from onkel.experiments.running.runner import run_cases

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
