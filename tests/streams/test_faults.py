"""Files that once crashed, misled or stopped a run: each is read, or refused with its place."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onkel.columns.encoding import Encoder
from onkel.errors import DataError
from onkel.streams import lines, open_stream

GOOD = [json.dumps({"a": k, "s": "t", "y": k % 2}) for k in range(40)]


@pytest.mark.parametrize(
    ("bad", "column", "words"),
    [
        (b'{"a": 1, "s": "\xd3", "y": 1}', None, "line 41.*not text in UTF-8"),
        (b'{"a": 1, "s": "\\ud800", "y": 1}', "s", "line 41.*surrogate"),
        (b'{"a": 1e999, "s": "t", "y": 1}', "a", "line 41.*too large"),
        (b'{"a": 1, "s": "t", "y": 1} {"a": 1, "s": "t", "y": 1}', None, "line 41.*not a JSON"),
        (b'{"a": 1, "a": 1, "s": "t", "y": 1}', None, "line 41.*specified twice"),
    ],
)
def test_a_bad_json_row_has_file_line_and_remedy(tmp_path, collect, bad, column, words):
    path = tmp_path / "a.jsonl"
    path.write_bytes("\n".join(GOOD).encode() + b"\n" + bad + b"\n" + "\n".join(GOOD).encode())
    X, _, error, _ = collect(open_stream(path, target="y"))
    assert (error.source, error.row, error.column, len(X)) == (str(path), 40, column, 40)
    with pytest.raises(DataError, match=words):
        raise error
    # in the first row, too
    path.write_bytes(bad + b"\n")
    with pytest.raises(DataError) as caught:
        list(open_stream(path, target="y"))
    assert caught.value.source == str(path)


def test_whole_numbers_beyond_two_to_the_53(tmp_path, collect):
    """A bad row in the same chunk once sent all rows through another reader."""
    path = tmp_path / "a.jsonl"
    rows = ['{"a": 9007199254740993, "y": 1}', f'{{"a": {10**19}, "y": 1}}', '{"a": "x", "y": 1}']
    path.write_text("\n".join([*9 * rows[:2], rows[2]]))
    X, _, error, _ = collect(open_stream(path, target="y", dtype="float64"))
    assert X[:, 0].tolist() == 9 * [9007199254740992.0, 1e19]
    assert (error.source, error.row, error.column) == (str(path), 18, "a")


def test_an_object_then_a_number_in_one_column(tmp_path, collect):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": {"c": 1}, "y": 0}\n{"a": 2, "b": 3, "y": 1}\n')
    # the nested value is its own column, missing in the second row
    _, _, error, _ = collect(open_stream(path, target="y"))
    assert (error.source, error.row, error.column) == (str(path), 1, "b.c")
    X, _, error, _ = collect(open_stream(path, target="y", exclude=["b.c"]))
    assert (X.tolist(), error) == ([[1, 0], [2, 3]], None)


def test_a_number_then_an_object_in_one_column(tmp_path, collect):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": 3, "y": 0}\n{"a": 2, "b": {"c": 1}, "y": 1}\n')
    _, _, error, _ = collect(open_stream(path, target="y"))
    assert (error.source, error.row, error.column) == (str(path), 1, "b")


@pytest.mark.parametrize("block_rows", [1, 3, 100])
def test_a_json_key_widens_wherever_it_comes_first(tmp_path, monkeypatch, block_rows):
    """The columns are those of the first row, for keys inside and after the first chunk."""
    path = tmp_path / "a.jsonl"
    rows = [{"a": k, "y": k % 2} | ({"late": k} if k % 7 == 3 else {}) for k in range(60)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = []
    for size in (1 << 20, 64):
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
        stream = open_stream(path, target="y", block_rows=block_rows)
        assert stream.encoder.feature_names == ["a"]
        X = np.zeros((60, 2))
        for block in stream:
            assert block.late == block.X.shape[1] - 1
            X[block.start : block.start + block.n_rows, : block.X.shape[1]] = block.X
        found.append(X)
    expected = [[r["a"], r.get("late", 0)] for r in rows]
    assert found[0].tolist() == found[1].tolist() == expected


def test_a_key_of_nulls_is_known_when_its_first_value_comes(tmp_path, collect):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "y": 0}\n{"a": 2, "b": null, "y": 0}\n{"a": 3, "b": "u", "y": 1}\n')
    stream = open_stream(path, target="y", n_hash=2)
    collect(stream)
    assert stream.encoder.kinds == {"a": "number", "b": "text"}


@pytest.mark.parametrize("value", ["1e19", "99999999999999999999"])
def test_a_large_number_in_a_target_of_whole_ones(tmp_path, collect, value):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,1\n" * 300_000 + f"1,{value}\n")
    _, y, error, _ = collect(open_stream(path, target="y"))
    assert error is None
    assert (y[-1], y[0]) == (float(value), 1)


def test_hexadecimal_is_no_number(tmp_path, collect, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,1\n" * 50 + "1,0x1F\n")
    _, y, error, _ = collect(open_stream(path, target="y"))
    assert (error.row, error.column, error.value, len(y)) == (50, "y", "0x1F", 50)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
    _, y, error, _ = collect(open_stream(path, target="y"))
    assert (error.row, error.column, y.dtype) == (50, "y", np.int64)
    # as labels they are text; 0x in a text column does not affect the target
    path.write_text("a,t,y\n" + "1,0x1F,0xA\n2,0x2F,0xB\n" * 5)
    stream = open_stream(path, target="y")
    assert set(collect(stream)[1]) == {"0xA", "0xB"}
    assert stream.encoder.kinds == {"a": "number", "t": "text"}
    path.write_text("t,y\n" + "0x1F,1\nu,2\n" * 5)
    assert collect(open_stream(path, target="y"))[1].dtype == np.int64


@pytest.mark.parametrize("columns", [12_000, 28_000])
def test_a_header_of_any_length(tmp_path, columns):
    """Longer than half a chunk, so that the first has no row; and longer than a chunk."""
    names = [f"{'name' * 15}{j:08d}" for j in range(columns)]
    path = tmp_path / "a.csv"
    row = ",".join(["1"] * columns)
    path.write_text(",".join([*names, "y"]) + "\n" + f"{row},0\n{row},1\n")
    assert path.stat().st_size > 0.8 * 2**20
    stream = open_stream(path, target="y", features=[names[0], names[-1]])
    (block,) = stream
    assert (block.X.tolist(), block.y.tolist()) == ([[1, 1]] * 2, [0, 1])


@pytest.mark.slow
def test_time_is_linear_in_the_columns(tmp_path):
    times = {}
    for columns in (1500, 15_000):
        path = tmp_path / "a.csv"
        row = ",".join(["1.5"] * columns)
        names = ",".join(f"c{j}" for j in range(columns))
        path.write_text(f"{names},y\n" + f"{row},0\n{row},1\n" * 2)
        best = np.inf
        for _ in range(2):
            began = time.process_time()
            assert sum(block.n_rows for block in open_stream(path, target="y")) == 4
            best = min(best, time.process_time() - began)
        times[columns] = best
    assert times[15_000] < 25 * times[1500], times


def test_an_index_of_a_billion_is_refused_with_the_option_that_allows_it(tmp_path, collect):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1 2:3\n" * 50 + "0 1000000000:1\n")
    with pytest.raises(
        DataError, match=r"line 51: index 1000000000.*features=1000000001"
    ) as caught:
        open_stream(path)
    assert caught.value.source == str(path)
    assert open_stream(path, features=10**9 + 1).n_features == 10**9 + 1
    # a model of a known width refuses only that row
    X, _, error, _ = collect(open_stream(path, encoder=Encoder(n_vector=2, zero_based=False)))
    assert (len(X), error.row) == (50, 50)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("block_rows", [64, 4096])
def test_a_target_of_text_after_whole_numbers(tmp_path, collect, suffix, block_rows):
    """The first row of the second file is blamed, and the rows before it are handed out."""
    for k, y in enumerate([[0, 1] * 452, ["u", "v"] * 10]):
        table = pa.table({"a": np.arange(float(len(y))), "y": y})
        path = tmp_path / f"{k}{suffix}"
        if suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
    X, y, error, _ = collect(open_stream(tmp_path, target="y", block_rows=block_rows))
    assert (len(X), y.dtype) == (904, np.int64)
    assert (error.row, error.column, error.source) == (904, "y", str(path))


def test_a_target_of_text_after_numbers_in_rows(collect):
    rows = [([1.0, 2.0], k % 2) for k in range(30)] + [([1.0, 2.0], "u")] * 5
    X, y, error, _ = collect(open_stream(rows))
    assert (len(X), y.dtype.kind, error.row) == (30, "i", 30)


@pytest.mark.parametrize("how", ["closed", "none"])
def test_closed_standard_input(monkeypatch, how):
    stdin = io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\n"), encoding="utf8")
    stdin.close()
    monkeypatch.setattr(sys, "stdin", stdin if how == "closed" else None)
    with pytest.raises(DataError, match=r"standard input.*closed.*give a file"):
        open_stream("-", format="csv")


@pytest.mark.parametrize("dtype", ["F8", "int8", "nothing", object])
def test_a_dtype_that_is_none(dtype):
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        open_stream(np.ones((2, 2)), dtype=dtype)


SCRIPT = """
import sys
from onkel.errors import DataError
from onkel.streams import open_stream
path = sys.argv[1]
for line in sys.stdin:
    at, byte = map(int, line.split())
    data = bytearray(open(path, "rb").read())
    data[at] = byte
    open(path + ".bad.arrow", "wb").write(data)
    print(at, byte, flush=True)
    try:
        for block in open_stream(path + ".bad.arrow", target="y", missing="zero"):
            block.X.sum(), block.y.max()
    except DataError as error:
        assert "bad.arrow" in str(error), error
