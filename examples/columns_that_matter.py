"""Columns that matter.

Twelve columns, of which three matter: one by itself, and two only together. A correlation sees the
first. The learned function knows all three, and its slopes say so.
"""

# %%
# The model keeps 128 of the rows. The importance of a column is the mean squared slope of the
# learned function along it, over these rows.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
n = 5000
names = [f"column {i + 1}" for i in range(12)]
X = rng.normal(size=(n, 12))
y = np.sin(2 * X[:, 2]) + X[:, 5] * X[:, 8] + rng.normal(0, 0.2, n)

model = onkel.StreamModel(onkel.OnlineKernelRegressor(n_components=150, speed="fast"))
model.partial_fit(dict(zip(names, X.T, strict=True)), y)
importance = model.feature_importances_
correlation = np.abs(np.corrcoef(X.T, y)[-1, :-1])

# %%
# The bars of each kind sum to one.

at = np.arange(12)
plt.bar(at - 0.2, correlation / correlation.sum(), 0.38, color="#b5bdc8", label="correlation")
plt.bar(at + 0.2, importance, 0.38, color="#1f5fa8", label="importance in the model")
plt.xticks(at, at + 1)
plt.xlabel("column")
plt.ylabel("share")
plt.title("y = sin(2·column 3) + column 6 · column 9")
plt.grid(axis="x")
plt.legend()
plt.show()
