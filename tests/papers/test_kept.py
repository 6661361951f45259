"""Numbers that are kept: pages made from them, and runs added to them."""

from __future__ import annotations

import numpy as np
import pytest

from papers import PAPERS, Case, Experiment, Result, Rows
from papers.kept import FOLDER, keep, key_of, page, read, results_of
from papers.pages import Part
from papers.registry import EXPERIMENTS


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_is_what_its_numbers_say(paper):
    assert (FOLDER / f"{paper}.md").read_text(encoding="utf-8") == page(paper)


def test_every_kept_cell_is_one_of_its_experiment():
    for paper in PAPERS:
        for name, cells in read(paper)["results"].items():
            assert set(cells) <= {key_of(case) for case in EXPERIMENTS[name].cases}, name


def test_more_orders_replace_fewer(tmp_path, monkeypatch):
    cases = tuple(Case(Rows(""), name, {"gamma": 1.0}) for name in ("one", "two"))
    entry = Experiment("toy.table1", "olk", "A toy", "None.", cases)
    monkeypatch.setitem(EXPERIMENTS, entry.name, entry)

    def run(*values):
        common = {"n_rows": 10, "seconds": (1.0,) * len(values)}
        return Part(entry, [Result(case=case, values=values, **common) for case in cases])

    about = {"command": "python -m papers toy", "versions": "v", "machine": "m"}
    keep([run(1.0, 2.0)], about, tmp_path)
    keep([run(7.0)], about, tmp_path)
    assert list(read("olk", tmp_path)["runs"]) == ["1"]
    keep([run(3.0, 4.0, np.inf)], {**about, "command": "python -m papers more"}, tmp_path)
    kept = read("olk", tmp_path)
    assert list(kept["runs"]) == ["2"]
    for result in results_of(entry, kept):
        assert result.values[:2] == (3.0, 4.0)
        assert not np.isfinite(result.mean)
    assert "| one | nan ± nan | reference |" in page("olk", tmp_path)
