"""A picture of each learner: the border it makes of two moons, and the wave it follows.

Both are learned in one pass, with the parameters of the example in the learner's docstring.
"""

from __future__ import annotations

import ast
import io
import re
from typing import Any

import numpy as np

from onkel.algorithms import ALGORITHMS
from website.kept import STYLE, made

_ROWS = 1500


def pages() -> dict[str, bytes]:
    """Each picture by its path."""
    portraits = made("portrait", draw, list(ALGORITHMS), lambda name: name.encode())
    files = {name: name.replace("++", "-plus-plus") for name in portraits}
    return {f"learners/images/{files[name]}.png": drawn for name, drawn in portraits.items()}


def draw(name: str) -> bytes:
    """The picture of a learner, as PNG."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    row = ALGORITHMS[name]
    panels = [(row.classifier, _border), (row.regressor, _wave)]
    drawn = [(cls, panel) for cls, panel in panels if cls is not None]
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(1, len(drawn), figsize=(3.4 * len(drawn), 2.7), squeeze=False)
        for ax, (cls, panel) in zip(axes[0], drawn, strict=True):
            panel(ax, _example(cls).set_params(**row.params))
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.title.set_fontsize(10.5)
        plt.tight_layout()
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        plt.close(figure)
    return picture.getvalue()


def _example(cls: type) -> Any:
    """The estimator that the docstring's example makes, but for what is no plain value."""
    (call,) = re.findall(rf"model = ({cls.__name__}\(.*?\))", cls.__doc__ or "")
    given = ast.parse(call, mode="eval").body.keywords
    plain = {k.arg: k.value.value for k in given if isinstance(k.value, ast.Constant)}
    return cls(**plain)


def _border(ax: Any, model: Any) -> None:
    from sklearn.datasets import make_moons

    X, y = make_moons(_ROWS, noise=0.2, random_state=0)
    wrong = np.mean(model.predict_then_learn(X, y) != y)
    across, up = np.linspace(-1.8, 2.8, 140), np.linspace(-1.3, 1.8, 110)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = model.decision_function(grid).reshape(len(up), len(across))
    top = np.quantile(np.abs(scores), 0.98)
    shown = np.clip(scores, -top, top)
    ax.contourf(across, up, shown, np.linspace(-top, top, 19), cmap="RdBu", alpha=0.5)
    ax.contour(across, up, scores, [0], colors="#333333", linewidths=1.3)
    ax.scatter(*X[::5].T, c=np.where(y[::5] == 1, "#1f5fa8", "#c23b3b"), s=4, alpha=0.55)
    kept = getattr(model, "support_vectors_", None)
    if kept is not None and len(kept) <= 300:
        ax.scatter(*np.asarray(kept).T, s=22, facecolors="none", edgecolors="#222222", linewidths=1)
    ax.set_title(f"two moons: {wrong:.1%} mistakes")


def _wave(ax: Any, model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (_ROWS, 1))
    y = np.sin(2 * X[:, 0]) + rng.normal(0, 0.15, _ROWS)
    model.partial_fit(X, y)
    across = np.linspace(-3, 3, 300)
    ax.scatter(X[::6, 0], y[::6], s=4, color="#b5bdc8")
    ax.plot(across, np.sin(2 * across), color="#6b7785", linewidth=1, linestyle="--")
    predicted = model.predict(across[:, None])
    ax.plot(across, predicted, color="#e07a1f", linewidth=2.2)
    error = np.sqrt(np.mean((predicted - np.sin(2 * across)) ** 2))
    ax.set_ylim(-1.6, 1.6)
    ax.set_title(f"a wave: error {error:.2f}")
