"""Frequencies that agree with the labels.

Of two thousand random cosines few say anything about the labels. Aligned features look at the
labels, give the cosines weights, and keep the best. Two hundred that were chosen beat two hundred
that were drawn.
"""

# %%
# Ten columns. The label is the sign of a wave along one direction, in two of them.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = np.cos(2 * X[:, 0] + X[:, 1]) > 0

curves = {}
for name, model in {
    "200 plain": onkel.make("fogd", n_components=200, gamma=0.3, random_state=0),
    "2 000 plain": onkel.make("fogd", n_components=2000, gamma=0.3, random_state=0),
    "200 aligned, of 2 000": onkel.make("aligned", n_components=200, gamma=0.3, random_state=0),
}.items():
    wrong = model.predict_then_learn(X, y) != y
    curves[name] = 100 * np.convolve(wrong, np.ones(1000) / 1000, "valid")
    print(f"{name:24} {100 * wrong[-5000:].mean():.1f} % mistakes in the last 5 000 rows")

# %%
# The weights are found anew after rows 32, 64, 128, and so on.

for name, curve in curves.items():
    plt.plot(np.arange(1000, len(y) + 1), curve, label=name)
plt.xlabel("row")
plt.ylabel("mistakes, % of the last 1 000")
plt.title("A wave along one direction, ten columns")
plt.ylim(0, None)
plt.legend()
plt.show()
