"""Comparing learners.

Is one learner better than another, or was it lucky? `compare` learns the same rows in the same
orders with each, and tests the differences in pairs.
"""

# %%
# Satellite pixels of the UCI repository, which come with the code: six kinds of soil, three orders
# of the rows.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import onkel
from onkel import datasets

datasets.add_folder(Path(__file__).parents[1] / "papers" / "data")
data = datasets.load("satimage")
rows = (data.X[:1500], data.y[:1500])
names = ["okl:speed=fast:n_components=100", "krls:n_components=200", "rrf", "fogd", "nogd", "pa"]
comparison = onkel.compare(names, rows, runs=3)
print(comparison)

# %%
# The learning curves, means of the orders.

figure, ax = plt.subplots()
for name in names:
    runs = [run for run in comparison.results if run.name == name]
    curve = np.mean([[row.loss for row in run.curve] for run in runs], axis=0)
    ax.plot([row.n_rows for row in runs[0].curve], 100 * curve, label=name.split(":")[0])
ax.set(xscale="log", xlabel="rows", ylabel="mistakes so far, %")
ax.set_title("Satellite pixels, six classes")
ax.legend(ncols=2)
plt.show()
