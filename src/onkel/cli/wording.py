"""Errors of options in plain words: the library that reads them speaks of inputs and parsing."""

from __future__ import annotations

import re

_WORDS = (
    (r"Input should be a valid integer.*", "must be a whole number."),
    (r"Input should be a valid number.*", "must be a number."),
    (r"Input should be greater than or equal to (\S+?)\.?$", r"must be at least \1."),
    (r"Input should be less than or equal to (\S+?)\.?$", r"must be at most \1."),
    (r"Input should be a valid boolean.*", "must be true or false."),
    (r"Input should be (.*)", r"must be \1"),
    (r"^Value error, ", ""),
)


def plainly(message: str) -> str:
    """The message in our words, not those of the library that found the error."""
    for theirs, ours in _WORDS:
        message = re.sub(theirs, ours, message)
    return message
