"""Support vectors of a budget, in the plane.

Four learners that store rows may keep twenty of them. They differ in what they do with the next:
drop the oldest, drop one at random, project it onto the others, or merge two. The picture shows
what they kept, and the border they made of it.
"""

# %%
# Two spirals, one pass, twenty stored rows.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
n = 3000
y = np.arange(n) % 2 == 0
angle = rng.uniform(0.5, 3.0, n) * np.pi
X = np.column_stack([np.cos(angle), np.sin(angle)]) * (angle * np.where(y, 1, -1))[:, None] / np.pi
X += rng.normal(0, 0.13, X.shape)

models = {
    "forgetron: drops the oldest": onkel.make("forgetron", budget=20, gamma=2.0),
    "rbp: drops one at random": onkel.make("rbp", budget=20, gamma=2.0, random_state=0),
    "projectron: projects": onkel.make("projectron", budget=20, gamma=2.0),
    "bsgd-m: merges two": onkel.make("bsgd-m", budget=20, gamma=2.0, alpha=0.001),
}

# %%
# Filled points are stored rows. Merging makes new ones that stood in no row.

side = np.linspace(-3.3, 3.3, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.6), sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    before = model.predict_then_learn(X, y)
    scores = model.decision_function(grid).reshape(120, 120)
    top = np.abs(scores).max()
    ax.contourf(side, side, scores, 20, cmap="RdBu", vmin=-top, vmax=top, alpha=0.55)
    ax.contour(side, side, scores, [0], colors="#333333", linewidths=1.2)
    kept = model.support_vectors_
    color = np.where(model.coef_[0] > 0, "#1f5fa8", "#c23b3b")
    ax.scatter(*kept.T, c=color, s=26, edgecolors="white", linewidths=0.8)
    ax.set_title(f"{name}\n{np.mean(before != y):.1%} mistakes", fontsize=10.5)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
plt.tight_layout()
plt.show()
