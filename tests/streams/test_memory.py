"""A file larger than the memory allowed is streamed: peak memory, measured in a fresh process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file

ROWS, COLUMNS = 400_000, 40

SCRIPT = """
import resource, sys
from onkel.streams import open_stream

def peak():
    kib = 1 if sys.platform == "linux" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / kib

small, large, target = sys.argv[1:4]
for block in open_stream(small, target=target or None):  # imports, buffers, compiled loops
    pass
before = peak()
rows = sum(block.n_rows for block in open_stream(large, target=target or None))
print(rows, (peak() - before) / 1024)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Large files (64 MB as float32, one Parquet row group) and small ones of the same shape."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    X = rng.integers(-999, 999, (ROWS, COLUMNS), dtype=np.int16) / np.float32(8)
    for name, rows in (("small", 30_000), ("large", ROWS)):
        table = pa.table({f"f{j}": X[:rows, j] for j in range(COLUMNS)} | {"y": X[:rows, 0] > 0})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=ROWS)
        numbers = table.drop_columns("y").append_column("y", table["y"].cast(pa.int8()))
        pacsv.write_csv(numbers, folder / f"{name}.csv")
        n = rows // 8
        dump_svmlight_file(X[:n], X[:n, 0] > 0, str(folder / f"{name}.svm"))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "target", "rows"),
    [("parquet", "y", ROWS), ("csv", "y", ROWS), ("svm", "", ROWS // 8)],
)
def test_memory_is_bounded(files, ending, target, rows):
    pytest.importorskip("resource")
    paths = [str(files / f"{name}.{ending}") for name in ("small", "large")]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *paths, target], capture_output=True, text=True, check=True
    )
    read, growth = done.stdout.split()
    assert int(read) == rows
    assert float(growth) < 20, f"peak memory grew by {growth} MiB"
