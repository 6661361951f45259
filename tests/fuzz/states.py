"""Mutations of model files: ``python tests/fuzz/states.py FIRST COUNT ALGORITHM:TASK ...``.

Each seed changes one array or scalar of a learner's file, and signs it again. The file must be
refused by a ModelFileError, or give a model that predicts finite numbers and learns. Every seed is
printed before it is tried, so that a crash names it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from onkel import StreamModel, load, make
from onkel.errors import DataError, ModelFileError
from onkel.persistence import files
from onkel.streams import Block, Column, Encoder

SMALL = {
    "n_transfer": 3,
    "budget": 7,
    "n_components": 8,
    "n_candidates": 16,
    "n_warmup": 40,
    "random_state": 3,
}
NUMBERS = (0, 1, -1, -5, 2, 17, 2**31, 2**40, 2**63 - 1, 0.5, 1e-300, 1e30, 1e300, -1e300,
           np.inf, -np.inf, np.nan)  # fmt: skip
OTHERS = (None, True, False, "", "x", [], [1], {}, {"a": 1})
#: models with more columns than this are not tried on rows
MOST_COLUMNS = 1000
#: seconds after which a seed counts as hanging
HANGS = 300


def rows(task, n=160):
    """A stream whose third class comes late."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = {
        "regression": np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1],
        "binary": (X[:, 0] * X[:, 1] > 0.0).astype(int),
        "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]),
    }[task]
    return X, y


def small(name, task):
    """A small learner of the table."""
    model = make(name, task)
    known = model.get_params()
    return model.set_params(**{key: value for key, value in SMALL.items() if key in known})


def stream_documents(folder):
    """Files of a stream model, with encoder and scalers."""
    X, y = rows("regression")
    out = []
    for n, scaling in ((12, "standard"), (100, "minmax"), (100, "auto")):
        columns = [Column("a", "number"), Column("b", "time", origin=3.0), Column("c", "flag")]
        encoder = Encoder(columns, target="y")
        encoder.means, encoder.counts = np.zeros(3), np.zeros(3)
        model = StreamModel(
            make("fogd", "regression", n_components=8, random_state=0), scaling=scaling,
            scale_target=True, encoder=encoder, settings={"target": "y"},
        )  # fmt: skip
        model.learn(Block(X[:n], y[:n], 0))
        model.save(Path(folder) / "stream.onkel")
        out.append(files._read(Path(folder) / "stream.onkel"))
    return out


def try_stream_model(path):
    """Load, predict, learn, predict; True where the file was refused."""
    X, y = rows("regression")
    try:
        model = load(path)
    except ModelFileError:
        return True
    for part in (slice(0, 1), slice(1, 60), slice(60, 61)):
        # with changed statistics these rows may be too large, which the learner reports
        with contextlib.suppress(DataError):
            assert np.isfinite(model.predict(X[:8])).all(), "predicts what is not finite"
        with contextlib.suppress(DataError):
            model.learn(Block(X[part], y[part], part.start))
    return False


def documents(name, task, folder):
    """Files of the learner: during its first rows, and after them."""
    X, y = rows(task)
    out = []
    for n in (12, 100, 160):
        path = Path(folder) / f"{name}-{n}.onkel"
        small(name, task).partial_fit(X[:n], y[:n]).save(path)
        out.append(files._read(path))
    return out


def leaves(tree, path=()):
    """Paths of the scalars of a state's tree."""
    if isinstance(tree, dict) and "__onkel__" not in tree:
        return [leaf for key, value in tree.items() for leaf in leaves(value, (*path, key))]
    return [path]


