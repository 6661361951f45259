"""Headlines: what a page says to a paper's claims follows from the results."""

from __future__ import annotations

import numpy as np
import pytest

from papers import EXPERIMENTS, PAPERS, Case, Cell, Result, Rows
from papers.aligned import chosen
from papers.headlines import headlines, not_met
from papers.kept import FOLDER


def result(dataset, algorithm, value, comparable=True, **more):
    case = Case(Rows(dataset), algorithm, {}, **more)
    common = {"n_rows": 10, "seconds": (1.0,), "comparable": comparable}
    return Result(case=case, values=(value,), **common)


def test_who_is_ahead_is_counted():
    table = [
        result("german", "fogd", 30.0), result("german", "rbp", 31.0),
        result("dna", "nogd", 20.0, False), result("dna", "bogd", 19.0, False),
    ]  # fmt: skip
    said = headlines("lsokl", {"lsokl.table5": table})
    assert "ahead on 1 of 2 sets: german; not on dna\\* (bogd 19.00, nogd 20.00)." in said
    assert said.endswith("\\* other rows than the paper's: fewer of them, or another part.")


def test_a_variant_that_the_paper_has_not_does_not_count():
    table = [
        result("cod-rna", "fogd", 5.9), result("cod-rna", "rrf-hinge", 6.0),
        result("cod-rna", "rrf-hinge", 5.0, label="rrf-hinge, as found"),
    ]  # fmt: skip
    said = headlines("rrf", {"rrf.table1": table})
    assert "ahead on 0 of 1 sets; not on cod-rna (fogd 5.90, rrf-hinge 6.00)" in said


def test_what_is_not_met_names_what_was_tried():
    cell = Cell(20.0, 0.1, unit=0.1)
    missed = result("german", "fogd", 21.0, published=cell)
    better = result("german", "fogd", 20.1, published=cell, label="fogd: rank k = B")
    worse = result("german", "fogd", 25.0, published=cell, label="fogd: other rows")
    met = result("dna", "fogd", 20.0, published=cell)
    found = {"lsokl.table5": [missed, met], "lsokl.reasons": [worse]}
    assert not_met("lsokl", found) == (
        "- **table5, german/fogd:** 21.00 ± 0.00 here, printed 20.00 ± 0.10. "
        "Changed: other rows gives 25.00 (not met). None of it explains the number."
    )
    found["lsokl.reasons"].append(better)
    assert not_met("lsokl", found).endswith("; rank k = B gives 20.10 (met).")
    assert not_met("lsokl", {"lsokl.table5": [met]}) == ""


def test_nothing_is_said_without_runs():
    assert all(headlines(paper, {}) == "" for paper in PAPERS)


@pytest.mark.parametrize("paper", ["lsokl", "rrf", "nolana", "aligned", "olk"])
def test_a_page_opens_with_the_claims(paper):
    head, first, *_ = (FOLDER / f"{paper}.md").read_text(encoding="utf-8").split("\n## ")
    assert head.startswith(f"# {PAPERS[paper]}")
    assert first.startswith("What the paper claims, and what we found")
    assert "**Claimed:**" in first
    assert "**Found:**" in first


def test_the_chosen_features_of_two_columns():
    """Figure 1(a): of length about √2, offsets near 0 and π, along one axis."""
    (case, *_) = EXPERIMENTS["aligned.figure1a"].cases
    found = chosen(case, 0)
    assert found["length"] == pytest.approx(np.sqrt(2.0), abs=0.15)
    assert found["offset"] < 0.15
    assert found["turn"] < 45.0
