"""Lines of JSON one by one: how many can be read, and what is wrong with the first that cannot."""

from __future__ import annotations

import json
import math

import pyarrow as pa

from onkel.columns.failures import A_FLAG, A_NUMBER, first_failure, misfit, shorten, succeeds
from onkel.columns.values import kind_of, parsed_times
from onkel.errors import DataError
from onkel.streams.json_parsing import Types, flattened, table_of
from onkel.streams.lines import Chunk

#: what Arrow raises for lines that it cannot read
ERRORS = (pa.ArrowException, UnicodeDecodeError)
_TIME = "a time (like 2024-05-17T12:30:00)"
_WORDS = {"number": A_NUMBER, "flag": A_FLAG, "text": "text", "time": _TIME}
_FITS = {"number": (int, float), "flag": (bool,), "text": (str,), "time": (str,)}

#: the number of a line in its file, and the line
Line = tuple[int, bytes]


def lines_of(chunk: Chunk) -> list[Line]:
    """Line number and text of the lines that are not blank."""
    lines = enumerate(flattened(chunk.data).split(b"\n"), chunk.line)
    return [(number, line) for number, line in lines if line.strip()]


def joined(lines: list[Line]) -> bytes:
    """The lines as they stand in a file."""
    return b"\n".join(line for _, line in lines)


def readable(lines: list[Line], types: Types, others: bool = False) -> int:
    """How many lines come before the first that Arrow cannot read."""

    def works(n: int) -> bool:
        return succeeds(lambda: table_of(joined(lines[:n]), types, others), *ERRORS)

    return len(lines) if works(len(lines)) else first_failure(len(lines), works)


def object_of(line: bytes) -> dict[str, object]:
    """A row as a dict; empty if it is not an object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def reason(number: int, line: bytes, row: int, types: Types) -> DataError:
    """The error of a row that Arrow refuses."""
    at, shown = f"line {number}: ", line.decode("utf-8", "replace")
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        return DataError(f"{at}{shorten(shown)} is not text in UTF-8", row=row, value=shown)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        why = f"{at}{shorten(shown)} is not a JSON object{_how_to_split(shown)}"
        return DataError(why, row=row, value=shown)
    for name, value in found.items():
        what = wrong_with(name, value, types.get(name))
        if what:
            column = name.encode("utf-8", "backslashreplace").decode()
            return DataError(at + what, row=row, column=column, value=value)
    try:
        table_of(line, types, others=not types)
        why = "it does not fit the rows before"
    except ERRORS as error:
        why = str(error).split(" in row ")[0]
    return DataError(f"{at}{shorten(shown)} cannot be read: {why}", row=row, value=shown)


def _how_to_split(line: str) -> str:
    """What to do with a file that is one array, or whose objects stand on several lines."""
    begins = line.lstrip()[:1]
    if begins == "[":
        return (
            "; JSON Lines has one object a line, and no array around them: "
            "jq -c '.[]' rows.json > rows.jsonl makes them"
        )
    if begins == "{" and not line.rstrip().endswith("}"):
        return "; JSON Lines has one object a line: jq -c . rows.json > rows.jsonl puts each on one"
    return ""


def wrong_with(name: str, value: object, t: pa.DataType | None) -> str:
    """What is wrong with a value; empty if it fits its type."""
    text = name + value if isinstance(value, str) else name
    if any("\ud800" <= c <= "\udfff" for c in text):
        what = "or its key holds half of a surrogate pair; write both halves, or neither"
        return f"{shorten(value)} {what}"
    if isinstance(value, float) and math.isinf(value):
        return f"{shorten(value)} is too large for a number"
    if value is None or t is None:
        return ""
    kind = kind_of(t) or ""
    fits = isinstance(value, _FITS[kind]) and isinstance(value, bool) == (kind == "flag")
    if kind == "time" and fits:
        try:
            parsed_times(pa.array([value]), t)
        except pa.ArrowException:
            fits = False
    return "" if fits else misfit(value, _WORDS[kind])
