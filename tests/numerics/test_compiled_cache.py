"""The cache of compiled loops: learning works even if it cannot be written or read."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from onkel.numerics import cache
from onkel.numerics.jit import jit, jit_inline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(numba.config.DISABLE_JIT), reason="there is no cache without the compiler"
    ),
]


def twice(x):
    return 2 * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Only the temporary folder is writable; its notice has already been given."""
    monkeypatch.setattr(cache._Places, "_locator_classes", [cache._TemporaryLocator])
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cache, "_said", {"place"})
    return tmp_path


def test_a_temporary_folder_is_used_and_said_once(folder, monkeypatch):
    monkeypatch.setattr(cache, "_said", set())
    with pytest.warns(cache.CacheWarning, match="compiled loops are kept in") as said:
        assert [jit(twice)(x) for x in (2, 2.0)] == [4, 4.0]
    assert len(said) == 1
    again = jit(twice)
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1


def test_without_any_folder_loops_are_compiled_anew(folder, monkeypatch):
    monkeypatch.setattr(cache._Places, "_locator_classes", [])
    monkeypatch.setattr(cache, "_said", set())
    with pytest.warns(cache.CacheWarning, match="no folder can be written"):
        assert jit(twice)(2) == 4


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
def test_a_folder_that_others_can_write_is_not_trusted(folder):
    cache._temporary_folder().mkdir(mode=0o700)
    cache._temporary_folder().chmod(0o777)
    assert jit(twice).stats.cache_path is None


def test_a_full_disk_costs_no_more_than_time(folder, monkeypatch):
    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", full)
    with pytest.warns(cache.CacheWarning, match="cannot be kept in .*No space left"):
        assert jit(twice)(2) == 4


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x05broken"])
def test_a_broken_file_is_replaced(folder, monkeypatch, ending, content):
    assert jit(twice)(2) == 4
    (broken,) = Path(folder).rglob(f"*.{ending}")
    broken.write_bytes(content)
    with pytest.warns(cache.CacheWarning, match="cannot be read"):
        assert jit(twice)(2) == 4
    with warnings.catch_warnings(action="error"):
        monkeypatch.setattr(cache, "_said", {"place"})
        whole = jit(twice)
        assert whole(2) == 4
    assert sum(whole.stats.cache_hits.values()) == 1


def test_processes_that_compile_at_once_keep_a_file_each(folder, monkeypatch):
    """Both start before either has written its index, so numbered file names would collide."""
    first, second = jit(twice), jit(twice)
    monkeypatch.setattr(second._cache._cache_file, "_load_index", dict)
    assert first(2) == 4
    assert second(2.5) == 5.0
    assert len(list(Path(folder).rglob("*.nbc"))) == 2


def test_a_loop_looks_for_its_place_when_it_is_compiled(folder):
    loop = jit(twice)
    assert not list(folder.iterdir())
    loop(2)
    assert list(folder.rglob("*.nbc"))


CALLED = "from onkel.numerics.jit import jit_inline\n\n@jit_inline\ndef piece(x):\n    return {}\n"
CALLING = (
    "import {0}\nfrom {0} import piece\nfrom onkel.numerics.jit import jit\n\n"
    "@jit\ndef loop(x):\n    return {1}(x)\n"
)


@pytest.mark.parametrize("call", ["piece", "of_pieces.piece"])
def test_a_loop_is_compiled_anew_where_another_file_has_changed(tmp_path, call):
    """A loop contains the code of its pieces, whichever file that comes from."""
    (tmp_path / "of_loops.py").write_text(CALLING.format("of_pieces", call))
    results = []
    for result in ("x + 1", "x + 20"):
        (tmp_path / "of_pieces.py").write_text(CALLED.format(result))
        program = (
            "import of_loops; print(of_loops.loop(1), sum(of_loops.loop.stats.cache_hits.values()))"
        )
        results += [_printed(program, tmp_path) for _ in range(2)]
    assert results == ["2 0", "2 1", "21 0", "21 1"]


def _printed(program, folder):
    """What a program prints whose modules are in the folder."""
    env = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "kept"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_a_source_replaced_while_a_process_runs_is_compiled_anew(tmp_path):
    """As when a package is upgraded: what the process compiles afterwards is of the old source."""
    source = "from onkel.numerics.jit import jit\n\n@jit\ndef loop(x):\n    return x + {}\n"
    file = tmp_path / "of_loops.py"
    file.write_text(source.format(1))
    program = "import of_loops, pathlib; {}; print(of_loops.loop(1))"
    replace = f"pathlib.Path(of_loops.__file__).write_text({source.format(20)!r})"
    assert _printed(program.format(replace), tmp_path) == "2"
    assert _printed(program.format("0"), tmp_path) == "21"


def test_a_piece_kept_on_disk_is_not_taken_for_a_loop(folder):
    """A piece has no entry point for Python: calling one would crash the process."""
    piece = jit_inline(twice)
    assert jit_from_loop(piece)(2) == 4
    loop = jit(twice)
    assert loop(2) == 4
    assert not loop.stats.cache_hits


def jit_from_loop(piece):
    def call(x):
        return piece(x)

    return numba.njit(call)


def test_the_first_run_gives_the_model_of_later_ones(tmp_path):
    """Freshly compiled loops and loops loaded from the cache round alike."""
    program = (
        "import hashlib, numpy as np; from onkel import OnlineKernelRegressor as Learner; "
        "X = np.random.default_rng(0).normal(size=(700, 4)); y = X[:, 0] * X[:, 1]; "
        "predicted = Learner(n_components=30, random_state=0).predict_then_learn(X, y); "
        "print(hashlib.sha256(predicted.tobytes()).hexdigest())"
    )
    predicted = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert predicted[0] == predicted[1]
    assert any(tmp_path.rglob("*.nbc"))
