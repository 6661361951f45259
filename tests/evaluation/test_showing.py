"""Figures, reports, progress: what they show, and when they stay silent."""

from __future__ import annotations

import html.parser
import io
import re
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from rich.console import Console

from onkel.algorithms import ALGORITHMS
from onkel.evaluation import curves as figure_module
from onkel.evaluation import prequential, write_html
from onkel.evaluation.comparison.table import best, summarize
from onkel.evaluation.curves import line_styles, mean_curve, plot, to_svg
from onkel.evaluation.formatting import bytes_text, duration, short
from onkel.evaluation.pictures import importance_picture
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.time_left import TimeLeft
from onkel.learners import (
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    PAClassifier,
    PARegressor,
)
from onkel.model.contract import WorkOfFits
from onkel.numerics import notices

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 3))


def classify(name="pa", seed=0, loss="hinge"):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=1000)
    return prequential(PAClassifier(), (X, X[:, 0] + noise > 0), name=name, settings={"seed": seed})


def regress():
    return prequential(PARegressor(), (X, 1e5 * X[:, 0]), name="pa")


class Page(html.parser.HTMLParser):
    """A parser that checks that every tag is closed, and keeps text and links."""

    void = frozenset({"meta", "br", "path", "use"})

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.words = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page(results, path, **kwargs):
    write_html(results, path, **kwargs)
    return Page(path.read_text(encoding="utf-8"))


def test_a_report_of_one_run(tmp_path):
    found = page(
        classify(), tmp_path / "r.html", title="a <b> & c", lead="<i>lead", notes=["<script>"]
    )
    text = " ".join(found.words)
    for part in ("a <b> & c", "<i>lead", "<script>", "mistakes", "Progress", "Settings", "seed",
                 "onkel 0", "numpy", "numba"):  # fmt: skip
        assert part in text
    assert all(link.startswith(("#", "xlink:")) for link in found.links)  # nothing external


def test_a_report_of_permutations(tmp_path):
    runs = [classify("one", s) for s in range(3)] + [classify("two", s) for s in range(3, 6)]
    text = " ".join(page(runs, tmp_path / "r.html", linear=["two"]).words)
    assert re.search(r"\d+\.\d\d ± \d+\.\d\d %", text)
    assert "two (linear)" in text
    assert "one standard deviation over the permutations" in text


def test_a_report_of_a_regression_speaks_of_rmse(tmp_path):
    text = " ".join(page(regress(), tmp_path / "r.html").words)
    assert "RMSE" in text
    assert "MAE" in text
    assert "mistakes" not in text


def test_a_report_needs_a_run(tmp_path):
    with pytest.raises(ValueError, match="at least one"):
        write_html([], tmp_path / "r.html")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written(tmp_path, ending):
    path = tmp_path / f"c.{ending}"
    figure = classify().plot(path)
    assert path.stat().st_size > 1000
    assert "lower is better" in figure.axes[0].get_ylabel()


def test_a_figure_of_several(tmp_path):
    figure = plot([classify("one"), classify("two", 1), classify("two", 2)], title="t")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["one", "two"]
    assert to_svg(figure).startswith("<svg")
    with pytest.raises(ValueError, match="same task"):
        plot([classify(), regress()])
    with pytest.raises(ValueError, match="one or more"):
        plot([])


def test_every_algorithm_can_be_told_apart():
    """A name always has the same colour, line and marker, whatever else is in the figure."""
    styles = line_styles(ALGORITHMS)
    assert len({tuple(style.values()) for style in styles.values()}) == len(ALGORITHMS)
    for names in (["pa", "okl"], ["mine", "krls", "pa"], ["pa"]):
        some = line_styles(names)
        assert some["pa"] == styles["pa"]
        assert len({tuple(style.values()) for style in some.values()}) == len(names)


def test_the_legend_stands_beside_the_curves():
    figure = plot([classify(name) for name in list(ALGORITHMS)[:12]])
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= figure.axes[0].get_window_extent().x1
    lines = figure.axes[0].get_lines()
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 12


def test_the_band_is_the_sample_standard_deviation():
    runs = [classify("one", seed) for seed in range(3)]
    curve = mean_curve(runs)
    values = [[r.metrics["mistakes"] for r in run.curve if r.n_rows >= 16] for run in runs]
    np.testing.assert_allclose(curve.std, np.std(values, axis=0, ddof=1))


