"""A named pipe, or ``<(command)`` of a shell, is opened once and read once."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import threading

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import issparse
from typer.testing import CliRunner

from onkel.cli import app
from onkel.errors import DataError
from onkel.streams import files, open_stream

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")

_ROWS = [{"a": k % 7 + 0.5, "y": k % 3} for k in range(300)]


def _csv():
    return b"a,y\n" + b"".join(f"{row['a']},{row['y']}\n".encode() for row in _ROWS)


def _arrow():
    table, raw = pa.Table.from_pylist(_ROWS), io.BytesIO()
    with pa.ipc.new_stream(raw, table.schema) as file:
        file.write_table(table, max_chunksize=70)
    return raw.getvalue()


_FORMS = {
    "r.csv": _csv,
    "r.csv.gz": lambda: gzip.compress(_csv()),
    "r.jsonl": lambda: b"".join(json.dumps(row).encode() + b"\n" for row in _ROWS),
    "r.svm": lambda: b"".join(f"{row['y']} 1:{row['a']}\n".encode() for row in _ROWS),
    "r.arrows": _arrow,
}


@pytest.fixture
def opened(monkeypatch):
    """Paths that were opened; the second opening of a pipe, which would wait forever, fails."""
    found = []

    def once(path, mode):
        assert path not in found
        found.append(path)
        return open(path, mode)

    monkeypatch.setattr(files, "open", once, raising=False)
    return found


def _pipe(folder, name, data):
    """A named pipe that holds data, and the thread that writes them."""
    os.mkfifo(folder / name)
    writer = threading.Thread(target=(folder / name).write_bytes, args=[data], daemon=True)
    writer.start()
    return str(folder / name), writer


@pytest.mark.parametrize("name", _FORMS)
def test_a_named_pipe_is_read_once(tmp_path, name, opened):
    path, writer = _pipe(tmp_path, name, _FORMS[name]())
    target = None if name == "r.svm" else "y"
    stream = open_stream(path, target=target)
    blocks = list(stream)
    X = [value for b in blocks for value in np.ravel(b.X.toarray() if issparse(b.X) else b.X)]
    np.testing.assert_array_equal(X, [row["a"] for row in _ROWS])
    assert [label for b in blocks for label in b.y] == [row["y"] for row in _ROWS]
    assert stream.n_rows is None
    writer.join(10)
    assert opened == [path]
    with pytest.raises(DataError, match="can be read only once"):
        next(iter(stream))


def test_parquet_needs_a_file(tmp_path):
    os.mkfifo(tmp_path / "r.parquet")
    with pytest.raises(DataError, match="Parquet cannot be read from a pipe"):
        open_stream(str(tmp_path / "r.parquet"), target="y")


@pytest.mark.parametrize(
    "verb", [["learn", "-a", "pa"], ["compare", "-a", "pa", "--runs", "1"], ["tune", "-a", "pa"]]
)
def test_commands_read_a_pipe_once(tmp_path, verb, opened):
    path, writer = _pipe(tmp_path, "r.csv", _csv())
    args = [verb[0], path, *verb[1:], "-t", "y", "--task", "regression", "--json"]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    writer.join(10)
    assert opened == [path]


def test_workers_need_files(tmp_path):
    os.mkfifo(tmp_path / "r.csv")
    args = ["learn", str(tmp_path / "r.csv"), "-t", "y", "--workers", "2"]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 2
    assert "is read only once, and workers read by themselves: give files" in result.stderr


def test_what_is_a_pipe(tmp_path):
    (tmp_path / "r.csv").write_bytes(_csv())
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "socket"))
        names = ("pipe", "socket", "r.csv", "nothing", "")
        assert [files.is_pipe(str(tmp_path / name)) for name in names] == [True] * 2 + [False] * 3
    assert files.is_pipe("-")
    assert files.is_pipe(os.devnull)
