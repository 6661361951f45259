"""Loops are compiled before rows come; the model that is to learn them stays as it is."""

from __future__ import annotations

import pytest

import onkel
from onkel.default.early_trees import GROWTHS
from onkel.numerics.compiling import watch
from onkel.serve import LiveModel
from onkel.serve.warmup import compile_where_needed, warm_up


def _live(task, n):
    settings = {"missing": "auto", "dtype": "float32"}
    model = onkel.StreamModel(onkel.make("pa", task=task), settings=settings)
    live = LiveModel(model, level=0.9, say=pytest.fail)
    labels = [0.5, 1.5] if task == "regression" else ["up", "down"]
    rows = [{"id": t, "size": 0.1 * t, "town": f"t{t % 3}", "y": labels[t % 2]} for t in range(n)]
    list(live.take_all(rows))
    return live


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("n", [0, 20])
def test_a_model_stays_as_it_is(task, n):
    live = _live(task, n)
    before = live.to_bytes()
    warm_up(live, live.model.to_bytes())
    compile_where_needed(live)
    assert live.to_bytes() == before


def test_more_rows_are_taken_only_where_the_first_was_compiled(monkeypatch):
    live, take_all, taken = _live("regression", 0), LiveModel.take_all, []
    compiled = [0]

    def counted(own, events):
        taken.append(len(events))
        watch.n_compiled += compiled[0]
        return take_all(own, events)

    monkeypatch.setattr(LiveModel, "take_all", counted)
    monkeypatch.setattr(watch, "n_compiled", 0)
    found = []
    for compiled[0] in (0, 1):
        taken.clear()
        compile_where_needed(live)
        found.append(list(taken))
    # a row, its label, and a row with its label
    assert found[0] == [1, 1, 1]
    assert found[1][:3] == [1, 1, 1]
    # two of three are learned: so many that trees have begun to predict
    assert sum(found[1]) * 2 // 3 >= GROWTHS[0][1]
