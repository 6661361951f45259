"""Lu et al. 2016 (LSOKL), Figures 1 to 6: curves of Tables 7 and 9, p_f and p_n, the budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from papers import lsokl
from papers.cases import Case, Experiment, Picture

# the values that the authors' scripts sweep
_FOURIER = (1, 2, 3, 4, 5, 6, 8, 10)
_RANKS = (0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_BUDGETS = (50, 100, 200, 300, 400, 500)
_SEVERAL = ("dna", "satimage", "usps", "letter")
_SWEPT = {"german": 5, "spambase": 5, "dna": 7, "satimage": 7}
_OF_BUDGET = ("rbp", "forgetron", "projectron", "projectron++", "bpa-s", "bogd", "fogd", "nogd")
_N_RUNS = 5


def _of_table(number: int) -> tuple[Case, ...]:
    (table,) = (e for e in lsokl.EXPERIMENTS if e.name == f"lsokl.table{number}")
    return tuple(case for case in table.cases if case.algorithm != "pa")


def _point(table: int, dataset: str, algorithm: str, budget: int, **more: float) -> Case:
    """A learner of a table with another budget, and with η per frequency as it was."""
    parameters = {**lsokl.classifiers(table, dataset, budget)[algorithm], **more}
    case = lsokl.case_of(table, dataset, algorithm, parameters, "authors")
    return replace(case, published=None, search=None, here=False, n_runs=_N_RUNS, note="")


def _sensitivity() -> Iterator[Case]:
    for dataset in _SEVERAL:
        budget = 200
        eta = lsokl.classifiers(7, dataset, budget)["fogd"]["learning_rate"] / (4 * budget)
        for p in _FOURIER:
            D = p * budget
            case = _point(7, dataset, "fogd", budget, n_components=D, learning_rate=eta * D)
            yield replace(case, x=float(p), panel=f"{dataset}, p_f")
        for share in _RANKS:
            case = _point(7, dataset, "nogd", budget, rank=round(share * budget))
            yield replace(case, x=share, panel=f"{dataset}, p_n")


def _budgets() -> Iterator[Case]:
    for dataset, table in _SWEPT.items():
        for algorithm in _OF_BUDGET:
            for budget in _BUDGETS:
                yield replace(_point(table, dataset, algorithm, budget), x=float(budget))


def _curves(number: int, table: int, title: str, picture: Picture) -> Experiment:
    protocol = f"The runs of lsokl.table{table}, as the rows come; means over the orders."
    return Experiment(
        f"lsokl.figure{number}", "lsokl", title, protocol, _of_table(table), (picture,)
    )


_MISTAKES = Picture("rows", "value", "rows", "mistakes so far, %")
_SQUARES = Picture("rows", "value", "rows", "mean squared error so far")
_SECONDS = Picture("rows", "seconds", "rows", "seconds", log_y=True)


EXPERIMENTS = (
    _curves(1, 7, "Several classes: mistakes as rows come", _MISTAKES),
    _curves(2, 7, "Several classes: time as rows come", _SECONDS),
    Experiment(
        "lsokl.figure3", "lsokl", "Effect of p_f (frequencies D = p_f B) and p_n (rank k = p_n B)",
        f"B = 200, else as Table 7; {_N_RUNS} orders. η per frequency stays as it is for p_f = 4.",
        tuple(_sensitivity()),
        (Picture("x", "value", "p", "mistakes, %"), Picture("x", "seconds", "p", "seconds")),
    ),
    Experiment(
        "lsokl.figure4", "lsokl", "Effect of the budget B",
        f"Two sets of two classes, two of several, else as Tables 5 and 7; {_N_RUNS} orders. The "
        "paper doesn't say which sets.", tuple(_budgets()),
        (Picture("x", "value", "B", "mistakes, %"),
         Picture("x", "seconds", "B", "seconds", log_y=True)),
    ),
    _curves(5, 9, "Regression: squared error as rows come", _SQUARES),
    _curves(6, 9, "Regression: time as rows come", _SECONDS),
)  # fmt: skip
