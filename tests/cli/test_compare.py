"""``onkel compare``, ``algorithms``, ``demo`` and ``onkel`` alone, from the outside."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.algorithms import ALGORITHMS
from onkel.cli import app
from onkel.cli.compare.job import params_by_learner
from onkel.datasets import drift_stream
from onkel.errors import DataError
from onkel.evaluation.comparison.contest import permuted, read_all


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
    assert "pa (linear)" in report.read_text("utf8")
    assert "±" in report.read_text("utf8")


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
    params = params_by_learner(given, ["fogd", "pa"], "classification")
    assert params == {"fogd": {"n_components": 9, "gamma": 0.5}, "pa": {}}


def test_permuted_rows_are_all_rows_once():
    X = np.arange(10_000, dtype=np.float32)[:, None]
    y = np.arange(10_000)
    blocks = list(permuted(X, y, 3))
    assert [b.start for b in blocks] == [0, 4096, 8192]
    assert sorted(np.concatenate([b.y for b in blocks]).tolist()) == y.tolist()
    assert all(np.array_equal(b.X[:, 0], b.y) for b in blocks)
    assert not np.array_equal(blocks[0].y, y[:4096])


def test_read_all_tells_what_is_missing(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,\n2,\n")
    for verb in ("learn", "compare", "tune"):
        result = run(verb, tmp_path / "a.csv", "-t", "y")
        assert result.exit_code == 2
        assert "a.csv, column 'y': the target is missing in all of its 2 rows" in result.stderr
    with pytest.raises(DataError, match="no rows"):
        read_all(iter([]), 1e9)
    assert read_all(drift_stream("none", 5000), 1000) is None


def test_the_generated_stream_is_seeded_and_nonlinear():
    one, two = (list(drift_stream("none", 10_000, seed=4)) for _ in range(2))
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


@pytest.mark.slow
def test_demo_writes_models_reports_and_curves(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--rows", 8192, "--passes", 1, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("pa (linear)") == 2
    for name in ("digits", "generated"):
        assert f"{name}.onkel" in result.stdout
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.html").read_text("utf8")
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
    assert re.search(r"error: fogd, row [\d,]+ \(counted from 1\): ", result.stderr)
    assert "diverge" in result.stderr


# ---- settings, rivals, orders, forms ---------------------------------------------------------


def test_two_settings_of_one_algorithm_and_names_given_twice(rows):
    found = compare(rows, "-t", "label", "--exclude", "gap", "--runs", 1, "--algorithms", "fogd",
                    "-a", "fogd:n_components=20:gamma=1/2,pa", "--set", "fogd.learning_rate=0.1",
                    "--set", "n_components=50")  # fmt: skip
    settings = {r["name"]: r["settings"] for r in found["runs"]}
    assert list(settings) == ["fogd", "fogd:n_components=20:gamma=1/2", "pa"]
    one, two, _ = settings.values()
    assert (one["n_components"], two["n_components"], two["gamma"]) == (50, 20, 0.5)
    assert one["learning_rate"] == two["learning_rate"] == 0.1


def test_rivals_of_other_libraries_see_the_same_rows(rows):
    found = compare(rows, "-t", "label", "--exclude", "gap", "-a", "krls,pa", "--runs", 1,
                    "--limit", 600,
                    "--rival", "sklearn.linear_model:SGDClassifier:alpha=0.01",
                    "--rival", "river.tree:HoeffdingTreeClassifier")  # fmt: skip
    scores = {r["name"]: r for r in found["runs"]}
    assert list(scores)[2:] == ["SGDClassifier:alpha=0.01", "HoeffdingTreeClassifier"]
    assert {r["n_rows"] for r in scores.values()} == {600}
    assert scores["krls"]["value"] < scores["SGDClassifier:alpha=0.01"]["value"] < 60
    found = compare(rows, "-t", "gap", "--exclude", "label", "-a", "pa", "--runs", 1, "--limit",
                    300, "--rival", "river.linear_model:LinearRegression")  # fmt: skip
    assert found["runs"][1]["metric"] == "rmse"


@pytest.mark.slow
def test_rivals_learn_text_whose_values_come_one_by_one(tmp_path):
    rng = np.random.default_rng(0)
    months = rng.integers(12, size=600)
    label = np.array(["low", "middle", "high"])[months % 3]
    lines = [
        f"m{m},{x:.2f},{y}" for m, x, y in zip(months, rng.normal(size=600), label, strict=True)
    ]
    path = tmp_path / "months.csv"
    path.write_text("\n".join(["month,x,y", *lines, ""]))
    found = compare(path, "-t", "y", "-a", "pa", "--runs", 1,
                    "--rival", "sklearn.linear_model:SGDClassifier",
                    "--rival", "river.tree:HoeffdingTreeClassifier")  # fmt: skip
    values = {r["name"]: r["value"] for r in found["runs"]}
    assert values["SGDClassifier"] < 20
    assert values["HoeffdingTreeClassifier"] < 50


def test_the_order_of_the_stream(rows):
    args = ["-t", "label", "--exclude", "gap", "-a", "pa", "--order", "stream", "--runs", 2]
    found = compare(rows, *args)
    assert found["order"] == "that of the stream"
    values = {r["value"] for r in found["runs"]}
    assert len(values) == 1
    learned = json.loads(
        run("learn", rows, "-t", "label", "--exclude", "gap", "-a", "pa", "--json").stdout
    )
    assert values == {learned["value"]}


def test_forms_of_the_table_and_a_figure(rows, tmp_path):
    args = ["compare", rows, "-t", "label", "--exclude", "gap", "-a", "fogd:n_components=30,pa"]
    figure = tmp_path / "c.svg"
    shown = run(*args, "--runs", 3, "--table", "markdown", "--figure", figure)
    assert shown.exit_code == 0, shown.stderr
    first, rule, fogd, pa = shown.stdout.splitlines()
    assert first.startswith("| learner | mistakes ↓ | p |")
    assert rule.startswith("| --- | ---: |")
    assert " % * | best |" in fogd
    assert " % |" in pa  # no star: a linear learner cannot learn this
    assert figure.read_text("utf8").lstrip().startswith("<?xml")
    table = run(*args, "--runs", 2, "--table", "csv").stdout.splitlines()
    assert table[0].startswith("learner,metric,mean,std,runs,n_rows")
    assert [line.split(",")[0] for line in table[1:]] == ["fogd:n_components=30", "pa"]
    latex = run(*args, "--runs", 2, "--table", "latex").stdout
    assert "fogd:n\\_components=30" in latex
    assert "$\\pm$" in latex
    assert latex.count("\\\\") == 3


def test_stars_survive_a_pipe(rows):
    shown = run("compare", rows, "-t", "label", "--exclude", "gap", "-a", "krls,pa", "--runs", 3)
    starred = [line for line in shown.stdout.splitlines() if " *" in line]
    assert len(starred) == 1
    assert "krls" in starred[0]
    assert "Holm" in shown.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-a", "fogd:n_component=3"], "did you mean 'n_components'"),
        (["-a", "fogd:3:4"], "write settings as name=value after a colon"),
        (["--rival", "nosuch.module:Thing"], "is it installed?"),
        (["--rival", "sklearn.linear_model:Nothing"], "sklearn.linear_model has no Nothing"),
        (["--rival", "sklearn.cluster:DBSCAN"], "partial_fit and predict, or River's"),
        (["--figure", "c.txt"], "must end in .png, .svg or .pdf"),
    ],
)
def test_what_is_wrong_with_a_rival_or_a_setting(rows, args, message):
    result = run("compare", rows, "-t", "label", "--runs", 1, *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_ctrl_c_keeps_the_runs_that_are_finished(rows, monkeypatch):
    import signal

    from onkel.evaluation.comparison.contest import Contest

    of_one = Contest._run_one

    def stopped(self, *of):
        if len(self.results) == 2:
            signal.raise_signal(signal.SIGINT)
        return of_one(self, *of)

    monkeypatch.setattr(Contest, "_run_one", stopped)
    result = run("compare", rows, "-t", "label", "--exclude", "gap", "-a", "fogd,pa", "--runs", 2)
    assert result.exit_code == 130
    assert "interrupted: 2 of 4 runs are finished" in result.stderr
    assert "fogd" in result.stdout
    assert "pa" not in result.stdout


@pytest.mark.parametrize("memory", [[], ["--memory", 1]])
def test_labels_that_look_like_numbers_at_first_are_classes_if_asked(tmp_path, memory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000 if memory else 9000, 3))
    labels = np.where(X[:, 0] * X[:, 1] > 0, "1", "2").astype(object)
    labels[8500:][X[8500:, 0] > 1] = "x"
    path = tmp_path / "rows.csv"
    lines = [",".join(map(repr, row)) + f",{y}" for row, y in zip(X.tolist(), labels, strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    args = ["-t", "y", "-a", "pa", "--runs", 1, "--task", "classification", "--order", "stream"]
    found = compare(path, *args, *memory)
    assert [one["name"] for one in found["runs"]] == ["pa"]
    assert found["task"] == "classification"


def shown(report):
    """The settings in a report: name and value."""
    text = html.unescape(report.read_text())
    cells = re.findall(
        r"<td[^>]*>(.*?)</td>|<th[^>]*>(.*?)</th>", text[text.index("Settings</h2>") :]
    )
    cells = [re.sub("<[^>]+>", "", a or b) for a, b in cells]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_a_report_shows_the_settings_that_were_chosen_or_can_be(rows, tmp_path):
    report = tmp_path / "r.html"
    rivals = "--rival", "sklearn.linear_model:Perceptron:alpha=0.001"
    result = run("compare", rows, "-t", "label", "--exclude", "gap", "-a", "pa:C=0.5", *rivals,
                 "--runs", 2, "--limit", 100, "--no-statistics", "--report", report)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    found = shown(report)
    of_rival = found.pop("Perceptron:alpha=0.001")
    assert found == {
        "source": str(rows), "target": "label", "exclude": "gap", "statistics": "False",
        "scaling": "auto", "seed of the first run": "0",
        "pa:C=0.5": "C=0.5, average=False, dtype=float32, feedback=False, fit_intercept=True, "
                    "loss=hinge, variant=PA-I",
    }  # fmt: skip
    assert of_rival.startswith("alpha=0.001, early_stopping=False")
    result = run("learn", rows, "-t", "label", "-a", "pa", "--report", report)
    assert result.exit_code == 0, result.stderr
    names = "source", "target", "algorithm", "scaling", "seed", "task", "parameters"
    assert tuple(shown(report)) == names
