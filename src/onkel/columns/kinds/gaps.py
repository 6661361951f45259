"""Texts that mean a missing value in the cells of a table."""

from __future__ import annotations

GAPS = frozenset(
    (
        "", "?", "-", "--", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL",
        "Null", "null", "(null)", "None", "none", "NaN", "-NaN", "nan", "-nan", "NaT", r"\N",
        "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    )
)  # fmt: skip
