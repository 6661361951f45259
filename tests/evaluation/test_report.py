"""Reports: what they show of a run, and that a browser opens them without errors."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from onkel import OnlineKernelClassifier
from onkel.cli import app
from onkel.evaluation import prequential, write_html
from onkel.evaluation.curves import to_svg
from onkel.evaluation.pictures import confusion_picture, windows_picture
from onkel.evaluation.run_summary import sentences, tiles
from onkel.learners import PAClassifier, PARegressor
from onkel.pipeline import StreamModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))


@pytest.fixture
def source(tmp_path):
    """A file with an awkward name, a text column, three classes and a number."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=["wind", "fee in $", "<b>"])
    frame["place"] = np.where(rng.random(3000) < 0.5, "north", "south")
    frame["label"] = np.digitize(X[:, 0] + 0.2 * rng.normal(size=3000), [-0.5, 0.5])
    frame["value"] = 50 * X[:, 0] + rng.normal(size=3000)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def learn(source, target, report, *args):
    other = {"label", "value"} - {target}
    given = ["learn", source, "-t", target, "--exclude", *other, "--report", report, *args]
    result = CliRunner().invoke(app, [str(arg) for arg in given])
    assert result.exit_code == 0, result.stderr
    return report.read_text(encoding="utf-8")


def headings(page):
    return re.findall(r"<h2>(.*?)</h2>", page)


def test_a_report_of_classes(source, tmp_path):
    args = ["-a", "fogd", "--set", "loss=logistic"]
    page = learn(source, "label", tmp_path / "r.html", *args)
    assert headings(page) == [
        "Learning curve", "Score and baselines", "Confusion", "Calibration",
        "What moves the predictions", "Columns", "Progress", "Settings",
    ]  # fmt: skip
    assert page.count("<svg") == 4
    assert "&lt;b&gt;" in page
    assert "<b>" not in page.replace('<div class="tile"><b>', "")
    assert re.search(r"avoids \d+ % of the mistakes of the baseline \(majority\)", page)
    assert "What moves the predictions most: wind" in page


def test_the_table_of_columns_has_what_was_left_out_and_no_empty_column(source, tmp_path):
    frame = pd.read_csv(source).assign(row=np.arange(3000))
    frame.to_csv(source, index=False)
    page = learn(source, "label", tmp_path / "r.html", "-a", "pa")
    table = page[page.index("<h2>Columns</h2>") : page.index("<h2>Progress</h2>")]
    assert re.findall(r"<th>(.*?)</th>", table) == [
        "name", "kind", "categories", "importance", "became",
    ]  # fmt: skip
    assert "left out: counts the rows (--keep-columns to use it)" in table


def test_a_report_of_values(source, tmp_path):
    page = learn(source, "value", tmp_path / "r.html", "-a", "pa")
    assert "Predicted and true" in headings(page)
    assert "Confusion" not in headings(page)
    assert "R²" in page


def test_lines_of_progress_have_rows_a_second_of_their_own(source, tmp_path):
    page = learn(source, "label", tmp_path / "r.html", "-a", "krls")
    table = page[page.index("<h2>Progress</h2>") :]
    lines = [re.findall(r"<td>(.*?)</td>", line) for line in re.findall(r"<tr>(.*?)</tr>", table)]
    speeds = [cells[3] for cells in lines if len(cells) == 5]
    assert len(set(speeds[-4:])) > 1


@pytest.mark.slow
def test_changes_are_marked(tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(5000, 2))
    y = (Z[:, 0] * Z[:, 1] > 0) ^ (np.arange(5000) >= 3000)
    model = StreamModel(OnlineKernelClassifier(n_components=40, speed="fast", memory=False))
    run = prequential(model, (Z, y))
    (change,) = model.changes_
    assert 3000 < change < 4000
    write_html(run, tmp_path / "r.html", model=model)
    assert f"restarted after row {change:,}" in (tmp_path / "r.html").read_text("utf8")


def test_a_learner_below_its_baseline_is_said_to_be():
    rng = np.random.default_rng(1)
    walk = np.cumsum(rng.normal(size=3000))
    run = prequential(PARegressor(), (X, walk), name="pa")
    first, *_ = sentences(run, [], [])
    assert first.startswith("pa is worse than its baseline, the last value: RMSE")
    assert "baseline: last value" in [what for _, what in tiles(run)]


