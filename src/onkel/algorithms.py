"""The table of algorithms: what each is made of and where it comes from.

The command line, the docs and the generic tests read it. A new algorithm is one row here and one
class on its axis.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ALGORITHMS", "DEFAULT", "LINEAR", "Algorithm", "make"]

ALL_TASKS = ("binary", "multiclass", "regression")
_TASKS = ("classification", *ALL_TASKS)


@dataclass(frozen=True)
class Algorithm:
    """One named point of the grid loss × rule × representation × map or budget.

    ``classifier`` and ``regressor`` name classes of :mod:`onkel.estimators`; ``params`` are what
    the name fixes on them.
    """

    name: str
    title: str
    loss: str
    rule: str
    representation: str
    finite: str
    paper: str
    reference: str
    classifier: str
    regressor: str
    tasks: tuple[str, ...] = ALL_TASKS
    params: dict[str, Any] = field(default_factory=dict)

    def estimator(self, task: str) -> type:
        """The estimator class for a task ("classification" and "regression" are tasks too)."""
        name = self.regressor if task == "regression" else self.classifier
        if not name:
            raise ValueError(f"{self.name} does not learn {task}, but {', '.join(self.tasks)}")
        return getattr(importlib.import_module("onkel.estimators"), name)  # type: ignore[no-any-return]

    @property
    def linear(self) -> bool:
        """True for learners linear in the inputs."""
        return self.finite == "identity"


_ROWS = (
    Algorithm(
        "okl", "online kernel learner: landmarks, widths and penalty learned",
        "squared", "least squares", "explicit", "learned landmarks",
        "Engel et al. 2004", "with landmarks as Snelson & Ghahramani 2006",
        "OnlineKernelClassifier", "OnlineKernelRegressor",
    ),
    Algorithm(
        "fogd", "Fourier online gradient descent",
        "any", "gradient", "explicit", "random Fourier",
        "Lu et al. 2016", "Algorithms 1, 3, 5", "FOGDClassifier", "FOGDRegressor",
    ),
    Algorithm(
        "nogd", "Nyström online gradient descent",
        "any", "gradient", "explicit", "Nyström (first support vectors)",
        "Lu et al. 2016", "Algorithms 2, 4, 6", "NOGDClassifier", "NOGDRegressor",
    ),
    Algorithm(
        "nolana", "adaptive Nyström gradient descent",
        "any", "gradient", "explicit", "Nyström (landmarks that move)",
        "Si et al. 2018", "Algorithm 2", "NOLANAClassifier", "NOLANARegressor",
    ),
    Algorithm(
        "rrf", "reparameterized random features",
        "any", "gradient", "explicit", "reparameterized",
        "Nguyen et al. 2017", "Algorithm 1", "RRFClassifier", "RRFRegressor",
    ),
    Algorithm(
        "rrf-d", "RRF with widths for every frequency",
        "any", "gradient", "explicit", "reparameterized (each frequency)",
        "Nguyen et al. 2017", "section 3.2", "RRFClassifier", "RRFRegressor",
        params={"law": "frequency"},
    ),
    Algorithm(
        "rrf-sm", "RRF of a spectral mixture kernel",
        "any", "gradient", "explicit", "reparameterized (spectral mixture)",
        "Wilson & Adams 2013", "eq. 12, learned as in RRF", "RRFClassifier", "RRFRegressor",
        params={"law": "mixture"},
    ),
    Algorithm(
        "aligned", "aligned random features",
        "any", "gradient", "explicit", "aligned random Fourier",
        "Sinha & Duchi 2016", "eq. 4, online", "AlignedClassifier", "AlignedRegressor",
    ),
    Algorithm(
        "krls", "kernel recursive least squares",
        "squared", "least squares", "explicit", "Nyström (first rows)",
        "Engel et al. 2004", "over Nyström features", "KernelRLSClassifier", "KernelRLSRegressor",
    ),
    Algorithm(
        "pa", "linear passive-aggressive",
        "hinge, ε-insensitive", "passive-aggressive", "explicit", "identity",
        "Crammer et al. 2006", "Figure 1, sections 5, 8", "PAClassifier", "PARegressor",
    ),
    Algorithm(
        "adagrad", "linear adaptive gradient",
        "any", "adaptive", "explicit", "identity",
        "Duchi et al. 2011", "Figure 1, diagonal",
        "ExplicitKernelClassifier", "ExplicitKernelRegressor",
        params={"map": "identity", "rule": "adagrad"},
    ),
    Algorithm(
        "perceptron", "kernel perceptron",
        "perceptron, ε-insensitive", "perceptron", "support set", "none",
        "Freund & Schapire 1999", "section 3",
        "KernelPerceptronClassifier", "KernelPerceptronRegressor",
    ),
    Algorithm(
        "ogd", "kernel online gradient descent",
        "any", "gradient", "support set", "none",
        "Kivinen et al. 2001", "section 3", "OGDClassifier", "OGDRegressor",
    ),
    Algorithm(
        "norma", "truncated gradient descent, adaptive margin",
        "hinge, ε-insensitive", "NORMA", "support set", "drop the oldest",
        "Kivinen et al. 2004", "section III", "NORMAClassifier", "NORMARegressor",
    ),
    Algorithm(
        "olk", "projected online learning with kernels",
        "any", "projected gradient", "support set", "none",
        "He & Kwok 2014", "Algorithm 1", "OLKClassifier", "OLKRegressor",
    ),
    Algorithm(
        "olk-growing", "OLK with stochastic insertion",
        "any", "projected gradient", "support set", "stochastic insertion",
        "He & Kwok 2014", "first strategy", "OLKGrowingClassifier", "OLKGrowingRegressor",
    ),
    Algorithm(
        "olk-fixed", "OLK with a fixed budget",
        "any", "projected gradient", "support set", "unbiased random removal",
        "He & Kwok 2014", "second strategy", "OLKFixedClassifier", "OLKFixedRegressor",
    ),
    Algorithm(
        "budget-perceptron", "budget perceptron",
        "perceptron, ε-insensitive", "perceptron", "support set", "drop the most redundant",
        "Crammer et al. 2003", "Figure 2",
        "BudgetPerceptronClassifier", "BudgetPerceptronRegressor",
    ),
    Algorithm(
        "rbp", "randomised budget perceptron",
        "perceptron, ε-insensitive", "perceptron", "support set", "drop at random",
        "Cavallanti et al. 2007", "Figure 3", "RBPClassifier", "RBPRegressor",
    ),
    Algorithm(
        "forgetron", "Forgetron",
        "perceptron, ε-insensitive", "perceptron", "support set", "shrink, drop the oldest",
        "Dekel et al. 2008", "sections 4, 5", "ForgetronClassifier", "ForgetronRegressor",
    ),
    Algorithm(
        "projectron", "Projectron",
        "perceptron, ε-insensitive", "perceptron", "support set", "project onto the span",
        "Orabona et al. 2009", "Projectron", "ProjectronClassifier", "ProjectronRegressor",
    ),
    Algorithm(
        "projectron++", "Projectron with margin updates",
        "perceptron, hinge", "perceptron", "support set", "project onto the span",
        "Orabona et al. 2009", "Projectron++", "ProjectronPPClassifier", "",
        tasks=("binary", "multiclass"),
    ),
    Algorithm(
        "bogd", "bounded online gradient descent",
        "any", "gradient", "support set", "bounded random removal",
        "Zhao et al. 2012", "Algorithms 1, 2", "BOGDClassifier", "BOGDRegressor",
    ),
    Algorithm(
        "bpa-s", "budgeted passive-aggressive, simple",
        "hinge, ε-insensitive", "passive-aggressive", "support set", "replace one",
        "Wang & Vucetic 2010", "BPA-S", "BPASClassifier", "BPASRegressor",
    ),
    Algorithm(
        "bpa-p", "budgeted passive-aggressive, projecting",
        "hinge, ε-insensitive", "passive-aggressive", "support set", "project onto the others",
        "Wang & Vucetic 2010", "BPA-P", "BPAPClassifier", "BPAPRegressor",
    ),
    Algorithm(
        "bpa-nn", "budgeted passive-aggressive, nearest neighbour",
        "hinge, ε-insensitive", "passive-aggressive", "support set", "project onto the neighbour",
        "Wang & Vucetic 2010", "BPA-NN", "BPANNClassifier", "BPANNRegressor",
    ),
    Algorithm(
        "bsgd-p", "budgeted Pegasos, projecting",
        "any", "Pegasos", "support set", "project the smallest",
        "Wang et al. 2012", "BSGD, projection", "BSGDPClassifier", "BSGDPRegressor",
    ),
    Algorithm(
        "bsgd-r", "budgeted Pegasos, removing",
        "any", "Pegasos", "support set", "drop the smallest",
        "Wang et al. 2012", "BSGD, removal", "BSGDRClassifier", "BSGDRRegressor",
    ),
    Algorithm(
        "bsgd-m", "budgeted Pegasos, merging",
        "any", "Pegasos", "support set", "merge two",
        "Wang et al. 2012", "BSGD, merging", "BSGDMClassifier", "BSGDMRegressor",
    ),
    Algorithm(
        "dualsgd", "kernel gradient descent in two spaces",
        "any", "Pegasos", "support set", "transfer to Fourier features",
        "Le et al. 2016", "Algorithms 1, 2", "DualSGDClassifier", "DualSGDRegressor",
    ),
    Algorithm(
        "tvm", "twin vector machine",
        "hinge", "SVM kept optimal", "support set", "merge two of one class",
        "Wang & Vucetic 2009", "after its abstract", "TVMClassifier", "",
        tasks=("binary", "multiclass"),
    ),
    Algorithm(
        "fastfood", "gradient descent over Fastfood features",
        "any", "gradient", "explicit", "Fastfood",
        "Le et al. 2013", "the product V", "FastfoodClassifier", "FastfoodRegressor",
    ),
    Algorithm(
        "orf", "gradient descent over orthogonal random features",
        "any", "gradient", "explicit", "orthogonal random Fourier",
        "Yu et al. 2016", "the product S Q", "FOGDClassifier", "FOGDRegressor",
        params={"orthogonal": True},
    ),
    Algorithm(
        "doubly-sgd", "doubly stochastic gradient descent",
        "any", "doubly stochastic", "explicit", "random Fourier (regenerated)",
        "Dai et al. 2014", "Algorithms 1, 2", "DoublySGDClassifier", "DoublySGDRegressor",
    ),
)  # fmt: skip

ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}

#: what the command line uses where nothing is said
DEFAULT = "okl"
#: the linear row that every comparison has
LINEAR = "pa"


def make(name: str, task: str = "classification", **params: Any) -> Any:
    """An estimator of the algorithm ``name`` for ``task``.

    Parameters
    ----------
    name : str
        A name of :data:`ALGORITHMS`.
    task : {"classification", "binary", "multiclass", "regression"}, default="classification"
    **params
        Parameters of the estimator.

    Raises
    ------
    ValueError
        Unknown name, task or parameter; the message lists what there is.

    Examples
    --------
    >>> from onkel import make
    >>> make("fogd", n_components=50)
    FOGDClassifier(n_components=50)
    """
    if name not in ALGORITHMS:
        close = difflib.get_close_matches(str(name), ALGORITHMS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"algorithm {name!r} is not one of {', '.join(ALGORITHMS)}{hint}")
    if task not in _TASKS:
        raise ValueError(f"task={task!r} must be one of {', '.join(map(repr, _TASKS))}")
    row = ALGORITHMS[name]
    cls = row.estimator(task)
    allowed = cls._get_param_names()  # type: ignore[attr-defined]
    for key in params:
        if key.split("__")[0] not in allowed:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(allowed)}")
    return cls(**row.params).set_params(**params)
