"""Electricity, with bounds around tomorrow.

An hourly load with a day, a week and weather that nobody measured. The default predicts each hour
from its columns and from the hours before, and puts bounds around it that hold nine of ten.
"""

# %%
# The rows are made: hour, weekday and temperature are columns. A slow wave, which no column shows,
# moves the load as well. Evenings vary more than nights.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
n = 24 * 7 * 30
hour, weekday = np.arange(n) % 24, np.arange(n) // 24 % 7
warmth = 12 + 8 * np.sin(np.arange(n) / 24 / 365 * 2 * np.pi) + rng.normal(0, 3, n)
hidden = np.cumsum(rng.normal(0, 0.35, n))
daily = 9 * np.exp(-((hour - 19) ** 2) / 8) + 6 * np.exp(-((hour - 8) ** 2) / 6)
noise = rng.normal(0, 0.6 + 1.2 * (hour >= 17) * (hour <= 21))
load = 40 + daily * np.where(weekday < 5, 1.0, 0.6) + 0.03 * (warmth - 18) ** 2 + hidden + noise
rows = {"hour": hour.astype(float), "weekday": weekday.astype(float), "warmth": warmth}

# %%
# `predict_interval_then_learn` predicts each row with its bounds, then learns it. Each label moves
# the bounds: a miss widens them, a hit narrows them a little.

model = onkel.StreamModel(onkel.OnlineKernelRegressor(n_components=150, speed="fast"))
p, bounds = model.predict_interval_then_learn(rows, load, 0.9)
inside = (bounds[:, 0] <= load) & (load <= bounds[:, 1])
week = slice(n - 24 * 4, n)
print(f"inside: {inside[500:].mean():.1%} of all hours")
print(f"in the worst week: {inside[500 : 500 + 168 * 27].reshape(27, 168).mean(axis=1).min():.1%}")
last = np.sqrt(np.mean(np.diff(load)[500:] ** 2))
print(f"RMSE {np.sqrt(np.mean((p - load)[500:] ** 2)):.2f}; repeating the last hour: {last:.2f}")

# %%
# The last four days. The bounds are wider where the errors of late were larger.

hours = np.arange(24 * 4)
plt.fill_between(hours, *bounds[week].T, color="#1f5fa8", alpha=0.18, label="90 % bounds")
plt.plot(hours, p[week], label="prediction")
plt.plot(hours, load[week], "o", color="#e07a1f", markersize=3.5, label="what came")
out = ~inside[week]
plt.plot(hours[out], load[week][out], "o", color="#c23b3b", markersize=6, label="outside")
plt.xticks(range(0, 97, 24), ["Thu", "Fri", "Sat", "Sun", ""], ha="left")
plt.ylabel("load")
plt.title("Four days, each hour predicted before it came")
plt.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.1))
plt.show()
