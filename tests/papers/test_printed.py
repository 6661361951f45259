"""Each of the 396 printed numbers: the entry that runs it, the variant, and the loss as printed."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from papers import EXPERIMENTS, PAPERS, Result
from papers.kept import read, results_of
from papers.lsokl import CLASSIFICATION, rows_of
from papers.published import cells

#: paper and algorithm -> the learner here, and what makes it the paper's variant
VARIANTS = {
    ("lsokl", "libsvm"): ("svc", {}),
    ("lsokl", "llsvm"): ("llsvm", {}),
    ("lsokl", "bsgd-m"): ("bsgd-m", {}),
    ("lsokl", "bsgd-r"): ("bsgd-random", {}),
    ("lsokl", "norma"): ("norma", {"nu": 0.4}),
    ("rrf", "rrf-hinge"): ("rrf", {"loss": "hinge", "damping": 0.0}),
    ("rrf", "rrf-logit"): ("rrf", {"loss": "logistic", "damping": 0.0}),
    ("rrf", "rrf-eps"): ("rrf", {"loss": "epsilon_insensitive", "damping": 0.0}),
    ("rrf", "rrf-l1"): ("rrf", {"loss": "absolute", "damping": 0.0}),
    ("rrf", "rrf-l2"): ("rrf", {"loss": "squared", "damping": 0.0}),
    ("rrf", "bsgd-m"): ("bsgd-m", {}),
    # of the first rows, not of the first support vectors
    ("nolana", "nogd"): ("nystroem", {}),
    ("nolana", "rrf"): ("rrf", {"damping": 0.0}),
    **{
        (paper, name): (name, {})
        for paper, names in {
            "lsokl": ("perceptron", "ogd", "rbp", "bpa-s", "bogd", "fogd", "nogd", "forgetron"),
            "rrf": ("perceptron", "ogd", "rbp", "forgetron", "bpa-s", "bogd", "fogd", "nogd",
                    "dualsgd"),
            "nolana": ("pa", "fogd", "dualsgd", "nolana"),
        }.items()
        for name in names
    },
    # every mistake is stored until the set is full, then projected
    **{
        (paper, name): (name, {"eta": 0.0})
        for paper in ("lsokl", "rrf") for name in ("projectron", "projectron++")
    },
}  # fmt: skip
#: cells that are run with another loss, and why
OTHER_LOSS = {
    ("nolana", 2, "cpusmall", "dualsgd", ""): "Pegasos's steps 1/(λt) diverge with the squared loss"
}
METRICS = {"lsokl": {3: "accuracy", 9: "mse"}, "rrf": {2: "rmse"}, "nolana": {1: "accuracy"}}


def entry_of(key):
    """The cell of a table that repeats a printed number: the first that is compared with it."""
    paper, table, *_ = key
    runs = [c for c in EXPERIMENTS[f"{paper}.table{table}"].cases if c.published is cells()[key]]
    assert runs, f"{key}: nothing runs it"
    return runs[0]


def test_there_are_396():
    assert len(cells()) == 396


@pytest.mark.parametrize("key", cells(), ids=lambda key: "-".join(map(str, key)))
def test_the_entry_runs_what_was_printed(key):
    paper, table, dataset, algorithm, setting = key
    case, cell = entry_of(key), cells()[key]
    assert (case.dataset, case.algorithm) == (dataset, algorithm)
    learner, variant = VARIANTS[paper, algorithm]
    assert case.made_by == learner
    if (dataset, algorithm) == ("poker", "rrf-logit"):
        # w_y·φ - w_z·φ under the logistic loss, and no softmax
        variant = {**variant, "loss": "margin_logistic"}
    for name, value in variant.items():
        assert case.parameters[name] == value
    if paper == "lsokl" and algorithm == "forgetron" and table != 9:
        assert case.parameters["variant"] == "lsokl"
    if setting:
        assert case.parameters["threshold"] == float(setting)
    metric = METRICS[paper].get(table, "mistakes")
    if paper == "nolana":
        metric = "rmse" if dataset == "cpusmall" else "accuracy"
    assert case.metric == metric
    assert (case.loss != cell.loss) == (key in OTHER_LOSS) or not cell.loss


@pytest.mark.parametrize("table", [5, 7, 9])
def test_sizes_are_the_papers(table):
    """B and D = 4B of the heading; B = 30, D = 450, rank 6 in regression."""
    rows = {} if table == 9 else rows_of(CLASSIFICATION[table])
    own = [key for key in cells() if key[:2] == ("lsokl", table)]
    assert {"fogd", "nogd", "bogd", "projectron"} <= {key[3] for key in own}
    for key in own:
        case = entry_of(key)
        B = 30 if table == 9 else int(rows[key[2]]["B"])
        given = case.parameters
        if key[3] == "fogd":
            assert given["n_components"] == (450 if table == 9 else 4 * B)
        elif key[3] == "nogd":
            assert (given["n_components"], given["rank"]) == (B, B // 5)
        elif "budget" in given and key[3] != "norma":
            assert given["budget"] == B, key


def test_another_loss_is_no_repetition():
    """Whatever the numbers are, the verdict is that the loss differs."""
    (case,) = [
        c for c in EXPERIMENTS["nolana.table2"].cases if c.name == "usps/nogd, logistic loss"
    ]
    common = {"values": (case.published.value,), "seconds": (1.0,), "n_rows": 9298}
    assert Result(case=case, **common).verdict == "loss differs"
    assert Result(case=replace(case.at({"loss": "hinge"})), **common).verdict == "met"


#: test rows of sets where a learner's best is at an end of its grid
N_TEST = {"a9a": 16_281, "cod-rna": 11_907, "kddcup99": 98_804}


#: whose step may be at the end of its grid: beyond it the weights only get another scale
FLAT = {"kddcup99/fogd"}


@pytest.mark.parametrize("dataset", ["a9a", "w7a", "w8a", "cod-rna", "kddcup99"])
def test_the_best_of_table_3_is_inside_of_its_grid(dataset):
    """Of the online learners; the two that average say so."""
    online = ("fogd", "nogd", "bsgd-m", "bsgd-r")
    entry = EXPERIMENTS["lsokl.table3"].on([dataset], list(online))
    results = results_of(entry, read("lsokl"))
    assert {result.case.algorithm for result in results} == set(online)
    for result in results:
        case = result.case
        assert result.searched == result.n_rows
        assert case.parameters.get("average", False) == (case.algorithm in ("fogd", "nogd"))
        for name, values in case.search.grid.items():
            inside = min(values) < case.parameters[name] < max(values)
            flat = case.name in FLAT and name in result.at_edge  # see the test after the next
            assert inside or flat, (case.name, name)


@pytest.mark.parametrize("dataset", ["a9a", "w7a", "w8a", "cod-rna", "kddcup99"])
def test_batch_learners_of_table_3_are_searched_on_all_training_rows(dataset):
    """Those of kddcup99 on 50 000 of them."""
    entry = EXPERIMENTS["lsokl.table3"].on([dataset], ["libsvm", "llsvm"])
    results = results_of(entry, read("lsokl"))
    assert [result.case.algorithm for result in results] == ["libsvm", "llsvm"]
    for result in results:
        assert result.searched == (50_000 if dataset == "kddcup99" else result.n_rows)


def test_beyond_an_end_of_a_grid_of_table_3_nothing_is_better():
    """Where a learner's best is at an end, a step beyond was run; it is as good at most.

    As in a race, twice the deviation of a difference of two shares of the test rows counts.
    """
    kept = read("lsokl")
    tried = results_of(EXPERIMENTS["lsokl.reasons"], kept)
    table = results_of(EXPERIMENTS["lsokl.table3"], kept)
    ends = [r for r in table if r.at_edge]
    assert ends
    for end in ends:
        at, beyond, moved = end.case.parameters, [], set()
        for result in tried:
            given = result.case.parameters
            changed = {name for name in given if given[name] != at.get(name)}
            if result.case.published is end.case.published and changed <= set(end.at_edge):
                beyond.append(result.mean)
                moved |= changed
        assert moved == set(end.at_edge), end.case.name
        p, n_test = end.mean / 100.0, N_TEST[end.case.dataset]
        reach = 200.0 * math.sqrt(2.0 * p * (1.0 - p) / n_test)
        assert max(beyond) < end.mean + reach, end.case.name


def test_no_verdict_is_typed():
    """Neither in a note nor in a protocol: pages compute them from the runs."""
    for entry in EXPERIMENTS.values():
        for text in (entry.protocol, *(case.note for case in entry.cases)):
            assert not re.search(r"\b(not met|is met|are met|loss differs)\b", text, re.I), text


def test_what_was_kept_has_every_verdict_computed():
    known = {"met", "better", "not met", "rows differ", "loss differs", "reference", "failed"}
    for paper in PAPERS:
        kept = read(paper)
        for entry in (e for e in EXPERIMENTS.values() if e.paper == paper):
            for result in results_of(entry, kept):
                assert result.verdict in known or result.verdict.startswith(("within", "over"))
