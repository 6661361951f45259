"""Several learners over the same rows in the same orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onkel.cli.values import close, make_estimator
from onkel.errors import DataError
from onkel.evaluation.prequential import prequential
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.result import PrequentialResult
from onkel.pipeline import StreamModel

__all__ = ["Contest", "linear_names", "params_by_algorithm"]


@dataclass
class Contest:
    """What is compared, and how every model is made.

    Attributes
    ----------
    algorithms : sequence of str
        Names.
    task : {"classification", "regression"}
        Task.
    params : dict of str to dict
        Parameters by algorithm.
    scaling : str
        Of the features.
    seed : int
        Run r has the seed ``seed + r``: its order of rows, and its random features.
    encoder : Encoder, optional
        Kept in the models.
    models : dict
        The model of each algorithm's last run.
    """

    algorithms: Sequence[str]
    task: str
    params: dict[str, dict[str, Any]]
    scaling: str = "auto"
    seed: int = 0
    encoder: Any = None
    models: dict[str, StreamModel] = field(default_factory=dict)

    def play(
        self,
        rows: Callable[[int], Iterable[Any]],
        console: Any,
        *,
        runs: int,
        total: int | None = None,
        limit: int | None = None,
    ) -> list[PrequentialResult]:
        """Run every algorithm over every order of the rows; the results, algorithm by algorithm.

        Parameters
        ----------
        rows : callable
            Seed of a run -> its blocks. Called anew for every algorithm: same seed, same blocks.
        console : rich.console.Console
            For the bar.
        runs : int
            Number of orders.
        total, limit : int, optional
            Rows of a run if known, and at most.
        """
        results = []
        for name in self.algorithms:
            for r in range(runs):
                title = name if runs == 1 else f"{name} {r + 1}/{runs}"
                with RunProgress(console, title, total=total, table=False) as progress:
                    model = self.model(name, self.seed + r)
                    try:
                        result = prequential(
                            model,
                            rows(self.seed + r),
                            name=name,
                            limit=limit,
                            progress=progress,
                            settings=_parameters(model.estimator),
                        )
                    except DataError as error:
                        raise DataError(f"{name}: {error}") from error
                    results.append(result)
                self.models[name] = model
        return results

    def model(self, name: str, seed: int) -> StreamModel:
        """A new model of one algorithm."""
        return StreamModel(
            make_estimator(name, self.task, self.params.get(name, {}), seed),
            scaling=self.scaling,
            encoder=self.encoder,
        )


def _parameters(estimator: Any) -> dict[str, Any]:
    """Parameters that are the same in all runs."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in params.items() if name != "random_state"}


def linear_names() -> set[str]:
    """Names of the algorithms that learn a linear function of the inputs."""
    from onkel.algorithms import ALGORITHMS

    return {a.name for a in ALGORITHMS.values() if a.linear}


def params_by_algorithm(
    given: dict[str, Any], algorithms: Sequence[str], task: str
) -> dict[str, dict[str, Any]]:
    """Parameters by algorithm: ``fogd.gamma`` goes to fogd, ``gamma`` to all that have one.

    Raises
    ------
    ValueError
        If nobody takes a parameter.
    """
    known = {name: make_estimator(name, task, {}).get_params(deep=False) for name in algorithms}
    params: dict[str, dict[str, Any]] = {name: {} for name in algorithms}
    for key, value in given.items():
        owner, dot, name = key.rpartition(".")
        if dot and owner not in known:
            raise ValueError(
                f"--set {key}: {owner!r} is not compared{close(owner, list(algorithms))}"
            )
        takers = [a for a in ([owner] if dot else algorithms) if name in known[a]]
        if not takers:
            choices = sorted({p for a in ([owner] if dot else algorithms) for p in known[a]})
            raise ValueError(f"--set {key}: no such parameter{close(name, choices)}")
        for taker in takers:
            params[taker][name] = value
    return params
