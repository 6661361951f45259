"""The table of algorithms, and learners by name; built in :mod:`onkel.learners.table`."""

from onkel.learners.table import ALGORITHMS, ALL_TASKS, DEFAULT, LINEAR, Algorithm, make

__all__ = ["ALGORITHMS", "ALL_TASKS", "DEFAULT", "LINEAR", "Algorithm", "make"]
