"""Damaged files of every format: rows or a DataError with a place, never a crash or a traceback.

ONKEL_FUZZ_SECONDS=3600 runs for an hour, ONKEL_FUZZ_SEED=n begins with case n. A single case, with
its traceback: ``python tests/fuzz/test_inputs.py CASE``.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

FORMATS = ("csv", "tsv", "jsonl", "svm", "parquet", "arrow", "arrows")
TOKENS = [
    b'"', b"'", b",", b"\t", b";", b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xc3",
    b"\xef\xbb\xbf", b"\\ud800", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"0x1F", b"1e19", b"1e400",
    b"-", b"+", b".", b"e", b"nan", b"inf", b"-inf", b"NA", b"null", b"true", b"9" * 30,
    b"9007199254740993",
    b"-9223372036854775809", b"1_0", b" ", b":", b"#", b"qid:1", b"{", b"}", b"[", b"]", b"{}",
    b"[[[[", b'{"a":1}', b'"a":', b'{"b":{"c":1}}', b"a" * 300, b"2024-13-01", b"12:61",
]  # fmt: skip


def make(rng, n):
    """Columns of a small table."""
    return {
        "a": np.round(rng.standard_normal(n), 4).tolist(),
        "b": rng.integers(-9, 9, n).tolist(),
        "c": rng.choice(["u", "v", "é, w"], n).tolist(),
        "t": [f"2024-05-{d:02d} 12:00:00" for d in rng.integers(1, 28, n)],
        "f": (rng.random(n) < 0.5).tolist(),
        "y": rng.choice(["p", "q"] if rng.random() < 0.3 else [0, 1, 2], n).tolist(),
    }  # fmt: skip


def encode(columns, form, rng):
    """The table's bytes in a format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    if form in ("csv", "tsv"):
        out = io.StringIO()
        writer = csv.writer(out, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
        writer.writerows([names, *rows])
        return out.getvalue().encode()
    if form == "jsonl":
        kept = [{k: v for k, v in zip(names, r, strict=True) if k != "f" or v} for r in rows]
        return "\n".join(json.dumps(r, ensure_ascii=bool(rng.integers(2))) for r in kept).encode()
    if form == "svm":
        return "".join(f"{hash(r[1]) % 3} 1:{r[0]} 3:{r[1]} 7:{int(r[4])}\n" for r in rows).encode()
    table = pa.table(columns)
    if rng.random() < 0.7:
        table = table.set_column(2, "c", table["c"].dictionary_encode())
    sink = io.BytesIO()
    if form == "parquet":
        pq.write_table(table, sink, row_group_size=30, write_page_checksum=bool(rng.integers(2)))
        return sink.getvalue()
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, "lz4", "zstd"]))
    new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=30)
    return sink.getvalue()


def mutate(data, form, rng):
    """The bytes with some bytes, cells, encoding or line ends changed."""
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(data) + 1))
        what = rng.integers(8 if form in FORMATS[:4] else 4)
        if what == 0:
            changed = bytearray(data)
            for k in rng.integers(len(data), size=rng.integers(1, 5)) if data else ():
                changed[k] = rng.integers(256)
            data = bytes(changed)
        elif what == 1:
            data = data[:at] + data[at + int(rng.integers(1, 40)) :]
        elif what == 2:
            data = data[:at] + data[max(at - int(rng.integers(1, 99)), 0) :]
        elif what == 3:
            token = rng.bytes(8) if form not in FORMATS[:4] else TOKENS[rng.integers(len(TOKENS))]
            data = data[:at] + token + data[at + len(token) * int(rng.integers(2)) :]
        elif what == 4:
            lines = data.split(b"\n")
            k = int(rng.integers(len(lines)))
            cells = lines[k].split(b" " if form == "svm" else b"\t" if form == "tsv" else b",")
            cells[rng.integers(len(cells))] = TOKENS[rng.integers(len(TOKENS))]
            lines[k] = (b" " if form == "svm" else b"\t" if form == "tsv" else b",").join(cells)
            data = b"\n".join(lines)
        elif what == 5:
            data = data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n \n"]).item())
        elif what == 6:
            text = data.decode("utf-8", "replace")
            data = text.encode(str(rng.choice(["utf-16", "latin-1", "utf-8-sig"])), "replace")
        else:
            data = data.replace(b'"', b"'") if rng.integers(2) else data.replace(b",", b";")
        if not data:
            return data
    return data


