"""The learner of a case: one of onkel's, or one that the papers compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onkel import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.algorithms import make
from onkel.experiments.entry import Case
from onkel.maps import AdaptiveNystroem, NystroemFeatures
from onkel.maps.online_kmeans import Panel
from onkel.rules import Gradient


def _svc(seed: int, **parameters: Any) -> Any:
    """LIBSVM is scikit-learn's SVC."""
    from sklearn.svm import SVC

    return SVC(cache_size=500, **parameters)


def _llsvm(seed: int, *, gamma: float, n_components: int, C: float) -> Any:
    """Low-rank linearisation: Nyström features and a linear SVM."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    nystroem = Nystroem(gamma=gamma, n_components=n_components, random_state=seed)
    return make_pipeline(nystroem, LinearSVC(C=C))


class _LosingPanel(Panel):
    """Landmarks move, but the weights stay as they were."""

    def move(self) -> None:
        super().move()


class _LosingMap(AdaptiveNystroem):
    """Without the second stage of NOLANA (equation 12)."""

    def panel(self, X: Any, weight: Any) -> Panel:
        return _LosingPanel(self, X, weight)


def _gradient_over(map_class: Any) -> Callable[..., Any]:
    """Gradient steps over the features of a map."""

    def made(
        seed: int, *, loss: str, learning_rate: float, schedule: Any = "constant", **of_map: Any
    ) -> Any:
        cls = ExplicitKernelRegressor if loss == "squared" else ExplicitKernelClassifier
        return cls(map=map_class(**of_map), rule=Gradient(learning_rate, schedule), loss=loss)

    return made


#: learners that are not in onkel.algorithms, made with (seed, **parameters)
OTHERS: dict[str, Callable[..., Any]] = {
    "svc": _svc,
    "llsvm": _llsvm,
    "nystroem": _gradient_over(NystroemFeatures),
    "nolana-losing": _gradient_over(_LosingMap),
}
#: those of them that learn all rows at once
BATCH = ("svc", "llsvm")
#: learners whose landmarks move
MOVING = ("nolana", "nolana-losing")


def new_learner(case: Case, seed: int) -> Any:
    """A fresh learner of a case."""
    if case.made_by in OTHERS:
        return OTHERS[case.made_by](seed, **case.parameters)
    task = "regression" if case.task == "regression" else "classification"
    learner = make(case.made_by, task, **case.parameters)
    if "random_state" in learner.get_params(deep=False):
        learner.set_params(random_state=seed)
    return learner
