"""What a declaration gives: a constructor, a complete docstring, a row of the table."""

from __future__ import annotations

import inspect
import re

import pytest

from onkel import learners
from onkel.algorithms import ALGORITHMS, make
from onkel.learners.declaration import declared, param

ABSTRACT = ("OnlineEstimator", "OnlineClassifier", "OnlineRegressor")
PUBLIC = [getattr(learners, name) for name in learners.__all__ if name not in ABSTRACT]


@pytest.mark.parametrize("cls", PUBLIC)
def test_every_parameter_is_keyword_only_and_described_with_its_default(cls):
    signature = inspect.signature(cls)
    assert {p.kind for p in signature.parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    section = cls.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    described = dict(re.findall(r"^(\w+) : .*, default=(.+)$", section, re.MULTILINE))
    assert described.keys() == signature.parameters.keys()
    for name, parameter in signature.parameters.items():
        assert described[name].strip('"') == str(parameter.default)


@pytest.mark.parametrize("cls", PUBLIC)
def test_a_docstring_says_formula_use_attributes_errors_example_and_source(cls):
    titles = re.findall(r"^(\w+)\n-+$", cls.__doc__, re.MULTILINE)
    composition = cls.__module__ == "onkel.learners.compose"
    wanted = ["Parameters", "Attributes", "Raises", "Examples", "Notes"]
    assert titles == wanted[:-1] if composition else wanted
    assert "nbytes_ : int" in cls.__doc__
    assert (">>> print(" in cls.__doc__) or ("...     print(" in cls.__doc__)
    if cls.__name__.endswith("Classifier"):
        assert "Use it" in cls.__doc__
        assert "classes_ : ndarray" in cls.__doc__
    assert ("map_ : " in cls.__doc__) != ("support_vectors_ : " in cls.__doc__)


def test_every_public_learner_has_a_row():
    there = {cls for row in ALGORITHMS.values() for cls in (row.classifier, row.regressor)}
    assert there - {None} == {c for c in PUBLIC if c.__module__ != "onkel.learners.compose"}


def test_a_declaration_inherits_parameters_and_sections():
    @declared
    class Base:
        """A base.

        Notes
        -----
        Source: here.
        """

        a: int = param(default=1, doc="A number.")

    @declared
    class Child(Base):
        """A child."""

        a: int = 2
        b: str = param(default="x", kind='{"x", "y"}', doc="A letter.")

    assert Child(b="y").__dict__ == {"a": 2, "b": "y"}
    assert Child.__doc__.startswith("A child.\n\nParameters")
    assert 'a : int, default=2\n    A number.\nb : {"x", "y"}, default="x"\n    A letter.' in (
        Child.__doc__
    )
    assert Child.__doc__.endswith("Notes\n-----\nSource: here.\n")


def test_bases_that_disagree_on_a_default_are_refused():
    """A dataclass would take the first base's default, against Python's method order."""

    @declared
    class Base:
        a: int = param(default=1, doc="A number.")

    @declared
    class First(Base):
        pass

    @declared
    class Second(Base):
        a: int = 2

    with pytest.raises(TypeError, match="Both: a is not that of Second"):

        @declared
        class Both(First, Second):
            pass


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_adagrad_has_a_step_size(task):
    """It was an open composition, whose rule's parameters nothing could reach."""
    model = make("adagrad", task, learning_rate=0.3, alpha=0.01)
    assert (model.learning_rate, model.alpha) == (0.3, 0.01)
    rule = model._make_rule()
    assert (rule.learning_rate, rule.alpha) == (0.3, 0.01)
