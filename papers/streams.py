"""Streams in the order of time: the default beside its rivals and River's forests.

All see the same rows. River's forests run with ten trees and their own defaults behind River's
StandardScaler: on the rows as they are, and with the last three targets and two exponential means
as further columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from onkel import DataError, StreamModel, make
from onkel.streams import Block
from papers.cases import Case, Experiment, Rows
from papers.published import Cell
from papers.results import Result
from papers.rows import StreamFile, load_rows
from papers.tables import Content, Layout, Line


class Published(NamedTuple):
    """Mistakes in percent, or root mean squared error, of the whole stream; and whose it is."""

    value: float
    source: str


_DETECTORS = "DFKI-NI/unsupervised-concept-drift-detection, best of seven tuned detectors, "
_SGBR = "nuwangunasekara/SGBR, five seeds, "

PUBLISHED = {
    "insects_gradual": Published(28.85, _DETECTORS + "naive Bayes"),
    "outdoor": Published(18.03, _DETECTORS + "Hoeffding tree"),
    "powersupply": Published(82.07, _DETECTORS + "Hoeffding tree"),
    "electricity8": Published(9.36, "River's benchmarks, ALMA"),
    "bike": Published(47.3, _SGBR + "SGB(Oza)"),
    "metro_traffic": Published(1385.0, _SGBR + "SGB(ARF)"),
}


_TREES = 10
_LAGS = 3
_KEPT = (0.8, 0.99)
# seconds per row of ten trees
_FOREST = 2e-3

#: predictions of every row of (X, y) before it is learned, with a seed
Pass = Callable[[np.ndarray, np.ndarray, str, int], np.ndarray]


@dataclass(frozen=True)
class Learner:
    """A column of the table."""

    name: str
    run: Pass
    #: whether it draws random numbers
    random: bool = False
    #: seconds per row, about
    slow: float = 1e-4


def _last(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
    """The target of the row before; for the first row its own, as there is none before."""
    return np.concatenate([y[:1], y[:-1]])


def _own(name: str, **params: Any) -> Pass:
    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
        estimator = make(name, task, **params)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=seed)
        return StreamModel(estimator).learn(Block(X, y, 0))

    return run


def with_lags(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X with the last three targets and two exponential means, as known before each row."""
    y = y.astype(np.float64)
    past = np.zeros((len(y), _LAGS + len(_KEPT)))
    for lag in range(1, _LAGS + 1):
        past[lag:, lag - 1] = y[:-lag]
    for j, kept in enumerate(_KEPT, _LAGS):
        level = 0.0
        for t in range(len(y)):
            past[t, j] = level
            level = kept * level + (1.0 - kept) * y[t]
    return np.hstack([X, past])


def _forest(name: str, lags: bool) -> Pass:
    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
        model, first = _river(name, task, seed)
        names = [f"x{j}" for j in range(X.shape[1] + lags * (_LAGS + len(_KEPT)))]
        predictions = []
        for row, target in zip((with_lags(X, y) if lags else X).tolist(), y.tolist(), strict=True):
            x = dict(zip(names, row, strict=True))
            predicted = model.predict_one(x)
            predictions.append(first if predicted is None else predicted)
            model.learn_one(x, target)
        return np.array(predictions)

    return run


def _river(name: str, task: str, seed: int) -> tuple[Any, Any]:
    """River's forest, and a stand-in for its prediction before the first row."""
    try:
        from river import forest, preprocessing
    except ImportError as error:
        raise DataError(
            "River's forests need River: pip install onkel[river], or leave them out with "
            "--learners default,fast,rrf,krls,last"
        ) from error
    classes = {
        ("arf", "classification"): forest.ARFClassifier,
        ("arf", "regression"): forest.ARFRegressor,
        ("amf", "classification"): forest.AMFClassifier,
        ("amf", "regression"): forest.AMFRegressor,
    }
    number = {"n_models": _TREES} if name == "arf" else {"n_estimators": _TREES}
    # ARF's regression leaves are linear, and diverge on columns of large numbers
    model = preprocessing.StandardScaler() | classes[name, task](**number, seed=seed)
    return model, 0.0 if task == "regression" else -1


_ALL = (
    Learner("default", _own("okl"), random=True),
    Learner("fast", _own("okl", speed="fast")),
    Learner("rrf", _own("rrf"), random=True),
    Learner("krls", _own("krls")),
    Learner("last", _last),
    Learner("arf", _forest("arf", lags=False), random=True, slow=_FOREST),
    Learner("arf-lags", _forest("arf", lags=True), random=True, slow=_FOREST),
    Learner("amf", _forest("amf", lags=False), random=True, slow=_FOREST),
    Learner("amf-lags", _forest("amf", lags=True), random=True, slow=_FOREST),
)
LEARNERS = {learner.name: learner for learner in _ALL}


def find_learners(names: str | None) -> list[Learner]:
    """Learners by names separated by commas; all if None."""
    if names is None:
        return list(_ALL)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    for name in asked:
        if name not in LEARNERS:
            raise ValueError(f"--learners {name}: must be among {', '.join(LEARNERS)}")
    return [LEARNERS[name] for name in asked]


