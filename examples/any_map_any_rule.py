"""Any map, any rule.

A learner is a map or a kernel, a rule and a loss. They go together as you like, and one line makes
a learner that no paper has. Here every map meets every rule on the letters of the alphabet.
"""

# %%
# 4 000 letters of the UCI repository, which come with the code: 26 classes, 16 columns.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import onkel
from onkel import datasets

datasets.add_folder(Path(__file__).parents[1] / "papers" / "data")
data = datasets.load("letter")
X, y = data.X[:4000], data.y[:4000]

maps = ["identity", "fourier", "nystroem", "sign_projection"]
rules = {"gradient": {}, "adagrad": {}, "passive_aggressive": {}, "least_squares": {}}
wrong = np.zeros((len(maps), len(rules)))
for i, name in enumerate(maps):
    for j, rule in enumerate(rules):
        loss = "squared" if rule == "least_squares" else "hinge"
        model = onkel.ExplicitKernelClassifier(map=name, rule=rule, loss=loss, random_state=0)
        wrong[i, j] = 100 * np.mean(model.predict_then_learn(X, y) != y)

# %%
# Mistakes in one pass, in percent, with all defaults.

figure, ax = plt.subplots(figsize=(6.4, 3.8))
ax.imshow(wrong, cmap="YlOrBr", vmin=20, vmax=100)
for i, row in enumerate(wrong):
    for j, value in enumerate(row):
        ax.text(j, i, f"{value:.0f} %", ha="center", va="center", color="#222222")
ax.set_xticks(range(len(rules)), [rule.replace("_", "\n") for rule in rules], fontsize=10)
ax.set_yticks(range(len(maps)), [name.replace("_", "\n") for name in maps], fontsize=10)
ax.grid(False)
ax.spines[:].set_visible(False)
ax.set_title("A map (down), a rule (across)")
plt.show()
