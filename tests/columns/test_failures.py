"""What errors about single values say."""

from __future__ import annotations

import pytest

from onkel.columns.failures import A_NUMBER, misfit


@pytest.mark.parametrize(
    ("value", "hints"),
    [
        ("98115-4820", ["--categorical"]),
        ("other", ["--na-values 'other'", "--categorical"]),
        ("1,5", []),
        ("a text of more than twenty letters", []),
    ],
)
def test_text_among_numbers_names_the_option_that_takes_it(value, hints):
    message = misfit(value, A_NUMBER)
    assert [hint for hint in ("--na-values 'other'", "--categorical") if hint in message] == hints
