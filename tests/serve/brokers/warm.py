"""Imported by the process that others are forked from: what a start loads and compiles is there."""

import onkel
from onkel.cli import main  # noqa: F401
from onkel.serve import LiveModel
from onkel.serve.brokers import loop  # noqa: F401

_model = onkel.StreamModel(
    onkel.make("krls", task="regression", n_components=20),
    settings={"missing": "auto", "dtype": "float32"},
)
_live = LiveModel(_model, say=lambda line: None, once=True)
for _n in range(2):
    _ids = range(100 * _n, 100 * _n + 100)
    list(_live.take_all([{"id": k, "a": k / 7, "b": 0.1, "place": f"p{k % 3}"} for k in _ids]))
    list(_live.take_all([{"id": k, "y": k % 3} for k in _ids]))
_live.to_bytes()
