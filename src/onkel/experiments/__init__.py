"""The papers' experiments as data, and the runner that repeats them.

``python -m onkel.experiments`` runs all of them and prints a table; names or patterns choose some.

>>> from onkel.experiments import EXPERIMENTS
>>> entry = EXPERIMENTS["lsokl-5-german-nogd"]
>>> entry.reference, entry.published.value
('LSOKL Table 5', 30.4)
"""

from __future__ import annotations

from onkel.experiments.entry import PAPERS, Experiment
from onkel.experiments.published import Cell
from onkel.experiments.registry import EXPERIMENTS, find
from onkel.experiments.runner import Result, run
from onkel.experiments.search import Trial, search

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Cell",
    "Experiment",
    "Result",
    "Trial",
    "find",
    "run",
    "search",
]
