"""Comparisons from Python, and the test behind the stars."""

from __future__ import annotations

import numpy as np
import pytest
from river.tree import HoeffdingTreeRegressor
from scipy.stats import ttest_rel
from sklearn.linear_model import SGDClassifier

import onkel
from onkel.algorithms import ALGORITHMS
from onkel.errors import DataError
from onkel.evaluation.compare import compare
from onkel.evaluation.comparison.table import holm, p_values
from onkel.evaluation.curves import line_styles
from onkel.learners import FOGDClassifier, PAClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


@pytest.mark.slow
def test_learners_of_all_kinds():
    found = compare(
        {
            "mine": FOGDClassifier(n_components=40),
            "sgd": SGDClassifier(),
            "named": "fogd",
            "pa": "pa",
        },
        (X, Y),
        runs=3,
    )
    assert [line.summary.name for line in found.table.lines] == ["mine", "sgd", "named", "pa"]
    values = [[r.value for r in found.results if r.name == n] for n in ("mine", "sgd")]
    assert len(set(values[0])) == 3
    assert max(values[0]) < 30 < min(values[1])
    # same rows, same orders: a learner alone has the same numbers
    alone = compare([PAClassifier()], (X, Y), runs=3)
    assert [r.value for r in alone.results] == [r.value for r in found.results if r.name == "pa"]
    assert found.linear == {"pa"}
    assert found.to_markdown() in repr(found)
    assert "mine" in found._repr_html_()


def test_a_regression_with_a_model_of_river(tmp_path):
    y = 100 * X[:, 0] + 1e4
    found = onkel.compare(
        ["krls", HoeffdingTreeRegressor()], (X, y), task="regression", runs=1, order="stream"
    )
    krls, tree = found.results
    assert krls.value < tree.value < np.inf
    found.report(tmp_path / "r.html")
    found.plot(tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 1000


def test_what_can_be_put_right():
    with pytest.raises(ValueError, match="order='random'"):
        compare(["pa"], (X, Y), order="random")
    with pytest.raises(ValueError, match="two learners are called 'PAClassifier'"):
        compare([PAClassifier(), PAClassifier()], (X, Y))
    with pytest.raises(ValueError, match="did you mean 'fogd'"):
        compare(["fgd"], (X, Y))
    wild = {"wild": "fogd:learning_rate=1e6"}
    with pytest.raises(DataError, match="wild, row"):
        compare(wild, (X, 100 * X[:, 0]), task="regression", runs=1)


def test_p_values_are_those_of_paired_tests_with_holm():
    found = compare(["fogd:n_components=40", "fogd:n_components=30", "pa"], (X, Y), runs=4)
    values = [
        [r.value for r in found.results if r.name == line.summary.name]
        for line in found.table.lines
    ]
    best = int(np.argmin([np.mean(v) for v in values]))
    raw = sorted(ttest_rel(values[best], v).pvalue for i, v in enumerate(values) if i != best)
    adjusted = sorted(p_values(found.results).values())
    assert adjusted == pytest.approx([min(2 * raw[0], 1), max(2 * raw[0], raw[1]), 1.0])
    assert not found.table.lines[2].among_best


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_name_looks_the_same_in_every_figure_where_its_colour_is_free():
    one = line_styles(["fogd:n_components=100", "pa", "mine"])
    two = line_styles(["another", "mine", "fogd:n_components=100"])
    assert one["mine"] == two["mine"]
    assert one["fogd:n_components=100"] == two["fogd:n_components=100"]
    many = line_styles([f"fogd:n_components={n}" for n in range(40)])
    assert len({tuple(style.values()) for style in many.values()}) == 40


def test_learners_of_one_figure_differ_in_colour():
    names = [*ALGORITHMS, *(f"fogd:n_components={n}" for n in range(5))]
    for seed in range(20):
        few = np.random.default_rng(seed).permutation(names)[:10]
        assert len({style["color"] for style in line_styles(few).values()}) == 10


def test_a_figure_of_several_runs_has_a_caption():
    figure = onkel.compare(["pa", "fogd:n_components=20"], (X, Y), runs=2).plot()
    assert "learned. Lines: means of 2 runs; bands: one standard" in figure.get_supxlabel()


def test_one_class_leaves_nothing_to_compare():
    found = onkel.compare(["pa", "fogd:n_components=20"], (X, np.full(800, "a")), runs=3)
    assert found.table.note == "only one class came, 'a': there was nothing to tell apart"
    assert not any(line.among_best for line in found.table.lines)
    low, high = found.plot().axes[0].get_ylim()
    assert (low, high) == (0.0, 1.0)


def test_one_name_is_one_learner_and_none_is_an_error():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    found = onkel.compare("pa", (X, y), runs=2)
    assert [line.summary.name for line in found.table.lines] == ["pa"]
    with pytest.raises(ValueError, match="learners: there is none"):
        onkel.compare([], (X, y))
    with pytest.raises(ValueError, match=r"FOGDRegressor \(regression\), pa \(classification\)"):
        onkel.compare([onkel.FOGDRegressor(), "pa"], (X, y))


def test_no_scored_row_leaves_nothing_to_compare():
    found = onkel.compare(["pa", "fogd:n_components=20"], (X[:1], Y[:1]), runs=3)
    assert p_values(found.results) == {}
    assert not any(line.among_best for line in found.table.lines)
    assert [line.cells[1] for line in found.table.lines] == ["-", "-"]


def test_a_p_of_one_does_not_make_the_best():
    noise = np.random.default_rng(1).integers(2, size=len(X))
    names = [f"fogd:n_components={n}" for n in (20, 30, 40, 50)]
    lines = onkel.compare(names, (X, noise), runs=3).table.lines
    assert sum(line.p == 1.0 for line in lines) > 1
    means = [line.summary.mean for line in lines]
    assert [line.cells[2] == "best" for line in lines] == [mean == min(means) for mean in means]
