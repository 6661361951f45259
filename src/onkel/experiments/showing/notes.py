"""The text around tables: units, notes, failures, missing data, and counts of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from onkel.experiments.entry import METRICS
from onkel.experiments.results import Result


def notes(results: Iterable[Result]) -> list[str]:
    """What a reader has to know: notes of cells, runs that failed, data that are not here."""
    results = list(results)
    found = [f"{r.case.name}: {r.case.note}" for r in results if r.case.note and r.values]
    found += [f"{r.case.name}: {len(r.failures)} failed: {r.failures[0]}"
              for r in results if r.failures]  # fmt: skip
    return found + list(dict.fromkeys(f"Left out: {r.missing}" for r in results if r.missing))


def units(results: Iterable[Result]) -> str:
    """What the numbers are."""
    return "; ".join(dict.fromkeys(METRICS[result.case.quantity] for result in results))


def summary(results: Iterable[Result]) -> str:
    """How many cells have which verdict."""
    counts = Counter(r.verdict for r in results if r.verdict != "reference")
    return ", ".join(f"{word}: {n}" for word, n in counts.most_common())
