"""Dask, imported when it is first needed."""

from __future__ import annotations

import logging
from typing import Any

#: By default, Dask's workers return memory to the system at once. Each large array then needs new
#: pages, and the search for landmarks takes three times as long.
WORKER_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}


def dask() -> Any:
    """The packages ``dask`` and ``dask.distributed``."""
    try:
        import dask
        import dask.distributed
    except ImportError as error:
        raise ImportError(
            f"learning over several workers needs Dask ({error}): pip install 'onkel[dask]'"
        ) from None
    return dask


def client_or_default(client: Any) -> Any:
    """The client given, or the one that was started last."""
    found = dask().distributed
    if client is not None:
        return client
    try:
        return found.default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one, client = dask.distributed.Client(n_workers=4, "
            "threads_per_worker=1), or give the address of a scheduler to it"
        ) from None


def local_client(workers: int) -> Any:
    """A client of a new local cluster with ``workers`` processes of one thread each."""
    distributed = dask().distributed
    spawned = {f"distributed.nanny.pre-spawn-environ.{k}": v for k, v in WORKER_ENVIRONMENT.items()}
    with dask().config.set(spawned):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            # a task's failure comes back as its error; logs would only repeat it
            silence_logs=logging.CRITICAL,
        )
    return distributed.Client(cluster)


def client_of(address: str) -> Any:
    """A client of a running scheduler, such as "tcp://10.0.0.1:8786"."""
    distributed = dask().distributed
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address} ({error}); 'dask scheduler' starts one and "
            "tells its address"
        ) from None
