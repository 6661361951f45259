"""Learning a source in partitions: a sample, a map, learners apart, a tree of merges."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from onkel.distributed.dask import client_or_default, dask
from onkel.distributed.plan import Plan
from onkel.distributed.reports import Learned, PartReport
from onkel.distributed.sources import Part, head, parts_of, spread
from onkel.distributed.tasks import (
    Sample,
    go_on,
    learn_part,
    learn_sample,
    merge_parts,
    report_of,
    sample_without_model,
)
from onkel.errors import DataError
from onkel.learners.portable.saved import nbytes
from onkel.pipeline import StreamModel

# Partitions of a Dask collection whose first rows are asked for.
_MOST_HEADS = 64

Watch = Callable[[PartReport], None]


def learn(
    estimator: Any,
    source: Any,
    *,
    target: str | None = None,
    client: Any = None,
    sample_rows: int = 131_072,
    scaling: str = "auto",
    reading: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    seed: int = 0,
    models: int | None = None,
    rounds: int = 4,
    fan_in: int = 4,
    skip_bad_partitions: bool = False,
    watch: Watch | None = None,
) -> Learned:
    """Learn a source in one pass, its partitions apart, on the workers of a Dask cluster.

    1. Up to ``sample_rows`` first rows of partitions that lie far apart are learned in a random
       order by one worker. They fix columns, categories, scales and the learner's map.
    2. Copies of that model learn the partitions where they lie, but for the sample's rows: each of
       them its share, one after the other.
    3. The models are merged in a tree, ``fan_in`` at a time, so that no process holds more.
    4. With several ``rounds``, 2 and 3 are repeated: copies of the merged model learn the next
       share of the partitions.

    What a merge makes exactly, and what nearly, says ``merge`` of the estimator. All tasks are
    pure: where a worker dies, others do its work again, and no row is lost or counted twice.

    Use it where one machine is too slow, or the rows lie on many. Not for a stream whose order
    matters: the default learner no longer begins anew when it changes, and remembers no labels.

    Parameters
    ----------
    estimator : estimator
        A learner over a map that stays: ``okl``, ``krls``, ``fogd``, ... It is left as it is.
    source : path, glob, folder, list of files, Dask DataFrame, or a pair of Dask arrays (X, y)
        Files must be where the workers can read them.
    target : str, optional
        The column to learn; of arrays, y is it.
    client : dask.distributed.Client, optional
        The one started last, if not given.
    sample_rows : int, default=131072
        Rows ≥ 1 that the map is fixed on; the default learner's search sees so many.
    scaling : {"auto", "standard", "minmax", "none"}, default="auto"
        As of `onkel.StreamModel`, by the sample's statistics.
    reading : dict, optional
        What `onkel.open_stream` is told beside.
    settings : dict, optional
        JSON-able notes, kept with the model.
    seed : int, default=0
        Of the order in which the sample is learned.
    models : int, optional
        Models ≥ 1 that learn at the same time: as many as the workers have threads, if not given.
        Fewer learn more rows each, which is nearer to one pass where a merge is not exact; more
        keep workers busy that are fast, or that come later.
    rounds : int, default=4
        How often ≥ 1 the models are merged and go on from there, at most: each of them has a
        partition in a round. Where a merge is not exact more rounds are nearer to one pass. Between
        rounds workers wait for the slowest.
    fan_in : int, default=4
        Models ≥ 2 that one task merges.
    skip_bad_partitions : bool, default=False
        Leave out partitions that cannot be read or learned, and report them.
    watch : callable, optional
        Called with the `PartReport` of each partition, as they come.

    Returns
    -------
    Learned
        With ``model``, a `onkel.StreamModel`, ``metrics`` and ``reports``.

    Raises
    ------
    DataError
        A partition cannot be read or learned: its name, and why. Or no partition is left.
    MergeError
        The learner cannot be merged: why.
    ValueError
        There is no client.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> from onkel import OnlineKernelRegressor, distributed  # doctest: +SKIP
    >>> with Client(n_workers=4, threads_per_worker=1) as client:  # doctest: +SKIP
    ...     learned = distributed.learn(OnlineKernelRegressor(), "flights/", target="delay")
    >>> learned.model.save("flights.onkel")  # doctest: +SKIP
    """
    if fan_in < 2 or min(sample_rows, rounds, 1 if models is None else models) < 1:
        raise ValueError(
            f"{fan_in=} must be at least 2, {sample_rows=}, {models=} and {rounds=} at least 1"
        )
    client = client_or_default(client)
    reading = {**(reading or {}), **({} if target is None else {"target": target})}
    # what it may have learned is no business of the workers
    estimator = clone(estimator)
    plan = Plan(estimator, scaling, reading, settings or {}, sample_rows, seed, skip_bad_partitions)
    parts = parts_of(source, reading.get("format"))
    began = time.perf_counter()
    models = min(models or max(sum(client.nthreads().values()), 1), len(parts))
    rounds = min(rounds, len(parts) // models)
    sample, learned, whole = _graph(plan, parts, models, rounds, fan_in)
    delayed = dask().delayed
    told = [delayed(report_of)(one) for one in learned]
    futures = client.compute([delayed(sample_without_model)(sample), *told, whole])
    first, *reports, last = futures
    try:
        by_name = _watched([first, *reports], watch)
        moved = rounds * (models + len(client.nthreads()))
        return _learned(parts, by_name, last.result(), moved, began)
    finally:
        # tasks that nobody waits for any more are not begun
        for future in futures:
            future.release()


def _graph(
    plan: Plan, parts: list[Part], models: int, rounds: int, fan_in: int
) -> tuple[Any, list[Any], Any]:
    """Tasks, not yet run: of the sample, of each partition, and of the whole."""
    delayed = dask().delayed
    plan_task = delayed(plan, traverse=False)
    asked = spread(parts, 16)
    if hasattr(parts[0].data, "__dask_graph__"):
        asked = asked[:_MOST_HEADS]
    heads = [delayed(head)(part.data, plan.sample_rows) for part in asked]
    sample = delayed(learn_sample)(plan_task, [part.name for part in asked], heads)
    learned, base = list[Any](), sample
    for share in np.array_split(np.arange(len(parts)), rounds):
        level = []
        for own in np.array_split(share, models):
            before = None
            for part in (parts[k] for k in own):
                before = delayed(learn_part)(plan_task, base, part.name, part.data, before)
                learned.append(before)
            level.append(before)
        base = delayed(go_on)(base, _merged(base, level, fan_in))
    return sample, learned, base


def _merged(base: Any, level: list[Any], fan_in: int) -> Any:
    """The task of one model of all that went on from the base."""
    while len(level) > 1:
        groups = [level[a : a + fan_in] for a in range(0, len(level), fan_in)]
        level = [dask().delayed(merge_parts)(base, *group) for group in groups]
    return level[0]


def _watched(futures: list[Any], watch: Watch | None) -> dict[str, PartReport]:
    """The report of each partition, by its name, told as they come."""
    found: dict[str, PartReport] = {}
    for future in dask().distributed.as_completed(futures):
        result = future.result()
        report = result.report if isinstance(result, Sample) else result
        found[report.name] = report
        if watch is not None:
            watch(report)
    return found


def _learned(
    parts: list[Part],
    found: dict[str, PartReport],
    whole: Sample,
    moved: int,
    began: float,
) -> Learned:
    """What came of all; ``moved`` models went from process to process."""
    reports = [found[part.name] for part in parts]
    if all(report.failure is not None for report in reports):
        raise DataError(f"no partition could be read; the first: {reports[0].failure}")
    model = StreamModel.from_state(whole.state)
    seconds = {
        "sample": whole.report.seconds,
        "parts": sum(report.seconds for report in reports),
        "merge": whole.merging,
        "in all": time.perf_counter() - began,
    }
    return Learned(model, [whole.report, *reports], seconds, moved * nbytes(whole.state))