print("done")
"""


@pytest.mark.slow
def test_damaged_arrow_files_do_not_crash(tmp_path):
    """Damage each byte of offsets and category numbers, and bytes of the metadata."""
    text = pa.array([f"word {k}" for k in range(8)])
    table = pa.table(
        {
            "a": np.arange(8.0),
            "s": text,
            "c": pa.array(["u", "v"] * 4).dictionary_encode(),
            "y": np.arange(8) % 2,
        }
    )
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    size = path.stat().st_size
    rng = np.random.default_rng(0)
    cases = [(at, byte) for at in range(8, size) for byte in (127, 200)]
    cases += [(int(rng.integers(size)), int(rng.integers(256))) for _ in range(400)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        input="\n".join(f"{at} {byte}" for at, byte in cases),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.returncode} at {done.stdout[-40:]}: {done.stderr[-800:]}"
    assert done.stdout.endswith("done\n")


def test_a_category_that_is_none_is_named(tmp_path):
    """An index beyond the list of categories, in memory, too."""
    codes = pa.array([0, 1, 5], pa.int32())
    bad = pa.DictionaryArray.from_arrays(codes, pa.array(["u", "v"]), safe=False)
    with pytest.raises(DataError, match="cannot be read"):
        list(open_stream(pa.table({"c": bad, "y": [0, 1, 0]}), target="y"))


def _mixed(n, ending):
    """Rows of numbers and times with text among them, late in the file, as lines of text."""
    rows = [
        {"a": k / 4, "cost": f"${k % 900 + 1000:,}", "at": f"2024-03-{1 + k % 28:02}", "y": k % 2}
        for k in range(n)
    ]
    for k in (n - 3000, n - 2000, n - 5):
        rows[k]["a"] = "NO"
    rows[n - 2000]["cost"] = "free"
    rows[n - 7]["at"] = "soon"
    if ending == "jsonl":
        return [json.dumps(row) for row in rows]
    return ["a,cost,at,y", *(",".join(f'"{v}"' for v in row.values()) for row in rows)]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_values_that_are_no_numbers_may_be_gaps(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text("\n".join(_mixed(30_000, ending)) + "\n")
    with pytest.raises(DataError, match="'NO'") as error:
        list(open_stream(path, target="y"))
    assert (error.value.row, error.value.column) == (27_000, "a")
    stream = open_stream(path, target="y", missing="auto", bad_values="missing")
    X = np.concatenate([block.X[:, :1] for block in stream])
    assert len(X) == 30_000
    assert stream.bad_values == {"a": 3, "cost": 1, "at": 1}
    good = np.delete(np.arange(30_000), [27_000, 28_000, 29_995])
    np.testing.assert_array_equal(X[good, 0], (good / 4).astype(np.float32))
    # a second pass counts anew
    assert sum(block.n_rows for block in stream) == 30_000
    assert sum(stream.bad_values.values()) == 5


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_target_that_is_no_number_is_refused_all_the_same(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text("\n".join(_mixed(5000, ending)) + "\n")
    with pytest.raises(DataError, match="'NO'") as error:
        list(open_stream(path, target="a", missing="auto", bad_values="missing"))
    assert error.value.row == 2000


def test_text_among_the_numbers_of_a_later_table_may_be_a_gap():
    encoder = open_stream(pa.table({"a": [1.0, 2.0, 4.0], "y": [0, 1, 1]}), target="y").encoder
    later = pa.table({"a": ["3", "much", " 5 "], "y": [0, 1, 1]})
    how = {"encoder": encoder, "missing": "zero", "bad_values": "missing"}
    stream = open_stream(later, **how)
    assert np.concatenate([block.X for block in stream]).ravel().tolist() == [3.0, 0.0, 5.0]
    assert stream.bad_values == {"a": 1}
    with pytest.raises(ValueError, match="must be 'error' or 'missing'"):
        open_stream(later, bad_values="zero")
