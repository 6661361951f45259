"""Text becomes numbers.

A column of text needs nothing. Each value has a feature of its own, and beside it stands the mean
of the target for this value over the rows before. So a town that was dear so far is known to be
dear.
"""

# %%
# Forty towns, each with its own price level; some are rare. One column has a new value in almost
# every row, and is left out.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
n = 6000
towns = np.array([f"town {i:02}" for i in range(40)])
level = rng.gamma(4.0, 60.0, 40)
town = np.minimum(rng.geometric(0.08, n) - 1, 39)
rows = {
    "size": rng.uniform(20, 140, n),
    "town": towns[town],
    "reference": [f"{i:08x}" for i in rng.integers(0, 2**31, n)],
    "seen": np.where(rng.random(n) < 0.1, "", rng.choice(["2024-05-01", "2024-06-15"], n)),
}
price = rows["size"] * level[town] / 100 + rng.normal(0, 10, n)

model = onkel.StreamModel(onkel.OnlineKernelRegressor(n_components=80, speed="fast"))
before = model.predict_then_learn(rows, price)
print(f"RMSE {np.sqrt(np.mean((before - price)[1000:] ** 2)):.1f}, noise 10.0")
for column in model.describe_columns():
    print(f"{column['name']:10} {column['kind']}")

# %%
# What the model takes a town of 80 m² for, beside the truth. Rare towns are less certain.

asked = model.predict({"size": np.full(40, 80.0), "town": towns, "reference": [""] * 40,
                       "seen": ["2024-06-15"] * 40})  # fmt: skip
count = np.bincount(town, minlength=40)
figure, ax = plt.subplots()
ax.plot([0, 450], [0, 450], color="#6b7785", linewidth=1, linestyle="--")
ax.scatter(80 * level / 100, asked, s=np.sqrt(count) * 9, alpha=0.75, edgecolors="white")
ax.set(xlabel="true price", ylabel="prediction", xlim=(0, None), ylim=(0, None))
ax.set_title("Forty towns; larger circles have more rows")
plt.show()
