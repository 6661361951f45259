"""Long text: a code for each of its words, so that values that differ share what they say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from onkel.columns.categories import BUCKETS, Categories

MOST_WORDS = 64
"""Words of a value that have codes: its first ones, each of them once."""

_WORD = re.compile(r"\w+")


def words_of(value: str) -> list[str]:
    """The first different words of a value; case does not matter."""
    return list(dict.fromkeys(_WORD.findall(value.casefold())))[:MOST_WORDS]


def share_words(values: Sequence[str]) -> bool:
    """Whether most words in these different values stand in some of the others, but not in all.

    Sentences and lists do so; names and ids, whose parts are their own, do not.
    """
    held = Counter(word for value in values for word in words_of(value))
    shared = sum(n for n in held.values() if 1 < n < len(values))
    return shared > 0.5 * held.total()


class Words:
    """Codes of the words of a column's values, by their hashes. Code 0 stands for no word."""

    def __init__(self, column: str) -> None:
        self._codes = Categories(column, 0, BUCKETS - 1)

    def of(self, known: Sequence[str]) -> np.ndarray:
        """The codes of each value in ``known``, (n, MOST_WORDS)."""
        words = [words_of(value) for value in known]
        n_words = np.array([len(own) for own in words])
        codes = np.zeros((len(known), MOST_WORDS), dtype=np.int64)
        codes[np.arange(MOST_WORDS) < n_words[:, None]] = self._codes.of(
            [word for own in words for word in own]
        )
        return codes

    def codes(self, value: str) -> list[int]:
        """The codes of one value's words."""
        return [self._codes.code(word) for word in words_of(value)]
