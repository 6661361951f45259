"""Rules: how f moves after a row."""

from onkel.rules.adaptive import AdaGrad
from onkel.rules.base import Rule, RuleKind
from onkel.rules.doubly_stochastic import DoublyStochastic
from onkel.rules.gradient import Gradient, Norma, Pegasos, Perceptron, ProjectedGradient
from onkel.rules.least_squares import LeastSquares
from onkel.rules.newton import LogisticNewton
from onkel.rules.passive_aggressive import PassiveAggressive

__all__ = [
    "RULES",
    "AdaGrad",
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
    "make_rule",
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
        AdaGrad,
        LeastSquares,
        LogisticNewton,
        DoublyStochastic,
    )
}


def make_rule(rule: str | Rule) -> Rule:
    """A rule object from a name or an object."""
    if isinstance(rule, Rule):
        return rule
    if rule not in RULES:
        raise ValueError(f"rule={rule!r} is not one of {', '.join(map(repr, RULES))}")
    return RULES[rule]()