def in_order(case: Case, run: int) -> dict[str, Any]:
    """Mistakes in percent, or root mean squared error; the run's number is the seed.

    The first row, about which nothing can be known, isn't scored. Seconds are processor time.
    """
    X, y, whole = load_rows(case.rows)
    task = "regression" if case.task == "regression" else "classification"
    began = time.process_time()
    predictions = LEARNERS[case.made_by].run(X, y, task, run)[1:]
    seconds = time.process_time() - began
    if task == "classification":
        value = 100.0 * float(np.mean(predictions != y[1:]))
    else:
        value = float(np.sqrt(np.mean((predictions - y[1:]) ** 2)))
    return {"value": value, "seconds": seconds, "rows": len(y), "comparable": whole}


#: without a folder it has no cases
STREAMS = Experiment(
    "streams", "onkel", "Streams in the order of time, beside River's forests",
    "Every row predicted before it is learned; mistakes in percent or root mean squared error, of "
    "all rows but the first.",
    layout="streams",
)  # fmt: skip


def experiment(
    streams: Sequence[StreamFile], learners: Sequence[Learner], n_runs: int, rows: int | None
) -> Experiment:
    """Learners on streams; those that draw random numbers with ``n_runs`` seeds."""
    cases = [_case(at, learner, n_runs, rows) for at in streams for learner in learners]
    return replace(STREAMS, cases=tuple(cases))


def _case(stream: StreamFile, learner: Learner, n_runs: int, rows: int | None) -> Case:
    printed = PUBLISHED.get(stream.name)
    classes = stream.task == "classification"
    return Case(
        rows=Rows("", file=str(stream.path.resolve()), n_first=rows),
        algorithm=learner.name,
        parameters={},
        task="multiclass" if classes else "regression",
        metric="mistakes" if classes else "rmse",
        measure="in order",
        published=None if printed is None else Cell(printed.value),
        n_runs=n_runs if learner.random else 1,
        step="default",
        panel=stream.name,
        slow=learner.slow,
    )


_STREAM = ("stream", "rows", "published")
_Runs = dict[str, Result]


def content(results: Sequence[Result]) -> Content:
    """One line per stream; the least error is marked."""
    names = list(dict.fromkeys(result.case.algorithm for result in results))
    lines = []
    for stream, runs in _by_stream(results).items():
        one = next(iter(runs.values()))
        printed, n_rows = one.case.published, max(run.n_rows for run in runs.values())
        cells = [stream, f"{n_rows:,}", "" if printed is None else f"{printed.value:.4g}"]
        least = min((run.mean for run in runs.values() if run.values), default=None)
        marks = {
            i: "best" for i, name in enumerate(names, len(_STREAM))
            if runs[name].values and runs[name].mean == least
        }  # fmt: skip
        lines.append(Line([*cells, *(_cell(runs[name]) for name in names)], marks))  # type: ignore[arg-type]
    return Content((*_STREAM, *names), lines, _STREAM[:1])


def summary(results: Sequence[Result]) -> str:
    """What the numbers are, and where the default stands."""
    runs = max((len(r.values) for r in results), default=1)
    seeds = f", mean ± standard deviation of {runs} seeds where something is random" * (runs > 1)
    parts = [
        "Mistakes in percent, or root mean squared error; in brackets rows a second of "
        f"processor time. The first row is not scored{seeds}. Published: of the whole stream."
    ]
    streams = _by_stream(results).values()
    for name in ("default", "fast"):
        pairs = [(on[name].mean, _better(on)) for on in streams if name in on and on[name].values]
        known = [(own, best) for own, best in pairs if best is not None]
        if known:
            ahead = sum(own <= best for own, best in known)
            far = sum(own <= 0.95 * best for own, best in known)
            parts.append(
                f"{name}: no worse than the better of the last value and what is published on "
                f"{ahead} of {len(known)}, at least 5 % better on {far}."
            )
    return "\n".join(parts)


def _by_stream(results: Sequence[Result]) -> dict[str, _Runs]:
    found: dict[str, _Runs] = {}
    for result in results:
        found.setdefault(result.case.panel, {})[result.case.algorithm] = result
    return found


def _better(runs: _Runs) -> float | None:
    """The better of persistence and the published number of the same rows; None without either."""
    known = [runs["last"].mean] if "last" in runs and runs["last"].values else []
    printed = [r.case.published.value for r in runs.values() if r.case.published and r.comparable]
    return min([*known, *printed[:1]], default=None)


def _cell(run: Result) -> str:
    if not run.values:
        return "failed"
    value = f"{run.mean:.4g}" + (f" ± {run.std:.2g}" if len(run.values) > 1 else "")
    rate = run.n_rows / max(float(np.median(run.seconds)), 1e-9)
    return value if rate > 1e7 else f"{value} ({_short(rate)})"


def _short(rate: float) -> str:
    """A count in three digits: 1.53M, 20.1k, 700."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if rate >= 0.9995 * unit:
            value = rate / unit
            return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}{sign}"
    return f"{rate:.0f}"


STREAMS_LAYOUT = Layout(content, summary)
