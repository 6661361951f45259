"""A flag is True or False, however the module of the learner writes its annotations."""

# no "from __future__ import annotations": the annotations here are types, not texts

import pytest

from onkel.learners import FOGDClassifier
from onkel.learners.declaration import declared, param


@declared
class _Twice(FOGDClassifier):
    """A learner of a user's own."""

    twice: bool = param(default=False, doc="Learn every row twice.")


def test_a_flag_that_is_a_word_is_refused():
    with pytest.raises(ValueError, match="twice='no' must be True or False"):
        _Twice(twice="no").fit([[0.0], [1.0]], [0, 1])
    assert _Twice(twice=True).fit([[0.0], [1.0]], [0, 1]).n_rows_ == 2
