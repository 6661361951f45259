"""Heavy tails, compressed.

A few rows of a column are a hundred times larger than the others. After division by the standard
deviation all others lie on one spot, and a kernel cannot tell them apart. So such a column is
compressed before it is scaled.
"""

# %%
# Spam mails of the UCI repository, which come with the code. Most of the 57 columns are counts of
# words: 0 in most mails, and large in some.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import onkel
from onkel import datasets

datasets.add_folder(Path(__file__).parents[1] / "papers" / "data")
data = datasets.load("spambase")
order = np.random.default_rng(0).permutation(len(data.y))
X, y = data.X[order], data.y[order]
longest = np.asarray(X)[:, 55]
print(f"longest run of capitals: median {np.median(longest):.0f}, largest {longest.max():.0f}")

wrong = {}
for scaling in ("standard", "auto"):
    for name in ("fogd", "rrf", "krls"):
        model = onkel.StreamModel(onkel.make(name), scaling=scaling)
        if "random_state" in model.estimator.get_params():
            model.estimator.set_params(random_state=0)
        wrong[name, scaling] = 100 * np.mean(model.predict_then_learn(X, y) != y)

# %%
# One column as the learner sees it, and what compression is worth.

figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3.4))
straight = (longest - longest.mean()) / longest.std()
drawn = np.arcsinh((longest - longest.mean()) / np.abs(longest - longest.mean()).mean())
bins = np.linspace(-3, 6, 46)
left.hist(straight, bins, alpha=0.6, label="standard")
left.hist((drawn - drawn.mean()) / drawn.std(), bins, alpha=0.6, label="compressed")
left.set(xlabel="the column, scaled", ylabel="mails", yticks=[])
left.legend()
for i, name in enumerate(("fogd", "rrf", "krls")):
    right.bar(i - 0.2, wrong[name, "standard"], 0.38, color="#1f5fa8")
    right.bar(i + 0.2, wrong[name, "auto"], 0.38, color="#e07a1f")
right.set_xticks(range(3), ["fogd", "rrf", "krls"])
right.set_ylabel("mistakes, %")
right.grid(axis="x")
figure.suptitle("Spam mails: standard scaling, compressed tails", fontweight="bold", fontsize=12)
plt.tight_layout()
plt.show()
