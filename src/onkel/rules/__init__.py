"""Rules: how f moves after a row."""

from onkel.rules.adagrad import AdaGrad
from onkel.rules.alma import Alma
from onkel.rules.base import Rule
from onkel.rules.base import RuleKind as RuleKind
from onkel.rules.base import vector as vector
from onkel.rules.by_step import StepRule as StepRule
from onkel.rules.doubly_stochastic import DoublyStochastic
from onkel.rules.gradient import Gradient
from onkel.rules.least_squares import LeastSquares
from onkel.rules.newton import LogisticNewton
from onkel.rules.norma import Norma
from onkel.rules.passive_aggressive import PassiveAggressive
from onkel.rules.pegasos import Pegasos
from onkel.rules.perceptron import Perceptron
from onkel.rules.projected import ProjectedGradient
from onkel.tables import Table

RULES: Table[Rule] = Table(
    "rule",
    Rule,
    (
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
    ),
)
make_rule = RULES.make
register = RULES.register
