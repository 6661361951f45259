"""Merging on Dask.

A source in many files is learned in parts, each by a process of its own, and the models are merged
into one. The sums of least squares add up exactly, so four models apart are about as good as one.
"""

# %%
# Twelve files of 4 000 rows.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client, LocalCluster

import onkel
from onkel import distributed

rng = np.random.default_rng(0)


def rows(n):
    X = rng.uniform(-2, 2, (n, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})


Path("flights").mkdir()
for i in range(12):
    pq.write_table(rows(4000), f"flights/part-{i:02}.parquet")
test = rows(5000)

# %%
# A cluster in this process; an address makes it one of many machines. A sample fixes the
# landmarks, then each file is learned where it lies.

plan = distributed.Plan(
    onkel.OnlineKernelRegressor(n_components=60, speed="fast", restart=False),
    reading={"target": "y"},
    sample_rows=4000,
)
with LocalCluster(
    n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
) as cluster, Client(cluster) as client:  # fmt: skip
    learned = distributed.learn(plan, "flights/", client=client)
model = learned.model
print(model)

# %%
# The error of each file before it was learned, and the error of the merged model on new rows.


def rmse(predicted, truth):
    return float(np.sqrt(np.mean((predicted - truth.to_numpy()) ** 2)))


one = onkel.StreamModel(onkel.OnlineKernelRegressor(n_components=60, speed="fast", restart=False))
one.partial_fit("flights/", target="y")
bars = {
    "one pass,\none process": rmse(one.predict(test), test["y"]),
    "parts,\nmerged": rmse(model.predict(test), test["y"]),
    "the noise": 0.1,
}
figure, ax = plt.subplots(figsize=(5.6, 3.8))
ax.bar(bars.keys(), bars.values(), 0.55, color=["#1f5fa8", "#e07a1f", "#b5bdc8"])
for i, value in enumerate(bars.values()):
    ax.text(i, value, f"{value:.4f}", ha="center", va="bottom", color="#333333")
ax.set_ylabel("error on new rows")
ax.grid(axis="x")
ax.set_title("One pass, and twelve parts merged")
plt.show()
