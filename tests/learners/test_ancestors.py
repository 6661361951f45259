"""Learners are flat: who reads one reads few classes."""

from __future__ import annotations

import pytest

from onkel import learners

MOST = 11


@pytest.mark.parametrize("name", learners.__all__)
def test_a_learner_has_few_ancestors(name):
    ancestors = getattr(learners, name).__mro__
    assert len(ancestors) <= MOST, [cls.__name__ for cls in ancestors]
