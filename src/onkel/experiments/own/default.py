"""The default learner on every data set that has a goal: one setting, one call.

What is measured is what ``onkel learn FILE --target y`` does: the default algorithm with nothing
set, every row predicted before it is learned. Only the task differs between data sets.
"""

from __future__ import annotations

from onkel import datasets
from onkel.algorithms import DEFAULT
from onkel.experiments.entry import Case
from onkel.experiments.experiment import Experiment
from onkel.experiments.own.goals import GOALS, Goal
from onkel.experiments.published import Cell


def case_of(goal: Goal) -> Case:
    """A row of the table. No parameter depends on the data set."""
    return Case(
        rows=goal.rows,
        algorithm=DEFAULT,
        parameters={},
        piped={},
        task=datasets.info(goal.dataset).task,
        metric=goal.metric,
        limit=goal.target,
        published=None if goal.published is None else Cell(goal.published),
        same_rows=False,
        n_runs=10,
        step="default",
        slow=1e-4,
    )


DEFAULT_TABLE = Experiment(
    "default", "onkel", "One setting for all data sets, against the papers and tuned rivals",
    "The default learner with nothing set: what 'onkel learn' does, in 10 random orders.",
    tuple(map(case_of, GOALS.values())), layout="goals",
)  # fmt: skip
