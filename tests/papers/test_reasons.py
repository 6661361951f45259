"""Each cell that is not met has a reason that was run; a search by folds is a race."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onkel import datasets
from papers import EXPERIMENTS, PAPERS, Case, Cell, Result, Rows, Search, run_cases
from papers.kept import read, results_of
from papers.measures import MEASURES
from papers.notes import notes, verdicts
from papers.registry import LAYOUTS
from papers.rows import load_rows
from papers.searches import best_settings, cases_of_search, in_reach


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """1 000 rows in two classes divided by a circle, in place of the german set."""
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    n_features = datasets.info("german").n_features
    X = np.random.default_rng(0).standard_normal((1000, n_features)).astype(np.float32)
    X[:, 2:] = 0.0
    y = np.where((X[:, :2] ** 2).sum(axis=1) > 1.4, 1, -1)
    columns = {f"f{j}": X[:, j] for j in range(n_features)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "german.parquet")
    load_rows.cache_clear()
    yield Case(
        rows=Rows("german"), algorithm="fogd", metric="accuracy", measure="split", n_runs=2,
        parameters={"n_components": 50, "gamma": 0.5}, here=True,
        search=Search({"learning_rate": (1e-12, 1.0, 5.0)}, folds=5),
    )  # fmt: skip
    load_rows.cache_clear()


def unmet():
    """Kept cells of tables that are not met."""
    for paper in PAPERS:
        kept = read(paper)
        for entry in (e for e in EXPERIMENTS.values() if e.paper == paper and e.counted):
            for result in results_of(entry, kept):
                if result.verdict == "not met":
                    yield entry, result


@pytest.mark.parametrize(("entry", "result"), list(unmet()), ids=lambda x: getattr(x, "name", ""))
def test_what_is_not_met_has_a_reason_that_was_run(entry, result):
    """A changed cell that was run; or its own runs say it: cut digits, or the orders' span."""
    case = result.case
    reasons = EXPERIMENTS[f"{entry.paper}.reasons"]
    tried = [
        r for r in results_of(reasons, read(entry.paper))
        if r.case.dataset == case.dataset and r.case.published is case.published
    ]  # fmt: skip
    assert any(r.values for r in tried) or len(notes([result])) > bool(case.note), case.name


def test_reasons_change_a_cell_and_count_nowhere():
    for paper in PAPERS:
        entry = EXPERIMENTS.get(f"{paper}.reasons")
        if entry is None:
            continue
        assert not entry.counted
        assert entry.layout in LAYOUTS
        for case in entry.cases:
            assert case.published is not None, case.name
            assert case.measure in MEASURES, case.name


def test_a_reason_is_run_as_any_cell(toy):
    """With fewer rows the learner is another: the last 20 of the order are not learned."""
    fixed = replace(toy.at({"learning_rate": 5.0}), search=None, here=False)
    whole, fewer = run_cases([fixed, replace(fixed, measure="stopped")])
    assert (whole.n_rows, fewer.n_rows) == (800, 780)
    assert whole.values != fewer.values


def test_digits_that_were_cut_stand_for_up_to_one_more(toy):
    case = replace(toy, metric="mistakes", published=Cell(20.9, 0.1, unit=0.1))
    common = {"seconds": (1.0, 1.0), "n_rows": 60}
    near = Result(case=case, values=(21.1, 21.2), **common)
    assert (near.verdict, near.if_cut) == ("not met", "met")
    assert notes([near]) == [
        "german/fogd: If the printed digits are cut, not rounded, this is met."
    ]
    far = Result(case=case, values=(21.6, 20.8, 21.6), **common)
    assert far.if_cut == "met"
    (note,) = notes([far])
    assert note.endswith("The printed value is within the orders: 3 of them give 20.80 to 21.60.")
    assert verdicts([near]) == "not met: 1"


# ---- a race over folds ---------------------------------------------------------------------------


def test_what_is_far_behind_leaves_the_race(toy):
    tried = run_cases(cases_of_search(toy), 1)
    left = [r.case.parameters["learning_rate"] for r in in_reach(tried)]
    assert 5.0 in left
    assert 1e-12 not in left


def test_a_race_finds_what_all_folds_find(toy, monkeypatch):
    (raced,) = run_cases([toy])
    whole = run_cases(cases_of_search(toy))
    best = max(whole, key=lambda result: result.mean)
    assert raced.case.parameters == {**toy.parameters, **best.case.parameters}
    assert raced.searched == 800


def with_heats(case):
    """Heats of 100 and 300 rows, five points."""
    steps = {"learning_rate": (1e-12, 0.5, 1.0, 5.0, 20.0)}
    return replace(case, search=replace(case.search, grid=steps, heats=(100, 300)))


def test_after_a_heat_at_most_half_of_the_points_go_on(toy):
    case, tried = with_heats(toy), []

    def run(cases, n, since):
        tried.append([at.rows.most for at in cases])
        return run_cases(cases, n)

    (found,) = best_settings([case], run, lambda *_: None)
    assert [most[0] for most in tried] == [100] * 5 + [300] * 5 + [None] * 5
    assert len(tried[0]) == 5
    assert len(tried[5]) <= 3
    assert len(tried[10]) <= 2
    assert found.parameters["learning_rate"] in (0.5, 1.0, 5.0)


@pytest.mark.parametrize("heats", [False, True])
def test_progress_of_a_race_ends_at_its_total(toy, heats):
    seen = []
    case = with_heats(toy) if heats else toy
    run_cases([case], progress=lambda done, of: seen.append((done, of)))
    assert seen[-1][0] == pytest.approx(seen[-1][1])


def test_what_a_search_finds_at_an_end_of_its_grid_is_told(toy):
    grid = {"gamma": (0.1, 1.0), "learning_rate,alpha": ((1.0, 0.0), (2.0, 0.1), (5.0, 0.2))}
    case = replace(toy, search=Search(grid))
    common = {"values": (90.0,), "seconds": (1.0,), "n_rows": 60}
    inside = Result(case=case.at({"learning_rate": 2.0, "alpha": 0.1}), **common)
    edge = Result(case=case.at({"learning_rate": 5.0, "alpha": 0.2}), **common)
    assert inside.at_edge == ()  # of two widths each is an end
    assert edge.at_edge == ("learning_rate", "alpha")
    assert notes([inside, edge]) == ["At an end of its grid: german/fogd (η, λ)."]
    assert replace(edge, case=replace(edge.case, here=False)).at_edge == ()


def test_a_search_on_some_rows_says_on_how_many(toy):
    some = replace(toy, search=replace(toy.search, most=100))
    (result,) = run_cases([some])
    assert result.searched == 100
    assert "search here, 100" in LAYOUTS["cells"].markdown([result])
