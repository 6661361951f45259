"""Fixtures for all tests: the real data and the original programs' results, if available."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path

# Two workers whose BLAS has two threads each wait for one another: small products took up to fifty
# times as long. Tests of threads ask for two.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# isort: split
import numpy as np
import pytest

from onkel.errors import DataError

# programs that tests run; they need POSIX, and cannot even be imported without it
_NEED_POSIX = ["cli/endings.py", "serve/killing.py", "serve/piping.py"]
collect_ignore = [] if os.name == "posix" else _NEED_POSIX

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser):
    parser.addoption(
        "--quick", action="store_true", help="one case of every test, and no test marked slow"
    )
    parser.addoption(
        "--cuda", action="store_true", help="tests of a device use CuPy and the GPU of this machine"
    )


def pytest_collection_modifyitems(config, items):
    """Skip tests that take minutes without the compiler; its loops have their own tests."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.skip(reason="minutes in plain Python"))
    if config.getoption("--quick"):
        kept = _one_case(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def _one_case(items):
    """The last case of every test that is not marked slow."""
    fast = (item for item in items if not item.get_closest_marker("slow"))
    return set({item.nodeid.split("[")[0]: item for item in fast}.values())


def pytest_collection_finish():
    """Leave out of garbage collection what is loaded and collected: millions of objects."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def data_folder():
    """Folder with the real data sets (ONKEL_DATA, else ../shared/data), or a skip saying why."""
    folder = Path(os.environ.get("ONKEL_DATA", _SHARED / "data"))
    if not folder.is_dir():
        pytest.skip("no data sets: neither ONKEL_DATA nor ../shared/data is a folder")
    return folder


@pytest.fixture
def real_data(data_folder, monkeypatch):
    """Let onkel.datasets find the real data sets."""
    monkeypatch.setenv("ONKEL_DATA", str(data_folder))
    return data_folder


@pytest.fixture
def oracle():
    """``oracle(data set, algorithm) -> (X, y, permutations, values of the original program)``."""
    folder = _SHARED / "oracle"
    if not folder.is_dir():
        pytest.skip("no results of the original programs: ../shared/oracle is not there")
    entries = json.loads((folder / "oracle.json").read_text(encoding="utf-8"))

    def read(dataset, algorithm):
        arrays = np.load(folder / f"{dataset}.npz")
        (entry,) = (e for e in entries if (e["dataset"], e["algorithm"]) == (dataset, algorithm))
        return arrays["X"], arrays["y"], arrays["perm"], np.array(entry["values"])

    return read


@pytest.fixture
def on_device(monkeypatch, request):
    """The device "cuda", whose array library is NumPy, or CuPy with ``--cuda``."""
    from tests.numerics.stand_in import Library

    from onkel.numerics import devices

    devices.device_named.cache_clear()
    if not request.config.getoption("--cuda"):
        monkeypatch.setitem(devices._LIBRARIES, "cuda", Library)
    yield devices.device_named("cuda")
    devices.device_named.cache_clear()


@pytest.fixture
def collect():
    """Read a stream to its end or its error: (X, y, error, sizes of the blocks)."""

    def read(stream):
        Xs, ys, sizes, error = [], [], [], None
        at = stream.skip_rows
        try:
            for block in stream:
                assert block.start == at
                at += block.n_rows
                X = block.X
                if isinstance(X, np.ndarray):
                    assert X.flags.c_contiguous
                else:
                    X = X.toarray()
                assert X.dtype == stream.dtype
                Xs.append(X)
                sizes.append(block.n_rows)
                if block.y is not None:
                    assert len(block.y) == block.n_rows
                    ys.append(block.y)
        except DataError as e:
            error = e
        assert all(n == stream.block_rows for n in sizes[:-1])
        X = np.concatenate(Xs) if Xs else np.empty((0, stream.n_features))
        return X, np.concatenate(ys) if ys else None, error, sizes

    return read


@pytest.fixture
def watch_steps(monkeypatch):
    """A function, which calls its argument at every step of a fit that is made ahead."""
    from onkel.explicit import ahead

    def watch(note):
        refit = ahead._refit

        def noted(*what):
            work = refit(*what)
            while True:
                try:
                    share = next(work)
                except StopIteration as end:
                    return end.value
                note()
                yield share

        monkeypatch.setattr(ahead, "_refit", noted)

    return watch
