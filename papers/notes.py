"""What a reader has to know beside a table, in sentences that are computed from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from papers.results import Result
from papers.tables import SYMBOLS, mean_std


def notes(results: Iterable[Result]) -> list[str]:
    """What a reader has to know: notes of cells, runs that failed, data that are not here."""
    results = list(results)
    found = [f"{r.case.name}: {text}" for r in results if r.values
             for text in (r.case.note, off(r)) if text]  # fmt: skip
    edges = [f"{r.case.name}{'' if r.case.x is None else f', {r.case.x:g}'} "
             f"({', '.join(map(SYMBOLS.__getitem__, r.at_edge))})"
             for r in results if r.at_edge]  # fmt: skip
    found += [f"At an end of its grid: {'; '.join(edges)}."] if edges else []
    found += [f"{r.case.name}: {len(r.failures)} failed: {r.failures[0]}"
              for r in results if r.failures]  # fmt: skip
    return found + list(dict.fromkeys(f"Left out: {r.missing}" for r in results if r.missing))


def off(result: Result) -> str:
    """Of a cell that is not met: what its orders span, and whether cut digits explain it."""
    cell, metric = result.case.published, result.case.quantity
    if cell is None or result.verdict != "not met":
        return ""
    parts = []
    if result.if_cut != "not met":
        parts.append(f"If the printed digits are cut, not rounded, this is {result.if_cut}.")
    if min(result.values) <= cell.value <= max(result.values) and len(result.values) > 1:
        span = " to ".join(mean_std(f(result.values), None, metric) for f in (min, max))
        parts.append(f"The printed value is within the orders: {len(result.values)} of them "
                     f"give {span}.")  # fmt: skip
    return " ".join(parts)


def verdicts(results: Iterable[Result]) -> str:
    """How many cells have which verdict."""
    counts = Counter(r.verdict for r in results if r.verdict != "reference")
    return ", ".join(f"{word}: {n}" for word, n in counts.most_common())