def test_the_trend_tells_the_last_quarter():
    y = np.where(np.arange(3000) < 2250, X[:, 0] > 0, X[:, 0] < 0)
    text = " ".join(sentences(prequential(PAClassifier(), (X, y)), [], []))
    assert re.search(r"Mistakes of the last quarter of the rows: .* %, more than in the", text)


@pytest.mark.parametrize("target", ["label", "value"])
def test_a_browser_opens_it_without_complaint(source, tmp_path, target):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium here")
    report = tmp_path / "r.html"
    learn(source, target, report, "-a", "pa")
    shot = tmp_path / "r.png"
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path}/profile", "--window-size=1000,2400",
         f"--screenshot={shot}", report.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    assert shot.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("labels", "turned"),
    [
        (["late", "early"], False),
        (["Light_Load", "Medium_Load", "Maximum_Load"], True),
        ([str(k) for k in range(10)], False),
        ([f"class {k}" for k in range(10)], True),
    ],
)
def test_labels_below_a_confusion_matrix_do_not_overlap(labels, turned):
    rows = np.eye(len(labels), dtype=int).tolist()
    figure = confusion_picture({"labels": labels, "rows": rows})
    figure.canvas.draw()
    texts = figure.axes[0].get_xticklabels()
    assert {text.get_rotation() for text in texts} == {90.0 if turned else 0.0}
    boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_report_of_predictions_says_nothing_of_learning(source, tmp_path):
    model, report = tmp_path / "m.onkel", tmp_path / "r.html"
    learn(source, "label", tmp_path / "l.html", "-a", "pa", "--save", model)
    words = ["predict", model, source, "--out", tmp_path / "p.csv", "--report", report]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    assert "learned" not in report.read_text("utf8").split("<h2>Settings")[0].split("</style>")[1]


def test_a_report_of_few_rows_has_no_empty_curve(tmp_path):
    write_html(prequential(PARegressor(), (X[:1], [1.5])), tmp_path / "one.html")
    assert "Learning curve" not in headings((tmp_path / "one.html").read_text("utf8"))
    run = prequential(PAClassifier(), (X[:3], ["p", "q", "p"]))
    figure = windows_picture(run.metric, run.details, ())
    assert {line.get_marker() for line in figure.axes[0].lines} == {"o"}
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_xticks())


@pytest.mark.parametrize(
    ("learner", "y", "said"),
    [
        (PAClassifier(), ["yes"] * 400, "Only one class came, 'yes': there was nothing to tell"),
        (PARegressor(), [0.0] * 400, "Neither the learner nor the baseline (mean) was ever wrong."),
    ],
)
def test_where_nothing_is_wrong_no_scale_and_no_share_is_made_up(learner, y, said):
    run = prequential(learner, (X[:400], y))
    assert sentences(run, [], [])[0].startswith(said)
    assert windows_picture(run.metric, run.details, ()).axes[0].get_ylim() == (0.0, 1.0)


def test_a_constant_target_has_no_r2():
    run = prequential(PARegressor(), (X[:400], [3.7] * 400))
    assert np.isnan(run.details["r2"])


def test_a_learner_that_diverged_has_a_report(tmp_path):
    run = prequential(PARegressor(), (X[:400], 50 * X[:400, 0]))
    run.details["windows"]["loss"][3:] = [np.nan] * (len(run.details["windows"]["loss"]) - 3)
    run.details["sample"]["prediction"] = [np.nan] * len(run.details["sample"]["prediction"])
    write_html(run, tmp_path / "r.html")
    assert "Predicted and true" in headings((tmp_path / "r.html").read_text("utf8"))


def test_long_classes_are_cut_where_they_differ():
    labels = [f"all of these classes begin with {i} the same" for i in range(3)] + ["other"]
    figure = confusion_picture({"labels": labels, "rows": np.eye(4, dtype=int).tolist()})
    texts = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert texts == ["… 0 the same", "… 1 the same", "… 2 the same", "other"]


def test_a_letter_that_the_font_lacks_is_left_to_the_browser():
    page = to_svg(confusion_picture({"labels": ["日本", "b"], "rows": [[1, 0], [0, 1]]}))
    assert "日本</text>" in page