def test_a_report_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "r.html"
    write_html(classify(), path)
    before = path.read_bytes()
    broken = classify()
    broken.settings = {"name": "\ud800"}  # cannot be encoded
    with pytest.raises(UnicodeEncodeError):
        write_html(broken, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_evaluation_is_imported_in_one_direction():
    """Figures import no results, and evaluation never imports the command line."""
    folder = Path(figure_module.__file__).parent
    for path in folder.rglob("*.py"):
        assert "onkel.cli" not in path.read_text(encoding="utf-8")
    for name in ("curves.py", "pictures.py"):
        assert "evaluation.result" not in (folder / name).read_text(encoding="utf-8")


def test_summaries():
    runs = [classify("one", s) for s in range(4)] + [classify("two", 9)]
    one, two = summarize(runs)
    assert one.mean == pytest.approx(np.mean([r.value for r in runs[:4]]))
    assert one.std == pytest.approx(np.std([r.value for r in runs[:4]], ddof=1))
    assert (one.runs, two.runs) == (4, 1)
    assert "±" in one.score
    assert "±" not in two.score
    assert best([one]) == set()
    assert best([one, two]) <= {"one", "two"}


def console(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=80)


def test_progress_is_silent_where_there_is_no_terminal():
    quiet = console(False)
    with RunProgress(quiet, "pa") as progress:
        prequential(PAClassifier(), (X, X[:, 0] > 0), progress=progress)
    assert quiet.file.getvalue() == ""


def test_progress_shows_bar_and_table_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    loud = console(True)
    with RunProgress(loud, "pa", total=1000) as progress:
        prequential(PAClassifier(), (X, X[:, 0] > 0), progress=progress)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", loud.file.getvalue())
    assert "average loss" in text
    assert "1,000 rows" in text
    assert "rows/s" in text


def test_a_table_on_demand_with_rmse_for_regressions():
    output = console(False)
    with RunProgress(output, "pa", table=True) as progress:
        prequential(PARegressor(), (X, X[:, 0]), progress=progress)
    lines = output.file.getvalue().splitlines()
    assert lines[0].split() == ["rows", "average", "loss", "since", "last", "RMSE", "rows/s"]
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) < 80


def test_the_length_is_estimated_from_the_share_read():
    progress = RunProgress(console(False), "pa", fraction=lambda: 0.25)
    assert progress._total(100) == 400
    assert RunProgress(console(False), "pa", fraction=lambda: None)._total(100) is None


def test_the_time_left_knows_rows():
    left = TimeLeft()
    left.begin(0.0, 0, 0.0)
    assert left.after(0.0, 0, 10_000, WorkOfFits(0.0, 0.0)) is None
    assert left.after(2.0, 2000, 10_000, WorkOfFits(0.0, 0.0)) == pytest.approx(8.0)
    assert left.after(3.0, 3000, None, WorkOfFits(0.0, 0.0)) is None
    # slower since: the last ten seconds count
    for second in range(3, 15):
        left.after(1.0 + second, 3000 + 10 * second, 10_000, WorkOfFits(0.0, 0.0))
    assert left.after(16.0, 3150, 10_000, WorkOfFits(0.0, 0.0)) == pytest.approx(685.0)


def after_a_first_block(rows=0, work=0.0, to_come=40.0):
    """A second for 1 000 rows, and a minute for small fits, which say nothing of large ones."""
    left = TimeLeft()
    left.begin(0.0, rows, work)
    left.fitted(60.0)
    assert left.after(61.0, rows + 1000, 10_000, WorkOfFits(work + 1.0, to_come)) is None
    return left


def test_the_time_left_carries_the_speed_of_searches_forward():
    left = after_a_first_block()
    # a search took a minute; three of its size are to come
    left.fitted(60.0)
    assert left.after(122.0, 2000, 10_000, WorkOfFits(11.0, 30.0)) == pytest.approx(8.0 + 3 * 60.0)
    # half as fast from here: 120 + 60 seconds for 20 units of work
    left.fitted(120.0)
    assert left.after(243.0, 3000, 10_000, WorkOfFits(21.0, 20.0)) == pytest.approx(7.0 + 20 * 9.0)
    # another model takes over, whose own work counts from 0
    left.fitted(9.0)
    assert left.after(253.0, 4000, 10_000, WorkOfFits(1.0, 2.0)) == pytest.approx(6.0 + 2 * 9.0)


def test_the_last_fit_takes_what_the_slowest_large_one_took():
    left = after_a_first_block()
    # small ones are slow, and a search that promises nothing ends early
    for k, (seconds, work) in enumerate(((3.0, 2.0), (20.0, 12.0), (1.0, 32.0)), 2):
        left.fitted(seconds)
        now, of_fits = left._fitting + k, WorkOfFits(work, 40.0, 100.0)
        left_over = left.after(now, 1000 * k, 10_000, of_fits, True)
    assert left_over == pytest.approx(6.0 + 40 * 24 / 31 + 100 * 2.0)


def test_a_model_that_is_continued_had_its_fits_before():
    left = after_a_first_block(rows=6000, work=1000.0)
    left.fitted(5.0)
    assert left.after(67.0, 8000, 10_000, WorkOfFits(1006.0, 5.0)) == pytest.approx(2.0 + 5.0)


def test_the_work_of_the_default_s_fits_is_known_beforehand():
    rng = np.random.default_rng(1)
    model = OnlineKernelClassifier(n_components=40)
    assert model.work_of_fits(1000) == (0.0, 0.0, 0.0)
    many = rng.normal(size=(5000, 3))
    model.partial_fit(many[:1100], many[:1100, 0] > 0)
    done, to_come, last = model.work_of_fits(3900)
    assert min(done, to_come, last) > 0
    assert model.work_of_fits(3900) == (done, to_come, last)
    # while the next search is being made, its share counts as done
    model.partial_fit(many[1100:4080], many[1100:4080, 0] > 0)
    later, rest, again = model.work_of_fits(920)
    assert done < later < done + to_come
    assert later + rest == pytest.approx(done + to_come)
    assert again == last
    assert PAClassifier().fit(X, X[:, 0] > 0).work_of_fits(1000) == (0.0, 0.0, 0.0)


