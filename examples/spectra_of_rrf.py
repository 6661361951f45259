"""The spectra that RRF learns.

A kernel is a mean of waves, and its spectrum says which. FOGD draws its frequencies once. RRF
learns their spread in every column; its mixture learns where they lie. Here the labels are a
slanted wave, and the right spectrum is two points.
"""

# %%
# The sign of one wave. Only one direction and one frequency matter.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 2))
y = np.cos(3 * X[:, 0] + 1.5 * X[:, 1]) > 0

models = {
    "fogd: drawn once": onkel.make("fogd", n_components=100, gamma=0.5, random_state=0),
    "rrf: widths learned": onkel.make("rrf", n_components=100, gamma=0.5, random_state=0),
    "rrf-sm: a mixture": onkel.make("rrf-sm", n_components=100, gamma=0.5, random_state=0),
}

# %%
# Each point is a frequency. The crosses are the two of the wave.

figure, axes = plt.subplots(1, 3, figsize=(6.8, 3.2), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    before = model.predict_then_learn(X, y)
    late = np.mean((before != y)[-10_000:])
    frequencies = np.asarray(model.map_.frequencies_)
    ax.scatter(*frequencies, s=9, alpha=0.7)
    ax.scatter(*np.array([[3, 1.5], [-3, -1.5]]).T, marker="x", s=70, color="#c23b3b", linewidths=2)
    ax.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal")
    ax.set_title(f"{name}\n{late:.1%} mistakes", fontsize=9.5)
    print(f"{name}: {late:.1%} mistakes in the last 10 000 rows")
axes[0].set_ylabel("frequency of column 2")
axes[1].set_xlabel("frequency of column 1")
plt.tight_layout()
plt.show()
