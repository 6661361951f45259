"""A kernel's width, learned.

A kernel with one width for all columns is a guess. RRF moves the width of each column by the
gradient of the loss, row by row. Here two of six columns matter: their widths grow, and those of
the others shrink.
"""

# %%
# Log-widths while rows are learned: they are one for all at the start.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.normal(size=(30_000, 6))
y = np.sin(2.5 * X[:, 0]) + 0.5 * np.sin(1.5 * X[:, 1]) > 0

model = onkel.make("rrf", n_components=100, gamma=0.2, learning_rate_gamma=0.02, random_state=0)
fixed = onkel.make("fogd", n_components=100, gamma=0.2, random_state=0)
rows, widths = [], []
for a in range(0, len(X), 500):
    model.partial_fit(X[a : a + 500], y[a : a + 500])
    rows.append(a + 500)
    widths.append(np.exp(model.map_.log_width_))
before = fixed.predict_then_learn(X, y)
again = onkel.make("rrf", n_components=100, gamma=0.2, learning_rate_gamma=0.02, random_state=0)
learned = again.predict_then_learn(X, y)
print(f"fixed width: {np.mean(before != y):.1%} mistakes; learned: {np.mean(learned != y):.1%}")

# %%
# A larger value means shorter waves along the column: it tells more.

for column, path in enumerate(np.array(widths).T):
    matters = column < 2
    plt.plot(
        rows,
        path,
        color=["#1f5fa8", "#2a8c62"][column] if matters else "#b5bdc8",
        label=f"column {column + 1}" if matters else ("the others" if column == 2 else None),
    )
plt.xlabel("row")
plt.ylabel("spread of the frequencies")
plt.title("Two of six columns matter")
plt.ylim(0, 3.2)
plt.legend(ncols=3, loc="upper left")
plt.show()
