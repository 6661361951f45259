"""Landmarks that move to where they are needed.

The default describes a row by its similarity to landmarks. They begin as the first rows. Searches
then move them along the gradient of the evidence: to where the target turns, and away from where
it is flat.
"""

# %%
# The target is flat but for two narrow hills. Rows are spread evenly.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (9000, 2))


def hills(X):
    first = np.exp(-(((X - [1.4, 1.2]) * [3.5, 1.2]) ** 2).sum(axis=1))
    second = np.exp(-(((X - [-1.3, -1.0]) * [1.2, 3.5]) ** 2).sum(axis=1))
    return first + second


y = hills(X) + rng.normal(0, 0.02, len(X))

# %%
# Thirty landmarks, before the first search and after the last. `pairs=False` leaves the landmarks
# to themselves.

model = onkel.OnlineKernelRegressor(n_components=30, pairs=False, memory=False)
places, errors = [], []
for a, b in ((0, 1000), (1000, 9000)):
    before = model.predict_then_learn(X[a:b], y[a:b])
    places.append(model.map_.landmarks_.copy())
    errors.append(np.sqrt(np.mean((model.predict(X[b - 1000 : b]) - hills(X[b - 1000 : b])) ** 2)))

side = np.linspace(-3, 3, 100)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.7), sharey=True)
for ax, landmarks, error, title in zip(
    axes, places, errors, ("at row 1 000", "after the searches"), strict=True
):
    ax.contourf(side, side, hills(grid).reshape(100, 100), 15, cmap="Blues")
    ax.scatter(*landmarks.T, s=34, color="#e07a1f", edgecolors="white", linewidths=0.8)
    ax.set_title(f"{title}\nerror {error:.3f}")
    ax.set(xlim=(-3.3, 3.3), ylim=(-3.3, 3.3), xticks=[], yticks=[])
    ax.grid(False)
plt.tight_layout()
plt.show()
