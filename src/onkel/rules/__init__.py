"""Rules: how f moves after a row."""

from onkel import tables
from onkel.rules.adagrad import AdaGrad
from onkel.rules.alma import Alma
from onkel.rules.base import Rule, RuleKind, vector
from onkel.rules.by_step import StepRule
from onkel.rules.doubly_stochastic import DoublyStochastic
from onkel.rules.gradient import Gradient
from onkel.rules.least_squares import LeastSquares
from onkel.rules.newton import LogisticNewton
from onkel.rules.norma import Norma
from onkel.rules.passive_aggressive import PassiveAggressive
from onkel.rules.pegasos import Pegasos
from onkel.rules.perceptron import Perceptron
from onkel.rules.projected import ProjectedGradient

__all__ = [
    "RULES",
    "AdaGrad",
    "Alma",
    "DoublyStochastic",
    "Gradient",
    "LeastSquares",
    "LogisticNewton",
    "Norma",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "ProjectedGradient",
    "Rule",
    "RuleKind",
    "StepRule",
    "make_rule",
    "register",
    "vector",
]

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        Gradient,
        ProjectedGradient,
        Norma,
        Pegasos,
        Perceptron,
        PassiveAggressive,
        Alma,
        AdaGrad,
        LeastSquares,
        LogisticNewton,
        DoublyStochastic,
    )
}


def make_rule(rule: str | Rule) -> Rule:
    """A rule object from a name or an object."""
    return tables.make("rule", rule, RULES, Rule)


def register(cls: type[Rule]) -> type[Rule]:
    """Add a rule of your own under its ``name``; may be used as a decorator.

    It can then be named wherever a rule can, and is saved and loaded with a model; register it
    before loading. See docs/extending.md.
    """
    return tables.add(cls, RULES, Rule)
