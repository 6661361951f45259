"""Rules: how f moves after a row."""

from collections.abc import Callable

from onkel.rules.adagrad import AdaGrad
from onkel.rules.base import Rule
from onkel.rules.base import RuleKind as RuleKind
from onkel.rules.base import vector as vector
from onkel.rules.by_step import Alma
from onkel.rules.by_step import StepRule as StepRule
from onkel.rules.doubly_stochastic import DoublyStochastic
from onkel.rules.gradient import Gradient, Pegasos, Perceptron, ProjectedGradient
from onkel.rules.norma import Norma
from onkel.rules.passive_aggressive import PassiveAggressive
from onkel.rules.second_order import LeastSquares, LogisticNewton
from onkel.tables import Table

RULES: Table[Rule] = Table("rule", Rule, globals())
make_rule: Callable[[str | Rule], Rule] = RULES.make
register: Callable[[type[Rule]], type[Rule]] = RULES.register
