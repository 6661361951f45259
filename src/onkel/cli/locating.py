"""Where an error is, as a person counts: lines of a file from 1, and rows from 1."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from onkel.errors import DataError


def located(error: Exception, sources: Sequence[str] = (), counted: str = "counted from 1") -> str:
    """What an error says; its row counted from 1, or as the line of a plain CSV file.

    ``sources``: files whose rows the error counts in their order, all of them; none if rows come in
    another order, or if some are left out. ``counted``: how rows are counted, in words.
    """
    if not isinstance(error, DataError) or error.row is None:
        return str(error)
    if known := re.match(r"(line \d+): ", error.message):
        message = error.message[known.end() :]
        return DataError(message, source=error.source, column=error.column).located(known[1])
    line = _line_of(Path(sources[0]), error.row) if len(sources) == 1 else None
    place = f"row {error.row + 1:,} ({counted})" if line is None else f"line {line}"
    return error.located(place)


def _line_of(path: Path, row: int) -> int | None:
    """The line on which row ``row`` (from 0) begins; None if it is unknown."""
    from onkel.learners.checking import cell_error

    if path.suffix.lower() not in (".csv", ".tsv") or not path.is_file():
        return None
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = next((record for record in reader if record), [])
            if header and all(cell_error(cell) is None for cell in header):
                return None  # no header: the row's number will do
            before, left = reader.line_num, row
            for record in reader:
                if record and not left:
                    return before + 1
                before, left = reader.line_num, left - bool(record)
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return None
