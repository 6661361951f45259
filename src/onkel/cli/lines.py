"""Line numbers as in an editor: from 1, counting the header and line ends within quotes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from onkel.errors import DataError


def with_line(error: DataError, stream: Any) -> str:
    """The error, with the line of its row if the source is one plain CSV file.

    ``row`` does not count rows that the stream left out: then no line is given.
    """
    text = str(error)
    path = Path(str(error.source or ""))
    plain = path.suffix.lower() in (".csv", ".tsv") and path.is_file()
    if error.row is None or not plain or "line " in error.message or stream.n_unlabelled:
        return text
    line = _line_of(path, error.row)
    return text if line is None else text.replace(f"row {error.row}", f"line {line}", 1)


def _line_of(path: Path, row: int) -> int | None:
    """The line on which row ``row`` (from 0) begins; None if it is unknown."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = next((record for record in reader if record), [])
            if header and all(map(_is_number, header)):
                return None  # no header: the row's number will do
            before, left = reader.line_num, row
            for record in reader:
                if record and not left:
                    return before + 1
                before, left = reader.line_num, left - bool(record)
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
