"""Many series in one stream.

Sixty shops, each with a level of its own that moves. One model learns from all of them; each shop
has a memory of its own. A shop that opens late is predicted well from its second day on.
"""

# %%
# The rows of the shops come mixed, as they do in a table of sales. `groups=` says which shop a row
# is of.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(2)
shops, days = 60, 120
level = 20 + 8 * rng.normal(size=shops) + np.cumsum(rng.normal(0, 0.4, (days, shops)), axis=0)
price = rng.uniform(0.8, 1.2, (days, shops))
weekday = np.tile(np.arange(days)[:, None] % 7, shops)
sales = level * (2 - price) + 4 * (weekday >= 5) + rng.normal(0, 1, (days, shops))
opens = np.where(np.arange(shops) < 50, 0, 90)  # ten shops open at day 90
there = np.arange(days)[:, None] >= opens

day, shop = np.nonzero(there)
X = np.column_stack([price[there], weekday[there]])
y = sales[there]

# %%
# Three models see the same rows: with a memory for each shop, with one for all, and without.

errors = {}
for name, memory, groups in (
    ("a memory for each shop", "auto", [f"shop {s}" for s in shop]),
    ("one memory for all", "auto", None),
    ("no memory", False, None),
):
    model = onkel.OnlineKernelRegressor(n_components=40, speed="fast", memory=memory)
    before = model.predict_then_learn(X, y, groups=groups)
    errors[name] = np.abs(before - y)
    print(f"{name:24} mean error {errors[name][day >= 30].mean():.2f}")

# %%
# The shops that opened at day 90: their first day is a guess, and their second no longer.

young = opens[shop] == 90
for name, error in errors.items():
    by_age = [error[young & (day - 90 == age)].mean() for age in range(15)]
    plt.plot(range(1, 16), by_age, "o-", markersize=4, label=name)
plt.xlabel("days since the shop opened")
plt.ylabel("mean error")
plt.title("Ten new shops")
plt.ylim(0, None)
plt.legend()
plt.show()
