"""The data sets: the table, finding, loading, scaling, fetching, and what goes wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.datasets
from sklearn.utils import Bunch
from typer.testing import CliRunner

from onkel import datasets
from onkel.cli.app import app
from onkel.datasets.registry import DATASETS, Entry, OpenML, _of_a_clone
from onkel.errors import DataError

# rows that LSOKL's Tables 4, 6 and 8 and section 4.1 of the RRF paper name
PAPER_ROWS = {
    "german": 1000,
    "spambase": 4601,
    "w7a": 24692,
    "a9a": 48842,
    "ijcnn1": 141691,
    "dna": 2000,
    "satimage": 4435,
    "usps": 7291,
    "letter": 15000,
    "shuttle": 43500,
    "housing": 506,
    "mg": 1385,
    "abalone": 4177,
    "parkinsons": 5875,
    "cpusmall": 8192,
    "cadata": 20640,
    "casp": 45730,
}


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A data folder with nothing in it, and no cache."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ONKEL_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr("onkel.datasets.registry._MORE", [])  # what other tests brought along
    return folder


@pytest.fixture
def toy(monkeypatch):
    """A small set in the table: 6 rows, 2 features, 2 classes, 4 rows for training."""
    source = OpenML(name="toy", version=3, drop=("other",), n_train=4)
    entry = Entry("toy", "binary", 6, 2, 2, "train", "minmax", source, "nowhere")
    monkeypatch.setitem(DATASETS, "toy", entry)
    return entry


@pytest.fixture
def openml(monkeypatch):
    """A fake OpenML that serves the toy set; records the calls."""
    calls = []
    answer = Bunch(
        data=np.array([[0, 9, 5], [1, 9, 5], [2, 9, 7], [3, 9, 5], [4, 9, 5], [5, 9, 5]]),
        target=np.array(["no", "yes", "no", "yes", "yes", "no"], dtype=object),
        feature_names=["a", "other", "b"],
    )

    def fetch_openml(**arguments):
        calls.append(arguments)
        return answer

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return Bunch(calls=calls, answer=answer)


# ---- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATASETS)
def test_entries_are_whole(name):
    entry = datasets.info(name)
    assert entry.name == name
    assert entry.task in ("binary", "multiclass", "regression")
    assert (entry.n_classes == 0) == (entry.task == "regression")
    assert (entry.n_classes == 2) == (entry.task == "binary")
    assert entry.subset in ("all", "train", "test")
    assert entry.scaling in ("none", "minmax", "unit", "symmetric")
    json.dumps(entry.to_dict())


def test_names_the_papers_use_otherwise():
    assert datasets.info("codrna") is datasets.info("cod-rna")


def test_unknown_name_lists_what_there_is():
    with pytest.raises(ValueError, match=r"'leter' is not one of german, .*did you mean 'letter'"):
        datasets.info("leter")


# ---- the real data -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in PAPER_ROWS if n not in ("a9a", "ijcnn1", "w7a")])
def test_the_papers_rows(real_data, name):
    data = datasets.load(name)
    entry = datasets.info(name)
    assert data.complete
    assert data.X.shape == (PAPER_ROWS[name], entry.n_features)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    if entry.task == "regression":
        assert (data.y.min(), data.y.max()) == (0.0, 1.0)
    else:
        assert len(data.classes) == entry.n_classes
    if entry.scaling != "none":
        low = 0.0 if entry.scaling == "minmax" else -1.0
        assert (data.X.min(), data.X.max()) == (low, 1.0)


@pytest.mark.parametrize("name", ["a9a", "ijcnn1", "w7a"])
def test_the_papers_rows_of_wide_sets(real_data, name):
    entry = datasets.info(name)
    split = pq.read_table(datasets.path(name), columns=["split"])["split"].to_pylist()
    n = len(split) if entry.subset == "all" else split.count(entry.subset)
    assert n == PAPER_ROWS[name]


def test_a_part_of_the_rows_is_said(real_data):
    assert not datasets.load("cod-rna", dtype="float32").complete


def test_binary_labels_are_minus_one_and_one(real_data):
    assert datasets.load("german").classes.tolist() == [-1, 1]


# ---- loading -------------------------------------------------------------------------------------


def _write(folder, name="toy", **columns):
    default = {"f0": [0.0, 5.0, 10.0], "f1": [2.0, 2.0, 2.0], "y": [-1, 1, 1]}
    pq.write_table(pa.table({**default, **columns}), folder / f"{name}.parquet")


@pytest.mark.parametrize(
    ("scaling", "first", "constant"),
    [
        ("none", [0, 5, 10], 2),
        ("minmax", [0, 0.5, 1], 0),
        ("unit", [0, 0.5, 1], 0),
        ("symmetric", [-1, 0, 1], -1),
    ],
)
def test_scaling(empty, toy, scaling, first, constant):
    _write(empty)
    data = datasets.load("toy", scaling=scaling, dtype="float32")
    assert data.X[:, 0].tolist() == first
    assert data.X[:, 1].tolist() == [constant] * 3
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert not data.complete


@pytest.fixture
def flights(empty, monkeypatch):
    """Four flights with their times; the target is minutes late, or late or not."""
    for name, task, above in (("minutes", "regression", None), ("late", "binary", 15.0)):
        entry = Entry(
            name, task, 4, 2, 2 * (task == "binary"), "all", "unit", None, "nowhere",
            files=("flights.parquet",), above=above, time=("day", "hour"),
        )  # fmt: skip
        monkeypatch.setitem(DATASETS, name, entry)
    columns = {"hour": [9, 8, 8, 7], "day": [1, 2, 1, 2], "y": [16.0, 15.0, -3.0, 40.0]}
    pq.write_table(pa.table(columns), empty / "flights.parquet")


def test_time_order(flights):
    rows = datasets.load("minutes", order="time", scaling="none")
    assert rows.X.tolist() == [[8, 1], [9, 1], [7, 2], [8, 2]]
    assert rows.y.tolist() == [-3, 16, 40, 15]
    assert datasets.load("minutes").y.tolist() == [16, 15, -3, 40]


def test_classes_made_of_a_number(flights):
    assert datasets.load("late").y.tolist() == [1, -1, -1, 1]
    assert datasets.load("late").classes.tolist() == [-1, 1]


def test_units_are_of_the_features_alone(flights):
    rows = datasets.load("minutes")
    assert (rows.scaling, rows.y.max()) == ("unit", 40)
    assert rows.X[:, 0].tolist() == [1, 0.5, 0.5, 0]


def test_no_time_no_order(empty, toy):
    _write(empty)
    with pytest.raises(ValueError, match="order='time': the rows of toy don't say when"):
        datasets.load("toy", order="time")


def test_subset(empty, toy):
    _write(empty, split=["train", "test", "train"])
    assert datasets.load("toy").y.tolist() == [-1, 1]
    assert datasets.load("toy", subset="all").y.tolist() == [-1, 1, 1]
    assert datasets.load("toy", subset="test").y.tolist() == [1]


@pytest.mark.parametrize("argument", ["subset", "scaling", "order"])
def test_wrong_choice(empty, toy, argument):
    _write(empty)
    with pytest.raises(ValueError, match=rf"{argument}='half' must be one of"):
        datasets.load("toy", **{argument: "half"})


def test_own_folder_comes_before_the_cache(empty, toy):
    own, cache = datasets.folders()
    assert own == empty
    cache.mkdir(parents=True)
    _write(cache)
    assert datasets.path("toy").parent == cache
    _write(own)
    assert datasets.path("toy").parent == own
    assert toy.local


def test_absent_set_says_how_to_get_it(empty, toy):
    with pytest.raises(FileNotFoundError, match="get it with 'onkel datasets fetch toy'"):
        datasets.load("toy")
    with pytest.raises(FileNotFoundError, match="UCI repository: Statlog German credit"):
        datasets.fetch("german")
    assert not toy.local


def test_a_file_that_is_no_data_set(empty, toy):
    (empty / "toy.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(DataError, match=r"toy\.parquet: not a readable Parquet file"):
        datasets.load("toy")
    pq.write_table(pa.table({"f0": [1.0], "y": [1]}), empty / "toy.parquet")
    with pytest.raises(DataError, match="no column 'f1'; toy has 2 features"):
        datasets.load("toy")
    _write(empty, split=["test"] * 3)
    with pytest.raises(DataError, match="no rows of the split 'train'"):
        datasets.load("toy")


# ---- fetching ------------------------------------------------------------------------------------


def test_fetch_writes_what_load_reads(empty, toy, openml):
    file = datasets.fetch("toy")
    assert file == empty / "toy.parquet"
    assert openml.calls == [{"name": "toy", "version": 3, "as_frame": False, "parser": "auto"}]
    data = datasets.load("toy", subset="all", scaling="none")
    assert data.X.tolist() == [[0, 5], [1, 5], [2, 7], [3, 5], [4, 5], [5, 5]]
    assert data.y.tolist() == [-1, 1, -1, 1, 1, -1]
    assert data.complete
    assert len(datasets.load("toy").y) == 4
    assert [p.name for p in empty.iterdir()] == ["toy.parquet"]


def test_fetch_names_what_a_file_needs_and_checks_it(empty, toy):
    needs = "1,000 rows; columns f0, ..., f23, and y with 2 classes"
    with pytest.raises(FileNotFoundError, match=re.escape(needs)):
        datasets.fetch("german")
    _write(empty)
    assert datasets.fetch("toy") == empty / "toy.parquet"
    _write(empty, y=[1, 2, 3])
    with pytest.raises(DataError, match="3 rows of 2 features, 3 classes; toy has 6 rows; columns"):
        datasets.fetch("toy")


def test_a_folder_that_a_program_brings_is_searched_last(empty, toy, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    _write(more)
    datasets.add_folder(more)
    datasets.add_folder(more)
    assert datasets.folders()[-1] == more
    assert datasets.path("toy").parent == more
    _write(empty)
    assert datasets.path("toy").parent == empty


def test_only_a_clone_has_a_folder_of_small_sets(tmp_path):
    package = tmp_path / "src" / "onkel"
    assert _of_a_clone(package) == []
    (tmp_path / "papers" / "data").mkdir(parents=True)
    assert _of_a_clone(package) == [tmp_path / "papers" / "data"]
    assert _of_a_clone(tmp_path / "site-packages" / "onkel") == []


def test_fetch_downloads_once(empty, toy, openml):
    first = datasets.fetch("toy")
    assert datasets.fetch("toy") == first
    assert len(openml.calls) == 1
    datasets.fetch("toy", force=True)
    assert len(openml.calls) == 2


def test_fetch_takes_sparse_rows(empty, toy, openml):
    from scipy.sparse import csr_matrix

    openml.answer.data = csr_matrix(openml.answer.data)
    datasets.fetch("toy")
    assert datasets.load("toy", scaling="none").X[:, 0].tolist() == [0, 1, 2, 3]


def test_fetch_refuses_other_rows(empty, toy, openml):
    openml.answer.data = openml.answer.data[:5]
    with pytest.raises(DataError, match="5 rows of 2 features; toy has 6 rows of 2"):
        datasets.fetch("toy")
    assert list(empty.iterdir()) == []


def test_fetch_refuses_other_classes(empty, toy, openml):
    openml.answer.target[0] = "perhaps"
    with pytest.raises(DataError, match="3 classes; toy has 2"):
        datasets.fetch("toy")
    assert list(empty.iterdir()) == []


def test_fetch_without_a_network(empty, toy, monkeypatch):
    def fetch_openml(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    with pytest.raises(OSError, match=r"'toy': OpenML can't be reached \(no route to host\)"):
        datasets.fetch("toy")


def test_a_broken_write_leaves_nothing(empty, toy, openml, monkeypatch):
    def write_table(table, where, **_):
        where.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", write_table)
    with pytest.raises(OSError, match="disk full"):
        datasets.fetch("toy")
    assert list(empty.iterdir()) == []


def test_labels_become_numbers(empty, monkeypatch, openml):
    entry = Entry("toy", "multiclass", 6, 3, 3, "all", "none", OpenML(7), "nowhere")
    monkeypatch.setitem(DATASETS, "toy", entry)
    openml.answer.target = np.array(list("CABBCA"), dtype=object)
    datasets.fetch("toy")
    assert datasets.load("toy").y.tolist() == [3, 1, 2, 2, 3, 1]
    openml.answer.target = np.array(list("972279"), dtype=object)
    datasets.fetch("toy", force=True)
    assert datasets.load("toy").y.tolist() == [9, 7, 2, 2, 7, 9]


def test_a_target_by_name_and_numbers(empty, monkeypatch, openml):
    source = OpenML(8, target="total", drop=("other",))
    entry = Entry("toy", "regression", 6, 2, 0, "all", "minmax", source, "nowhere")
    monkeypatch.setitem(DATASETS, "toy", entry)
    openml.answer.target = np.arange(6.0)
    datasets.fetch("toy")
    assert openml.calls[0]["target_column"] == "total"
    assert datasets.load("toy").y.tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


# ---- the command line ----------------------------------------------------------------------------


def test_command_line(empty, toy, openml):
    run = CliRunner()
    fetched = run.invoke(app, ["datasets", "fetch", "toy"])
    assert fetched.output.strip() == str(empty / "toy.parquet")
    assert run.invoke(app, ["datasets", "path", "toy"]).output == fetched.output
    listed = json.loads(run.invoke(app, ["datasets", "list", "--json"]).output)["datasets"]
    assert [e["name"] for e in listed if e["local"]] == ["toy"]
    assert "toy" in run.invoke(app, ["datasets", "list"]).output
    absent = run.invoke(app, ["datasets", "path", "letter"])
    assert absent.exit_code == 2
    assert "onkel datasets fetch letter" in absent.output