def mutated_array(array, rng):
    """The array with one number, its type or its shape changed."""
    kind = rng.integers(8)
    if kind < 5 and array.size:
        out = array.copy()
        value = NUMBERS[rng.integers(len(NUMBERS))]
        where = rng.integers(array.size) if kind < 4 else slice(None)
        with np.errstate(all="ignore"):
            if array.dtype.kind != "f":
                value = int(value) if np.isfinite(value) else -1
                value = np.int64(np.clip(value, -(2**63), 2**63 - 1))
            out.reshape(-1)[where] = np.asarray(value).astype(array.dtype)
        return out
    if kind == 5:
        return array.astype(rng.choice(["float32", "float64", "int64", "int8", "bool"]))
    if kind == 6 and array.ndim:
        axis = int(rng.integers(array.ndim))
        n = array.shape[axis]
        keep = np.arange(n + 1) % max(n, 1) if rng.integers(2) and n else np.arange(max(n - 1, 0))
        return np.ascontiguousarray(array.take(keep, axis))
    return array.reshape(-1).copy() if rng.integers(2) else np.zeros((0,) * array.ndim, array.dtype)


def mutated(document, arrays, rng):
    """A file's content with one leaf changed; its path, too."""
    document, arrays = json.loads(json.dumps(document)), dict(arrays)
    paths = leaves(document["state"])
    path = paths[rng.integers(len(paths))]
    parent = document["state"]
    for key in path[:-1]:
        parent = parent[key]
    leaf, key = parent[path[-1]], path[-1]
    if isinstance(leaf, dict) and leaf.get("__onkel__") == "array" and rng.integers(8):
        name = leaf["value"]
        arrays[name] = mutated_array(arrays[name], rng)
    elif not rng.integers(10):
        del parent[key]
    else:
        values = NUMBERS if rng.integers(4) else OTHERS
        value = values[rng.integers(len(values))]
        parent[key] = value.item() if isinstance(value, np.generic) else value
    return document, arrays, "/".join(map(str, path))


def write(path, document, arrays):
    """Write and sign a file."""
    from safetensors.numpy import save

    document.pop("sha256", None)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    document["sha256"] = files._digest(json.dumps(document, sort_keys=True), arrays)
    path.write_bytes(save(arrays, {"onkel": json.dumps(document, sort_keys=True)}))


def try_model(path, task):
    """Load, predict, learn, predict; True where the file was refused."""
    X, y = rows(task)
    try:
        model = load(path)
    except ModelFileError:
        return True
    if not hasattr(model, "model_") or model.n_features_in_ > MOST_COLUMNS:
        return False
    # a learner that stores no columns may claim any number of them
    X = np.pad(X, ((0, 0), (0, max(model.n_features_in_ - X.shape[1], 0))))
    for part in (slice(0, 1), slice(1, 3), slice(3, 60)):
        scores(model, X[:8])
        try:
            model.partial_fit(X[part], y[part])
        except DataError:
            continue  # parameters of this size may make a row impossible to learn; it is refused
    scores(model, X[:8])
    return False


def scores(model, X):
    """The scores; an error if they are not finite."""
    P = model.model_.scores(model._check_scoring(X))
    assert np.isfinite(P).all(), f"predicts {P[~np.isfinite(P)][0]}"
    model.predict(X)


def fuzz(name, task, first, count, folder):
    """Try ``count`` seeds on one learner; return the numbers of refused files and of failures."""
    stream = name == "stream"
    learned = stream_documents(folder) if stream else documents(name, task, folder)
    path, refused, failed = Path(folder) / "mutated.onkel", 0, 0
    for seed in range(first, first + count):
        rng = np.random.default_rng([seed, 7])
        document, arrays, where = mutated(*learned[seed % len(learned)], rng)
        print(f"{name} {task} seed {seed}: {where}", flush=True)
        write(path, document, arrays)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        try:
            refused += try_stream_model(path) if stream else try_model(path, task)
        except Exception as error:
            failed += 1
            print(f"FAILED {name} {task} seed {seed} at {where}: {error!r}", flush=True)
        faulthandler.cancel_dump_traceback_later()
    return refused, failed


def main(first, count, *cases):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    refused = failed = 0
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for case in cases:
            name, task = case.split(":")
            more = fuzz(name, task, int(first), int(count), folder)
            refused, failed = refused + more[0], failed + more[1]
    print(f"DONE {int(count) * len(cases)} refused {refused} failed {failed}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