def test_what_goes_on_in_parts_is_told_once_with_all_its_seconds(monkeypatch):
    clock = iter([0.0, 2.0, 10.0, 13.0, 20.0, 20.5])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    loud = console(False)
    progress = RunProgress(loud, "okl", table=True)
    for end in (progress.pause, progress.pause, lambda: progress.busy(None)):
        progress.busy("searching, fitted to 4,096 rows")
        end()
    assert loud.file.getvalue() == "searching, fitted to 4,096 rows took 5.5 s\n"


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_bar_stays_on_one_line(width):
    output = Console(file=io.StringIO(), force_terminal=True, width=width, height=20)
    with RunProgress(output, "okl", total=10**6) as progress:
        progress.busy("searching landmarks and widths, fitted to 65,536 rows")
        progress._bar.update(
            progress._task, completed=97_775, error="mistakes 14.75 %", speed="1.08k rows/s",
            ends=time.perf_counter() + 100.0,
        )  # fmt: skip
        table = progress._bar.make_tasks_table(progress._bar.tasks)
        lines = output.render_lines(table)
        shown = "".join(segment.text for segment in lines[0])
        (drawn,) = output.render_lines(progress._bar.get_renderable(), pad=False)
    # behind it a terminal writes ^C
    assert sum(segment.cell_length for segment in drawn) <= width - 2
    assert len(lines) == 1
    assert "okl" in shown
    assert ("fitted to 65,536 rows" in shown) == (width >= 130)
    assert "97,775 rows" in shown
    assert "left" in shown


def test_a_last_fit_says_how_long_it_still_takes(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    bar = RunProgress(console(True), "okl", total=100)
    with bar:
        bar.busy("searching, fitted to all 100 rows kept")
        texts = []
        for now[0], share in ((100.5, 0.01), (110.0, 0.25), (130.0, 0.5), (190.0, 0.9)):
            bar.reached(share)
            texts.append(bar._bar.columns[-1].render(bar._bar.tasks[0]).plain)
    assert texts == ["", "30 s left", "30 s left", "10 s left"]


def test_the_last_fit_tells_the_share_that_is_done():
    rng = np.random.default_rng(1)

    class Listener:
        shares: ClassVar[list[float]] = []

        def say(self, text):
            return False

        def busy(self, text):
            pass

        def pause(self):
            pass

        def reached(self, share):
            self.shares.append(share)

    many = rng.normal(size=(1500, 3))
    model = OnlineKernelRegressor(n_components=20).partial_fit(many, np.sin(3 * many[:, 0]))
    with notices.heard_by(Listener()):
        model.consolidate()
    shares = Listener.shares
    assert shares == sorted(shares)
    assert 0.0 < shares[0] < 0.2
    assert 0.5 < shares[-1] <= 1.0
    assert len(shares) > 20


def test_the_bar_counts_down_while_a_block_takes_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    bar = RunProgress(console(True), "pa", total=100)
    with bar:
        bar._bar.update(bar._task, ends=100.0)
        texts = []
        for now[0] in (0.0, 30.0, 99.9, 200.0):
            texts.append(bar._bar.columns[-1].render(bar._bar.tasks[0]).plain)
    assert texts == ["1 min 40 s left", "1 min 10 s left", "", ""]


def test_compiling_is_named_in_the_table(monkeypatch):
    seconds = iter([0.0, 5.0])
    monkeypatch.setattr("onkel.evaluation.progress.compile_seconds", lambda: next(seconds))
    clock = iter([100.0, 107.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    loud = console(False)
    progress = RunProgress(loud, "pa", table=True)
    progress.busy("fitting to 1 rows")
    progress.busy(None)
    assert loud.file.getvalue() == "compiling took 5.0 s\nfitting to 1 rows took 2.0 s\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7.25, "7.25"), (999, "999"), (1000, "1k"), (999_900, "1M"), (2.5e9, "2.5G"),
     (float("nan"), "-")],
)  # fmt: skip
def test_short(value, text):
    assert short(value) == text


def test_units():
    assert bytes_text(68) == "68 B"
    assert bytes_text(3.2e9) == "3.2 GB"
    assert duration(3.14159) == "3.1 s"
    assert duration(3725) == "62 min 05 s"


def test_the_picture_of_importance_drops_no_column():
    shares = np.arange(30.0)[::-1] / np.arange(30.0).sum()
    figure = importance_picture([f"c{k}" for k in range(30)], shares)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [f"c{k}" for k in range(20)] + ["10 other columns"]
    drawn = sum(bar.get_width() for bar in figure.axes[0].patches)
    assert drawn == pytest.approx(100.0)
