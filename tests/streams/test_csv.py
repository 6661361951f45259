"""CSV: types, fields, numbers, and errors that name the row."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.columns.failures import count
from onkel.errors import DataError, NoRowsError
from onkel.streams import Encoder, lines, open_stream


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 64 bytes, so that short files have many."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_types(tmp_path, collect):
    f = write(
        tmp_path / "a.csv",
        "a,ok,when,city,y\n1,true,2024-01-01,Oslo,u\n2.5,false,2024-01-02,Rome,v\n",
    )
    stream = open_stream(f, target="y", n_hash=8)
    assert stream.encoder.kinds == {"a": "number", "ok": "flag", "when": "time", "city": "text"}
    X, y, error, _ = collect(stream)
    assert error is None
    assert X[:, 0].tolist() == [1, 2.5]
    assert X[:, 1].tolist() == [1, 0]
    assert X[:, 2].tolist() == [0, np.float32(np.arcsinh(1.0))]
    assert X[:, 9:].tolist() == [[1, 0], [0, 1]]
    assert y.tolist() == ["u", "v"]
    assert stream.encoder.feature_names[-3:] == ["when#year_cos", "city=Oslo", "city=Rome"]


@pytest.mark.usefixtures("small_chunks")
def test_int_then_float_then_text(tmp_path, collect):
    rows = ["1,1"] * 40 + ["1.5,2"] * 40 + ["x,2"] + ["1,1"] * 10
    f = write(tmp_path / "a.csv", "a,y\n" + "\n".join(rows) + "\n")
    X, y, error, sizes = collect(open_stream(f, target="y", block_rows=30))
    assert sizes == [30, 30, 20]
    assert X[:, 0].tolist() == [1.0] * 40 + [1.5] * 40
    assert y.dtype == np.int64
    assert (error.source, error.row, error.column, error.value) == (f, 80, "a", "x")
    assert "line 82" in str(error)
    assert "number" in str(error)


@pytest.mark.usefixtures("small_chunks")
def test_target_int_then_float(tmp_path, collect):
    f = write(tmp_path / "a.csv", "a,y\n" + "1,1\n" * 50 + "1,0.5\n" * 3)
    _, y, error, _ = collect(open_stream(f, target="y"))
    assert error is None
    assert y.tolist() == [1.0] * 50 + [0.5] * 3


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("row", ["3", "3,4,5", "3,4,5,6,7"])
@pytest.mark.parametrize("at", [0, 1, 57, 119])
def test_wrong_number_of_fields(tmp_path, collect, row, at):
    rows = [f"{k},{k % 2}" for k in range(120)]
    rows[at] = row
    f = write(tmp_path / "a.csv", "a,y\n\n" + "\n".join(rows))
    try:
        X, _, error, _ = collect(open_stream(f, target="y", block_rows=50))
    except DataError as e:  # an error in the first row is raised on opening
        error, X = e, np.empty((0, 1))
    assert (error.source, error.row) == (f, at)
    assert f"line {at + 3}: {count(row.count(',') + 1, 'field')} where 2" in str(error)
    assert X[:, 0].tolist() == list(range(at))


@pytest.mark.usefixtures("small_chunks")
def test_two_bad_columns_the_earlier_row_counts(tmp_path, collect):
    f = write(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 30 + "1,2\n1,w\n,2\nv,2\n3\n")
    X, _, error, _ = collect(open_stream(f, missing="zero"))
    assert (error.row, error.column, error.value) == (31, "b", "w")
    assert len(X) == 31


def test_missing_and_infinite(tmp_path, collect):
    f = write(tmp_path / "a.csv", "a,b,y\n1,2,0\n,NA,1\n3,4,1\n")
    X, _, error, _ = collect(open_stream(f, target="y"))
    assert (error.row, error.column, len(X)) == (1, "a", 1)
    X, y, _, _ = collect(open_stream(f, target="y", missing="skip"))
    assert (X.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [0, 1])
    f = write(tmp_path / "b.csv", "a,y\n1,0\ninf,1\n")
    for missing in ("error", "zero", "mean", "skip"):
        _, _, error, _ = collect(open_stream(f, target="y", missing=missing))
        assert (error.row, error.column) == (1, "a")
        assert "infinite" in str(error)


@pytest.mark.parametrize("gap", ["", "NA", "nan"])
def test_missing_target(tmp_path, collect, gap):
    for label in ("0", "u"):
        f = write(tmp_path / "a.csv", f"a,y\n1,{label}\n2,{gap}\n3,{label}\n")
        for missing in ("auto", "error", "zero", "skip"):
            stream = open_stream(f, target="y", missing=missing)
            X, y, error, _ = collect(stream)
            assert (X[:, 0].tolist(), y.astype(str).tolist(), error) == ([1, 3], [label] * 2, None)
            assert stream.n_unlabelled == 1
        # when predicting, the row stays
        X, y, _, _ = collect(open_stream(f, encoder=stream.encoder))
        assert len(X) == 3
        assert y[1] is None or np.isnan(y[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows"),
        ("a,y\n", "header but no rows"),
        ("a,a,y\n1,2,3\n", "same name"),
        ("a,b\n1,2\n", "did you mean|The columns are: a, b"),
    ],
)
def test_refused_at_once(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        open_stream(write(tmp_path / "a.csv", text), target="y")


def test_header_variants(tmp_path, collect):
    f = write(tmp_path / "a.csv", "\ufeffa;y\r\n1,5;1\r\n2,5;2\r\n".replace(",", "."))
    assert collect(open_stream(f, target="y"))[0].tolist() == [[1.5], [2.5]]
    f = write(tmp_path / "b.csv", "1.5,2,0\n2.5,3,1\n")
    stream = open_stream(f, target="c2")
    assert stream.encoder.feature_names == ["c0", "c1"]
    assert collect(stream)[0].tolist() == [[1.5, 2], [2.5, 3]]
    f = write(tmp_path / "c.tsv", "a\ty\n1\t0\n")
    assert collect(open_stream(f, target="y"))[0].tolist() == [[1]]


@pytest.mark.usefixtures("small_chunks")
def test_quotes(tmp_path, collect):
    rows = ['1,"a ""b"",\nc"', "2,plain"] * 30
    f = write(tmp_path / "a.csv", "x,t\n" + "\n".join(rows) + "\n")
    X, y, error, _ = collect(open_stream(f, target="t"))
    assert error is None
    assert X[:, 0].tolist() == [1, 2] * 30
    assert set(y) == {'a "b",\nc', "plain"}


def test_number_column_with_a_rare_word_is_refused(tmp_path, collect):
    f = write(tmp_path / "a.csv", "a,y\n" + "1.5,0\n" * 20 + "oops,1\n")
    _, _, error, _ = collect(open_stream(f, target="y"))
    assert (error.row, error.column, error.value) == (20, "a", "oops")
    stream = open_stream(f, target="y", categorical="a")
    assert stream.encoder.kinds == {"a": "text"}
    assert collect(stream)[2] is None


def test_bad_text_encoding(tmp_path, collect):
    f = write(tmp_path / "a.csv", b"a,y\n" + b"u,0\n" * 5 + b"\xff\xfe,1\n")
    try:
        error = collect(open_stream(f, target="y", categorical="a"))[2]
    except DataError as e:
        error = e
    assert (error.source, error.row) == (f, 5)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "svm"])
def test_the_share_handed_out_grows_with_the_rows(tmp_path, ending):
    """Also within the first chunk, and where rows have no target."""
    row = {
        "csv": "{},{:.15f},{}",
        "jsonl": '{{"a": {}, "b": {:.15f}, "y": {}}}',
        "svm": "{2} 1:{0} 2:{1:.15f}",
    }
    n = 90_000
    rows = [row[ending].format(k % 10, k / 7, k % 2) for k in range(n)]
    head = ["a,b,y"] if ending == "csv" else []
    path = write(tmp_path / f"rows.{ending}", "\n".join(head + rows))
    stream, given = open_stream(path, target=None if ending == "svm" else "y"), 0
    assert (tmp_path / f"rows.{ending}").stat().st_size > 2 * lines.CHUNK_BYTES
    for block in stream:
        given += block.n_rows
        assert given / stream.progress() == pytest.approx(n, rel=0.1)
    assert stream.progress() == 1


def test_several_files_and_compression(tmp_path, collect):
    write(tmp_path / "1.csv", "a,b,y\n1,2,0\n")
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress(b"y,b,a\n1,4,3\n"))
    write(tmp_path / "_ignored.csv", "zzz")
    for source in (tmp_path, str(tmp_path / "[12]*"), [tmp_path / "1.csv", tmp_path / "2.csv.gz"]):
        stream = open_stream(source, target="y")
        X, y, error, sizes = collect(stream)
        assert (X.tolist(), y.tolist(), error, sizes) == ([[1, 2], [3, 4]], [0, 1], None, [2])
        assert stream.progress() == 1
    write(tmp_path / "3.csv", "a,y\n1,0\n")
    _, _, error, _ = collect(open_stream(tmp_path, target="y"))
    assert error.source.endswith("3.csv")
    assert error.column == "b"
    whole = gzip.compress(b"a,y\n" + b"1,2\n" * 9999)
    f = tmp_path / "cut.csv.gz"
    f.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut\.csv\.gz"):
        list(open_stream(f, target="y"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.svm"])
@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (gzip.compress(b"a,y\n1,2\n", mtime=0), r"gzip data.*\.gz"),
        (bz2.compress(b"a,y\n1,2\n"), r"bz2 data.*\.bz2"),
        (lzma.compress(b"a,y\n1,2\n"), r"xz data.*\.xz"),
        (b"PK\x03\x04\x14\x00", r"zip data.*unpack"),
        (b"PAR1\x15\x04", r"Parquet data.*format='parquet'"),
    ],
)
def test_data_that_are_no_text_are_named_whatever_the_file_is_called(tmp_path, name, data, wanted):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=wanted):
        list(open_stream(tmp_path / name, target="y"))


def test_saved_encoder(tmp_path, collect):
    write(tmp_path / "a.csv", "n,t,y\n1,007,0\n2,x,1\n")
    encoder = open_stream(tmp_path / "a.csv", target="y").encoder
    encoder = Encoder.from_state(encoder.get_state())
    write(tmp_path / "b.csv", "t,extra,n\n007,q,1\n8,q,2\n")
    stream = open_stream(tmp_path / "b.csv", encoder=encoder)
    X, y, error, _ = collect(stream)
    assert (y, error, stream.target) == (None, None, None)
    Xa, _, _, _ = collect(open_stream(tmp_path / "a.csv", encoder=encoder))
    assert (X[0] == Xa[0]).all()
    write(tmp_path / "c.csv", "t,y\n1,1\n")
    with pytest.raises(DataError, match=r"column 'n'.*no such column"):
        open_stream(tmp_path / "c.csv", encoder=encoder)


@given(st.binary(max_size=80), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_garbage_gives_data_errors_only(tmp_path_factory, garbage, at):
    """Any bytes in a file: the rows before are yielded, and only DataError is raised."""
    good = [f"{k}.5,{k % 3}" for k in range(60)]
    text = b"\n".join(r.encode() for r in good[:at])
    f = tmp_path_factory.mktemp("g") / "a.csv"
    f.write_bytes(b"a,y\n" + text + b"\n" + garbage + b"\n" + "\n".join(good[at:]).encode())
    rows, refused = 0, None
    try:
        for block in open_stream(f, target="y", block_rows=7, missing="zero"):
            expected = np.arange(block.start, block.start + block.n_rows) + 0.5
            kept = min(block.n_rows, max(at - block.start, 0))
            if block.X.shape[1] == 1:
                np.testing.assert_array_equal(block.X[:kept, 0], expected[:kept])
            rows += block.n_rows
    except DataError as error:
        refused = error.row
    assert refused is None or refused == rows


def test_unread_columns_may_hold_anything(tmp_path, collect):
    f = write(tmp_path / "a.csv", b"a,name,y\n1,\xe9,0\n2,\xff,1\n")
    X, _, error, _ = collect(open_stream(f, target="y", exclude=["name"]))
    assert (X.tolist(), error) == ([[1], [2]], None)
    with pytest.raises(DataError, match="did you mean 'name'"):
        open_stream(f, target="y", exclude=["name", "nam"])


@pytest.mark.parametrize("values", [("12:30:00", "12:30:05"), ("2024-05-17T00:00:00Z",) * 2])
def test_times_of_a_saved_model(tmp_path, collect, values):
    f = write(tmp_path / "a.csv", "t,y\n" + "".join(f"{v},1\n" for v in values))
    stream = open_stream(f, target="y")
    again = open_stream(f, encoder=stream.encoder)
    np.testing.assert_array_equal(collect(again)[0], collect(stream)[0])


_TIMES = ["2024-05-17T12:30:00", "2024-05-17T14:30:00+02:00", "2024-05-17 12:30:00.000Z"]


@pytest.mark.parametrize("bad_values", ["error", "missing"])
@pytest.mark.parametrize("first", _TIMES)
def test_a_zone_and_fractions_may_come_later(tmp_path, collect, small_chunks, first, bad_values):
    later = [*_TIMES, "2024-05-17T12:30:00.500Z"]
    rows = [f"{time},{k % 3}" for k, time in enumerate([first] * 50 + later)]
    f = write(tmp_path / "a.csv", "when,y\n" + "\n".join(rows) + "\n")
    stream = open_stream(f, target="y", dtype="float64", bad_values=bad_values)
    X, _, error, _ = collect(stream)
    assert (error, stream.bad_values) == (None, {})
    assert X[:-1, 0].tolist() == [0.0] * 53
    assert X[-1, 0] == pytest.approx(0.5 / 86400)


@pytest.mark.parametrize(
    ("first", "odd", "wanted"),
    [
        ("2024-05-17T12:30:00Z", "n.d.", r"a time \(like 2024-05-17T12:30:00\) is"),
        ("12:30:00", "9:05:00", r"a time of day \(like 12:30:00\) is"),
    ],
)
def test_an_odd_value_is_told_how_a_time_is_written(
    tmp_path, collect, small_chunks, first, odd, wanted
):
    f = write(tmp_path / "a.csv", "when,y\n" + f"{first},1\n" * 50 + f"{odd},2\n")
    error = collect(open_stream(f, target="y"))[2]
    assert (error.row, error.column) == (50, "when")
    with pytest.raises(DataError, match=f"'{odd}' stands where {wanted} expected"):
        raise error


def test_a_comma_inside_quotes_separates_no_names(tmp_path, collect):
    f = write(tmp_path / "a.csv", '"price, EUR";y\n3;1\n4;2\n')
    stream = open_stream(f, target="y")
    assert stream.encoder.feature_names == ["price, EUR"]
    assert collect(stream)[0].ravel().tolist() == [3.0, 4.0]


def test_the_first_of_several_files_may_have_no_rows(tmp_path, collect):
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "1.csv", "a,y\n")
    with pytest.raises(DataError, match="header but no rows"):
        open_stream(tmp_path / "data", target="y")
    write(tmp_path / "data" / "2.csv", "a,y\n3,1\n4,2\n")
    X, _, error, _ = collect(open_stream(tmp_path / "data", target="y"))
    assert (X.ravel().tolist(), error) == ([3.0, 4.0], None)


@pytest.mark.parametrize("value", ["17%", "$12", "1 200"])
def test_a_number_with_marks_names_the_option_that_reads_it(tmp_path, small_chunks, value):
    f = write(tmp_path / "a.csv", "a,y\n" + "5,1\n" * 50 + f"{value},2\n")
    with pytest.raises(
        DataError, match=r"row 50, column 'a'.*learn with thousands=',' .*--thousands ,"
    ):
        list(open_stream(f, target="y"))
    *_, last = open_stream(f, target="y", thousands=",")
    assert last.X[-1, 0] == float(value.strip("%$").replace(" ", ""))
    f = write(tmp_path / "b.csv", "a;y\n" + "5;1\n" * 50 + "1292,5;2\n")
    with pytest.raises(DataError, match=r"line 52: .*learn with decimal=',' .*--decimal ,"):
        list(open_stream(f, target="y"))


def test_bad_rows_beside_times_of_day(tmp_path, collect):
    rows = [f"{k % 24:02d}:30:00,{k},{k % 3}" for k in range(60)]
    f = write(tmp_path / "a.csv", "at,a,y\n" + "\n".join([*rows, "12:30:00,x,1"]) + "\n")
    X, _, error, _ = collect(open_stream(f, target="y"))
    assert (len(X), error.row, error.column) == (60, 60, "a")
    stream = open_stream(f, target="y", missing="auto", bad_values="missing")
    assert (collect(stream)[2], stream.bad_values) == (None, {"a": 1})
    f = write(tmp_path / "b.csv", "at,a,y\n" + "\n".join([*rows, "12:30:00"]) + "\n")
    with pytest.raises(DataError, match="row 60: line 62: 1 field where 3 are expected"):
        list(open_stream(f, target="y"))


def test_a_header_with_a_line_end_inside_quotes(tmp_path, collect):
    path = tmp_path / "a.csv"
    path.write_text('"a\nb","c ""d""",y\n' + "1,2,0\n" * 19 + "x,5,0\n")
    stream = open_stream(str(path), target="y")
    assert stream.encoder.feature_names == ["a\nb", 'c "d"']
    X, y, error, _ = collect(stream)
    assert (X.tolist(), y.tolist()) == ([[1, 2]] * 19, [0] * 19)
    assert error.row == 19
    assert "line 22" in str(error)
    # a stray quote is part of the name
    path.write_text('a",y\n1,0\n3,1\n')
    assert len(collect(open_stream(str(path), target="y"))[0]) == 2


