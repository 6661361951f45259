"""A process that loads a model to predict imports nothing that only learning or judging needs."""

from __future__ import annotations

import subprocess
import sys

import sklearn
from sklearn.utils.fixes import parse_version

import onkel

_LOAD = """
import sys, onkel
model = onkel.load(sys.argv[1])
assert model.predict_one({"a": 1.0, "b": "x1"}) in ("up", "down")
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""
_NOT_NEEDED = ("onkel.evaluation", "onkel.public", "sklearn.metrics", "scipy.optimize", "pandas",
               "matplotlib", "dask", "pyarrow.dataset")  # fmt: skip
# scikit-learn loads these itself, before 1.7
_ITS_OWN = (
    {"scipy.optimize", "pandas"}
    if parse_version(sklearn.__version__) < parse_version("1.7")
    else set()
)


def test_loading_and_predicting_import_little(tmp_path):
    rows = [{"a": float(t), "b": f"x{t % 3}"} for t in range(50)]
    model = onkel.StreamModel(onkel.make("krls", n_components=20))
    model.partial_fit(rows, ["up" if t % 2 else "down" for t in range(50)])
    model.save(tmp_path / "m.onkel")
    command = [sys.executable, "-c", _LOAD, str(tmp_path / "m.onkel"), *_NOT_NEEDED]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) <= _ITS_OWN
