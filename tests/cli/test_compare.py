"""``onkel compare``, ``algorithms``, ``demo`` and the start of it all, from the outside."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.algorithms import ALGORITHMS
from onkel.cli import app
from onkel.cli.contest import params_by_algorithm
from onkel.cli.rows import generated_stream, permuted, read_all
from onkel.errors import DataError


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def rows(tmp_path):
    """A CSV of 2 000 rows with a nonlinear class and a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    path = tmp_path / "rows.csv"
    lines = [f"{a:.6f},{b:.6f},{'late' if a * b > 0 else 'early'},{a * b:.6f}" for a, b in X]
    path.write_text("a,b,label,gap\n" + "\n".join(lines) + "\n")
    return path


def compare(rows, *args):
    result = run("compare", rows, *args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_table_says_mean_and_spread_and_marks_the_linear(rows, tmp_path):
    report = tmp_path / "r.html"
    result = run("compare", rows, "-t", "label", "--exclude", "gap", "-a", "fogd,pa", "--runs", 3,
                 "--report", report)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "pa (linear)" in result.stdout
    assert "±" in result.stdout
    assert "a seeded shuffle of all rows" in result.stderr
    assert "pa (linear)" in report.read_text()
    assert "±" in report.read_text()


def test_every_algorithm_sees_the_same_rows_in_the_same_orders(rows):
    args = ["-t", "label", "--exclude", "gap", "--runs", 2, "--seed", 5]
    alone = compare(rows, "-a", "pa", *args)
    beside = compare(rows, "-a", "fogd,pa", *args)
    values = {
        name: [r["value"] for r in beside["runs"] if r["name"] == name] for name in ("fogd", "pa")
    }
    assert values["pa"] == [r["value"] for r in alone["runs"]]
    assert values["pa"][0] != values["pa"][1]
    summary = {s["name"]: s for s in beside["summary"]}
    assert summary["pa"]["linear"]
    assert not summary["fogd"]["linear"]
    assert summary["fogd"]["mean"] == pytest.approx(np.mean(values["fogd"]))
    assert summary["fogd"]["std"] == pytest.approx(np.std(values["fogd"], ddof=1))
    assert summary["fogd"]["mean"] < summary["pa"]["mean"]


def test_a_linear_row_is_added_where_there_is_none(rows):
    result = run("compare", rows, "-t", "label", "-a", "fogd", "--runs", 1)
    assert result.exit_code == 0
    assert "pa was added" in result.stderr
    assert "pa (linear)" in result.stdout


def test_a_regression_is_compared_by_rmse(rows):
    found = compare(rows, "-t", "gap", "--exclude", "label", "-a", "fogd,pa", "--runs", 2)
    assert {s["metric"] for s in found["summary"]} == {"rmse"}
    assert all(s["lower_is_better"] for s in found["summary"])


def test_rows_that_do_not_fit_are_shuffled_in_a_buffer(tmp_path):
    path = tmp_path / "wide.csv"
    X = np.random.default_rng(0).normal(size=(3000, 100)).round(3)
    body = "\n".join(",".join(map(str, row)) + f",{int(row[0] > 0)}" for row in X)
    path.write_text(",".join(f"f{i}" for i in range(100)) + ",y\n" + body + "\n")
    found = compare(path, "-t", "y", "-a", "pa,adagrad", "--runs", 2, "--memory", 1)
    assert "buffer" in found["order"]
    assert [r["n_rows"] for r in found["runs"]] == [3000] * 4
    values = [r["value"] for r in found["runs"] if r["name"] == "pa"]
    assert values[0] != values[1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-t", "label", "-a", "fogd,zz"], "'zz'"),
        (["-t", "nothing"], "'nothing'"),
        ([], "--target"),
        (["-t", "label", "--set", "gama=1"], "did you mean 'gamma'"),
        (["-t", "label", "--set", "fog.gamma=1"], "did you mean 'fogd'"),
        (["-t", "label", "--report", "no/r.html"], "does not exist"),
    ],
)
def test_what_a_user_can_put_right(rows, args, message):
    result = run("compare", rows, *args, "--runs", 1)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_parameters_find_their_algorithms():
    given = {"n_components": 9, "fogd.gamma": 0.5}
    params = params_by_algorithm(given, ["fogd", "pa"], "classification")
    assert params == {"fogd": {"n_components": 9, "gamma": 0.5}, "pa": {}}


def test_permuted_rows_are_all_rows_once():
    X = np.arange(10_000, dtype=np.float32)[:, None]
    y = np.arange(10_000)
    blocks = list(permuted(X, y, 3))
    assert [b.start for b in blocks] == [0, 4096, 8192]
    assert sorted(np.concatenate([b.y for b in blocks]).tolist()) == y.tolist()
    assert all(np.array_equal(b.X[:, 0], b.y) for b in blocks)
    assert not np.array_equal(blocks[0].y, y[:4096])


def test_read_all_tells_what_is_missing():
    with pytest.raises(DataError, match="no rows"):
        read_all(iter([]), 1e9)
    assert read_all(generated_stream(5000), 1000) is None


def test_the_generated_stream_is_seeded_and_nonlinear():
    one, two = (list(generated_stream(10_000, seed=4)) for _ in range(2))
    assert [len(b.y) for b in one] == [4096, 4096, 1808]
    assert all(
        np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y) for a, b in zip(one, two, strict=True)
    )
    assert 0.4 < np.mean(np.concatenate([b.y for b in one])) < 0.6


def test_algorithms_lists_them_all():
    result = run("algorithms")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ALGORITHMS)
    found = json.loads(run("algorithms", "--json").stdout)
    assert [a["name"] for a in found["algorithms"]] == list(ALGORITHMS)
    assert found["default"] in ALGORITHMS


def test_demo_writes_models_reports_and_curves(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--rows", 8192, "--passes", 1, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("pa (linear)") == 2
    for name in ("digits", "generated"):
        assert f"{name}.onkel" in result.stdout
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.html").read_text()
        assert onkel.load(out / f"{name}.onkel").n_rows > 1000


def test_help_needs_no_heavy_module():
    code = (
        "import sys\n"
        "from onkel.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'sklearn', 'pyarrow', 'matplotlib', 'scipy', 'safetensors'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "compare" in done.stdout


def test_version_and_no_arguments():
    assert run("--version").stdout.strip() == f"onkel {onkel.__version__}"
    assert "learn" in run().output


def test_a_learner_that_diverges_is_named(rows):
    result = run("compare", rows, "-t", "gap", "--exclude", "label", "-a", "fogd,pa", "--runs", 1,
                 "--set", "fogd.learning_rate=50")  # fmt: skip
    assert result.exit_code == 2
    assert "error: fogd: row" in result.stderr
    assert "diverge" in result.stderr
