"""Events and answers as JSON: by msgspec where it is installed, which is many times as fast."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from onkel.errors import ModelFileError
from onkel.fields import Text

try:
    import msgspec

    _read: Callable[[bytes], Any] = msgspec.json.Decoder().decode
    _write: Callable[[object], bytes] = msgspec.json.Encoder().encode
    _encode: Callable[[object], bytes] = msgspec.json.Encoder(enc_hook=str).encode
except ImportError:
    _compact = json.JSONEncoder(separators=(",", ":"), default=str, allow_nan=False)

    _read = json.loads
    _write = _encode = lambda value: _compact.encode(value).encode()

# A value that has others; and how deep it may have them. Python's stack has room for a thousand.
_NESTED = {dict, list}
_DEEPEST = 100
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def decoded(text: bytes) -> Any:
    """What a text of JSON says; what `json` reads besides, such as NaN, is read, too.

    ValueError, which says where, if it is none.
    """
    try:
        return _read(text)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def require_flat(event: Mapping[str, object]) -> None:
    """ValueError for an event that has a value too deep to be written to a journal again."""
    if _NESTED.isdisjoint(map(type, event.values())):
        return
    for name, value in event.items():
        level = [value]
        for _ in range(_DEEPEST):
            nested = [own for own in level if isinstance(own, dict | list)]
            level = [v for own in nested for v in (own.values() if type(own) is dict else own)]
        if level:
            raise ValueError(f"{name!r}: a value is nested more than {_DEEPEST} levels deep")


def number_in(text: str) -> int | float | None:
    """The number that a text says; None if it is none, or not in ASCII digits alone."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


@contextmanager
def readable() -> Iterator[None]:
    """A ModelFileError where JSON that a file holds, or what it says, cannot be read."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelFileError(f"holds what cannot be read ({error!r})") from None


class ExactText(Text):
    """A value as the text that says all of it."""

    def saved(self, value: object) -> str:
        return exact(value)[0].decode()

    def loaded(self, value: str) -> Any:
        with readable():
            return decoded(value.encode())


def exact(value: object) -> tuple[bytes, Any]:
    """A text that says all of a value, also of NaN; and the value as the text will be read again.

    TypeError for a value that JSON cannot hold.
    """
    try:
        text = _write(value)
        again = _read(text)
        if again == value:
            return text, again
    except (TypeError, ValueError, RecursionError):
        pass  # json says of more values what they are, and what is wrong with others
    try:
        text = json.dumps(value, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"events must be as JSON has them: {error}") from None
    return text, json.loads(text)


def plain(value: object) -> bytes:
    """The same text of a value that JSON is known to hold, in less time."""
    try:
        return _write(value)
    except (TypeError, ValueError, OverflowError):
        return exact(value)[0]  # as of integers of more than 64 bits


def encoded(answer: object) -> bytes:
    """An answer as a line without its end; numbers that are not finite are null."""
    try:
        return _encode(answer)
    except (TypeError, ValueError):
        from onkel.evaluation.result import finite

        return json.dumps(finite(answer), default=str).encode()