def read(path, block_rows, options):
    """All rows handed out, and the error at their end."""
    from onkel.errors import DataError
    from onkel.streams import open_stream

    Xs, ys, error, stream = [], [], None, None
    try:
        stream = open_stream(path, block_rows=block_rows, **options)
        for block in stream:
            X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
            Xs.extend(X.tolist())
            ys.extend(block.y.tolist())
    except DataError as raised:
        error = raised
    width = max(map(len, Xs), default=0)
    return [x + [0.0] * (width - len(x)) for x in Xs], ys, error, stream


def check(case, folder):
    """Raise AssertionError, or any other error, if a case is handled badly."""
    rng = np.random.default_rng(case)
    form = FORMATS[case % len(FORMATS)]
    path = Path(folder) / f"case.{form}"
    data = mutate(encode(make(rng, int(rng.integers(1, 120))), form, rng), form, rng)
    path.write_bytes(data)
    missing = str(rng.choice(["error", "zero", "mean"]))
    options = {"missing": missing, "dtype": "float64", "n_hash": 4}
    if form != "svm":
        options["target"] = "y"
    X, y, error, stream = read(path, int(rng.integers(1, 60)), options)
    assert len(X) == len(y)
    assert all(np.isfinite(x).all() for x in X)
    if error is not None:
        assert str(path) in str(error), f"no file in: {error}"
        if error.row is not None and stream is not None:
            expected = len(X) + stream.n_unlabelled
            assert error.row == expected, f"{expected} rows, then: {error}"
    again = read(path, 1000, options)
    assert (again[0], again[1], str(again[2])) == (X, y, str(error)), "blocks matter"
    # the lines of dropped rows are unknown here
    if stream is not None and missing == "error" and not stream.n_unlabelled:
        compare(data, form, X, stream)


def compare(data, form, X, stream):
    """Check the numbers handed out against those that Python reads in the same rows."""
    columns = [c.name for c in stream.encoder.columns if not c.late][:1]
    if form == "jsonl":
        lines = [s for s in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if s.strip()]
        expected = [json.loads(line).get("a") for line in lines[: len(X)]]
    elif form == "csv" and b'"' not in data:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        found = [s for s in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if s]
        expected = [line.split(",")[0].strip() for line in found[1 : len(X) + 1]]
        if found[0].split(",")[0].strip() != "a":
            return
    else:
        return
    if columns == ["a"] and stream.encoder.kinds["a"] == "number":
        np.testing.assert_array_equal([x[0] for x in X], [float(v) for v in expected])


def main(first, seconds):
    """Run cases for ``seconds``; print the number of each to stderr before it runs."""
    ends, case, failed = time.monotonic() + seconds, first, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < ends and failed < 5:
            print(f"case {case}", file=sys.stderr, flush=True)
            try:
                check(case, folder)
            except Exception:
                failed += 1
                print(f"case {case} ({FORMATS[case % len(FORMATS)]}):\n{traceback.format_exc()}")
            case += 1
    print(f"{case - first} cases, {failed} failed")
    return failed


@pytest.mark.slow
def test_damaged_files():
    """Runs in its own process, so that a crash is reported with its case."""
    seconds = float(os.environ.get("ONKEL_FUZZ_SECONDS", "6"))
    first = os.environ.get("ONKEL_FUZZ_SEED", "0")
    command = [sys.executable, __file__, first, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 300)
    last = done.stderr.splitlines()[-1:]
    assert done.returncode == 0, (
        f"{done.returncode} at {last}\n{done.stdout}\n{done.stderr[-2000:]}"
    )
    assert "cases, 0 failed" in done.stdout
    assert not done.stdout.startswith("0 cases")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        with tempfile.TemporaryDirectory() as where:
            check(int(sys.argv[1]), where)
    else:
        sys.exit(min(main(int(sys.argv[1]), float(sys.argv[2])), 1))
