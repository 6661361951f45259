"""Make the golden files of this format: ``python -m tests.persistence.golden.make``.

A small model of each learner, saved, with what it predicts. They are made once for a format, by the
first version that writes it, and never again: a later version must read them. A file that exists is
left as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import onkel
from onkel.persistence import load, save
from onkel.persistence.files import FORMAT_VERSION

FOLDER = Path(__file__).parent / f"format-{FORMAT_VERSION}"
SMALL = {
    "n_components": 8, "budget": 8, "k": 4, "gamma": 0.5, "random_state": 0, "n_candidates": 40,
    "n_landmarks": 8, "n_frequencies": 4, "n_per_row": 4, "n_transfer": 2,
}  # fmt: skip
"""Parameters that keep a model small, where a learner has them."""
TOWNS = ("Ulm", "Bonn", "Trier")


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three columns, a label of three and a target, rounded so that JSON holds them."""
    X = np.random.default_rng(seed).normal(size=(n, 3)).round(3)
    value = (np.sin(2 * X[:, 0]) + X[:, 1]).round(3)
    return X, np.select([value < -0.5, value < 0.5], ["low", "middle"], "high"), value


def table(n: int, seed: int = 0) -> dict[str, Any]:
    """The rows as a table with text and gaps."""
    X, _, _ = rows(n, seed)
    town = [TOWNS[int(abs(x) * 10) % 3] for x in X[:, 2]]
    size = np.where(X[:, 1] > 1.5, np.nan, X[:, 1])
    return {"size": size, "town": town, "age": X[:, 0] * 10 + 40}


def sentences(n: int, seed: int = 0) -> dict[str, Any]:
    """The rows as a table of sentences, whose words tell the third column."""
    words = ("Small", "old", "BIG", "green", "house", "garden", "near", "the", "river", "bridge")
    X, _, _ = rows(n, seed)
    digits = [f"{abs(a):.3f}{abs(b):.3f}".replace(".", "") for a, _, b in X.tolist()]
    return {"said": [" ".join(words[int(d)] for d in own) + "!" for own in digits], "size": X[:, 1]}


def models() -> Iterator[tuple[str, Any]]:
    """Each model by the name of its file, learned."""
    X, labels, values = rows(260)
    for name, row in onkel.ALGORITHMS.items():
        for task, y in (("multiclass", labels), ("regression", values)):
            if task in row.tasks:
                yield f"{name}-{task}", _small(name, task).partial_fit(X, y)
    for name in ("okl", "fogd"):
        for task, y in (("multiclass", labels), ("regression", values)):
            model = onkel.StreamModel(_small(name, task))
            model.partial_fit(table(260), y)
            yield f"table-of-{name}-{task}", model
    model = onkel.StreamModel(_small("krls", "multiclass"))
    yield "sentences", model.partial_fit(sentences(260), labels)
    late = onkel.LateLabels(onkel.StreamModel(_small("krls", "regression")))
    for i, (x, y) in enumerate(zip(X[:40].tolist(), values, strict=False)):
        late.predict(i, {"a": x[0], "b": x[1]})
        if i < 30:
            late.learn(i, float(y))
    yield "late-labels", late


def _small(name: str, task: str) -> Any:
    model = onkel.make(name, task)
    allowed = model.get_params()
    if name == "okl":
        model.set_params(speed="fast")
    return model.set_params(**{key: value for key, value in SMALL.items() if key in allowed})


def predictions(model: Any) -> list[Any]:
    """What a model predicts of eight rows, as plain values: scores where there are classes."""
    X = rows(8, seed=1)[0]
    if isinstance(model, onkel.LateLabels):
        return [float(model.predict(None, {"a": a, "b": b}, keep=False)) for a, b, _ in X.tolist()]
    given = _given(model, 8, seed=1) if isinstance(model, onkel.StreamModel) else X
    score = getattr(model, "decision_function", model.predict)
    return np.asarray(score(given), dtype=float).tolist()


def _given(model: onkel.StreamModel, n: int, seed: int) -> dict[str, Any]:
    """Rows as the model's table has them."""
    assert model.encoder is not None
    return (sentences if "said" in model.encoder.kinds else table)(n, seed)


def learn_on(model: Any) -> None:
    """Twelve more rows."""
    X, labels, values = rows(12, seed=2)
    if isinstance(model, onkel.LateLabels):
        for id in range(30, 40):
            model.learn(id, float(values[id - 30]))
        return
    of_table = isinstance(model, onkel.StreamModel)
    task = model.task if of_table else model._task
    model.partial_fit(_given(model, 12, seed=2) if of_table else X,
                      values if task == "regression" else labels)  # fmt: skip


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, model in models():
        path = FOLDER / f"{name}.onkel"
        if path.exists():
            print(f"kept {path.name}: golden files are never made again")
            continue
        save(model, path)
        again = load(path)
        predicted = predictions(again)
        learn_on(again)
        expected = {"predicts": predicted, "and after twelve more rows": predictions(again)}
        path.with_suffix(".json").write_text(json.dumps(expected) + "\n", "utf8")
        print(f"made {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
