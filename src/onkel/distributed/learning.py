"""Learn a source in partitions: a sample, a map, separate learners, a tree of merges."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from onkel.distributed.partitions import Part, client_or_default, dask, head, parts_of, spread
from onkel.distributed.reports import Learned, PartReport
from onkel.distributed.tasks import (
    Plan,
    Sample,
    learn_part,
    learn_sample,
    merge_parts,
    next_sample,
    none_read,
)
from onkel.errors import MergeError
from onkel.fields import nbytes
from onkel.pipeline import StreamModel

if TYPE_CHECKING:
    from distributed import Client
    from onkel.learners.base import OnlineEstimator

# Most partitions of a Dask collection whose first rows go into the sample.
_MOST_HEADS = 64

Watch = Callable[[PartReport], None]


def learn(
    learner: Any,
    source: object,
    *,
    target: str | None = None,
    client: Client | None = None,
    models: int | None = None,
    rounds: int = 4,
    fan_in: int = 4,
    watch: Watch | None = None,
) -> Learned:
    """Learn a source in one pass, its partitions in parallel, on the workers of a Dask cluster.

    1. One worker learns the first rows of partitions that lie far apart, in a random order. They
       fix columns, categories, scales and the learner's map.
    2. Copies of that model learn the partitions where they lie, without the sample's rows. Each
       copy learns its share of them, one after the other.
    3. The models are merged in a tree, ``fan_in`` at a time, so that no process holds more.
    4. With several ``rounds``, 2 and 3 are repeated: copies of the merged model learn the next
       share of the partitions.

    For what a merge gives exactly and what nearly, see ``merge`` of the estimator. All tasks are
    pure: if a worker dies, others redo its work, and no row is lost or counted twice.

    Use it where one machine is too slow, or the rows lie on many. Not for a stream whose order
    matters: the default learner then neither restarts at a change nor remembers labels.

    Parameters
    ----------
    learner : estimator or Plan
        A learner over a fixed map: ``okl``, ``krls``, ``fogd``, ... It is not changed. A `Plan`
        also says how the partitions are read and scaled, how large the sample is, and what becomes
        of partitions that cannot be read.
    source : path, glob, folder, list of files, Dask DataFrame, or a pair of Dask arrays (X, y)
        Files must be where the workers can read them.
    target : str, optional
        The column to learn, if the plan does not name it; for arrays it is y.
    client : dask.distributed.Client, optional
        By default the one started last.
    models : int, optional
        Models ≥ 1 that learn at the same time; by default as many as the workers have threads.
        Fewer learn more rows each, which is nearer to one pass where a merge is not exact. More
        keep fast or late workers busy.
    rounds : int, default=4
        How often ≥ 1 the models are merged at most; then copies of the merged model learn on. Each
        copy needs a partition in every round. More rounds are nearer to one pass where a merge is
        not exact, but between rounds workers wait for the slowest.
    fan_in : int, default=4
        Models ≥ 2 that one task merges.
    watch : callable, optional
        Called with the `PartReport` of each partition, as they come.

    Returns
    -------
    Learned
        With ``model``, an `onkel.StreamModel`, ``metrics`` and ``reports``.

    Raises
    ------
    DataError
        A partition cannot be read or learned; the error names it and says why. Or none is left.
    MergeError
        The learner cannot be merged; the error says why.
    ValueError
        A number is too small, or there is no client.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> from onkel import OnlineKernelRegressor, distributed  # doctest: +SKIP
    >>> with Client(n_workers=4, threads_per_worker=1) as client:  # doctest: +SKIP
    ...     learned = distributed.learn(OnlineKernelRegressor(), "flights/", target="delay")
    >>> learned.model.save("flights.onkel")  # doctest: +SKIP
    """
    if fan_in < 2 or min(rounds, 1 if models is None else models) < 1:
        raise ValueError(f"{fan_in=} must be at least 2, {models=} and {rounds=} at least 1")
    plan = learner if isinstance(learner, Plan) else Plan(learner)
    check_mergeable(plan.estimator)
    client = client_or_default(client)
    # workers do not need what the estimator may have learned
    plan = replace(plan, estimator=clone(plan.estimator))
    if target is not None:
        plan = replace(plan, reading=plan.reading.changed(target=target))
    parts = parts_of(source, plan.reading.format)
    began = time.perf_counter()
    models = min(models or max(sum(client.nthreads().values()), 1), len(parts))
    rounds = min(rounds, len(parts) // models)
    sample, learned, whole = _graph(plan, parts, models, rounds, fan_in)
    delayed = dask().delayed
    reports = [one.report for one in learned]
    futures = client.compute([delayed(replace)(sample, state={}), *reports, whole])
    first, *reports, last = futures
    try:
        by_name = _watched([first, *reports], watch)
        moved = rounds * (models + len(client.nthreads()))
        return _learned(parts, by_name, last.result(), moved, began)
    finally:
        # tasks that nobody waits for any more do not start
        for future in futures:
            future.release()


def check_mergeable(estimator: OnlineEstimator) -> None:
    """Refuse a learner whose models cannot be merged before anything is read.

    The MergeError says why.
    """
    probe = clone(estimator)
    X = np.random.default_rng(0).normal(size=(8, 2))
    probe.partial_fit(X, np.arange(8) % 2 if is_classifier(probe) else X[:, 0])
    try:
        probe.model_.require_alike(probe.model_)
    except MergeError as error:
        # other errors are about the few rows
        if "cannot be merged" in str(error):
            raise


def _graph(
    plan: Plan, parts: list[Part], models: int, rounds: int, fan_in: int
) -> tuple[Any, list[Any], Any]:
    """Tasks, not yet run: for the sample, for each partition, and for the whole."""
    delayed = dask().delayed
    plan_task = delayed(plan, traverse=False)
    sampled = spread(parts, 16)
    if hasattr(parts[0].data, "__dask_graph__"):
        sampled = sampled[:_MOST_HEADS]
    heads = [delayed(head)(part.data, plan.sample_rows) for part in sampled]
    sample = delayed(learn_sample)(plan_task, [part.name for part in sampled], heads)
    learned, base = list[Any](), sample
    for share in np.array_split(np.arange(len(parts)), rounds):
        level = []
        for own in np.array_split(share, models):
            before = None
            for part in (parts[k] for k in own):
                before = delayed(learn_part)(plan_task, base, part.name, part.data, before)
                learned.append(before)
            level.append(before)
        base = delayed(next_sample)(base, _merged(base, level, fan_in))
    return sample, learned, base


def _merged(base: Any, level: list[Any], fan_in: int) -> Any:
    """The task that merges all models that started from the base."""
    while len(level) > 1:
        groups = [level[a : a + fan_in] for a in range(0, len(level), fan_in)]
        level = [dask().delayed(merge_parts)(base, *group) for group in groups]
    return level[0]


def _watched(futures: list[Any], watch: Watch | None) -> dict[str, PartReport]:
    """The report of each partition, by its name; ``watch`` gets them as they come."""
    found: dict[str, PartReport] = {}
    for future in dask().distributed.as_completed(futures):
        result = future.result()
        report = result.report if isinstance(result, Sample) else result
        found[report.name] = report
        if watch is not None:
            watch(report)
    return found


def _learned(
    parts: list[Part], found: dict[str, PartReport], whole: Sample, moved: int, began: float
) -> Learned:
    """The result of all; ``moved`` models went from process to process."""
    reports = [found[part.name] for part in parts]
    if all(report.failure is not None for report in reports):
        raise none_read(reports[0].error)
    model = StreamModel.from_state(whole.state)
    seconds = {
        "sample": whole.report.seconds,
        "parts": sum(report.seconds for report in reports),
        "merge": whole.merging,
        "in all": time.perf_counter() - began,
    }
    return Learned(model, [whole.report, *reports], seconds, moved * nbytes(whole.state))