@pytest.mark.parametrize("start", ["\n\n", "\r\n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("header", ["a,y\n", ""])
def test_blank_lines_before_the_first(start, header, tmp_path, collect):
    path = tmp_path / "a.csv"
    path.write_bytes((start + header + "1.5,0\n3,1\nx,1\n" + "1,1\n" * 30).encode())
    X, y, error, _ = collect(open_stream(str(path), target="y" if header else "c1"))
    assert (X.tolist(), y.tolist()) == ([[1.5], [3]], [0, 1])
    assert error.row == 2
    assert f"line {3 + bool(header) + start.count(chr(10))}: " in str(error)


def test_numbers_with_a_decimal_comma_are_no_categories(tmp_path, collect):
    path = tmp_path / "a.csv"
    path.write_text("a;y\n" + "1,5;0\n2,25;1\n" * 5)
    with pytest.raises(DataError, match="decimal comma") as caught:
        open_stream(str(path), target="y")
    assert (caught.value.column, caught.value.source) == ("a", str(path))
    assert len(collect(open_stream(str(path), target="y", categorical="a"))[0]) == 10


def test_rows_without_a_target_are_counted_up_to_a_bad_row(tmp_path, collect):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,p\n2,\ninf,q\n3,\n4,p\n")
    stream = open_stream(path, target="y")
    _, y, error, _ = collect(stream)
    assert (y.tolist(), error.row, stream.n_unlabelled) == (["p"], 2, 1)


@pytest.mark.parametrize("value", ["", "inf"])
def test_a_row_without_a_target_may_hold_what_it_likes(tmp_path, value):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b,y\n1,2,p\n3,4,q\n{value},6,\n7,8,p\n")
    stream = open_stream(path, target="y", missing="error")
    assert np.concatenate([block.X for block in stream]).tolist() == [[1, 2], [3, 4], [7, 8]]
    assert stream.n_unlabelled == 1


def _written(path, data):
    """A file, or a named pipe if it is called so."""
    if path.name != "pipe":
        return write(path, data)
    os.mkfifo(path)
    Thread(target=path.write_bytes, args=(data,), daemon=True).start()
    return str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "pipe"])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_last_line_without_an_end_tells_what_columns_are(tmp_path, name, end, encoding):
    data = f"a,b,y\n1,,2\n2,,3\nx,w,4{end}".encode(encoding)
    path = _written(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    how = {"format": "csv", "encoding": encoding}
    stream = open_stream(path, target="y", missing="auto", **how)
    assert stream.encoder.kinds == {"a": "text", "b": "text"}
    assert sum(block.n_rows for block in stream) == 3


@pytest.mark.parametrize("name", ["a.csv", "pipe"])
def test_a_last_line_with_an_open_quote_spoils_no_row_before(tmp_path, collect, name):
    path = _written(tmp_path / name, b'a,y\n1,2\n2,3\n"4,5')
    X, _, error, _ = collect(open_stream(path, target="y", format="csv"))
    assert (X.tolist(), error.row) == ([[1.0], [2.0]], 2)


def test_a_file_of_blank_lines_has_no_rows(tmp_path):
    with pytest.raises(NoRowsError, match="has no rows"):
        open_stream(write(tmp_path / "a.csv", "\n\n"), target="y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# exported\na,y\n1,2\n", "column 'y': no such column. .* The first line is the header"),
        ("a~y\n1~2\n", "say what separates the fields .*--sep"),
        ("a,y\n1,2\n3,4,\n", "line 3: 3 fields where 2 .* take out the separator at its end"),
        ('a,b,y\n1,2,3\n4,"5,6\n7,8,9\n', "2 fields where 3 are .* is a quote not closed?"),
    ],
)
def test_a_wrong_number_of_fields_says_what_may_be_the_matter(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        list(open_stream(write(tmp_path / "a.csv", text), target="y"))


def test_a_later_file_without_a_header_is_told_that_it_needs_one(tmp_path, collect):
    first = write(tmp_path / "a.csv", "a,b,y\n1,u,2\n3,v,4\n")
    for later in ("1,u,2\n3,v,4\n", "1,2,3\n4,5,6\n"):
        files = [first, write(tmp_path / "b.csv", later)]
        X, _, error, _ = collect(open_stream(files, target="y"))
        assert len(X) == 2
        assert "b.csv: its first line names none of the columns before" in str(error)
        assert str(error).endswith("each file needs the header line")


def test_a_spreadsheet_is_none_of_the_formats(tmp_path):
    with pytest.raises(DataError, match=r"a\.xlsx: is a spreadsheet; save it as CSV"):
        open_stream(write(tmp_path / "a.xlsx", b"PK\x03\x04"))
