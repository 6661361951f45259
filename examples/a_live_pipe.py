"""A live pipe.

Rows come as lines of JSON, and labels come later, as lines of their own. `onkel live` answers each
row at once and learns each label when it comes. Here a small program is the other end of the pipe.
"""

# %%
# Orders come one after the other; the price of an order is known twenty orders later.

import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n, late = 1500, 20
size, town = rng.uniform(20, 140, n), rng.choice(["Ulm", "Bonn", "Trier"], n)
base = {"Ulm": 3.0, "Bonn": 4.0, "Trier": 2.2}
price = size * np.array([base[t] for t in town]) + rng.normal(0, 8, n)
lines = []
for t in range(n + late):
    if t < n:
        lines.append({"id": t, "size": round(size[t], 1), "town": str(town[t])})
    if t >= late:
        lines.append({"id": t - late, "price": round(price[t - late], 2)})
print("\n".join(map(json.dumps, lines[25:29])))

# %%
# One process reads the lines and writes an answer to each order. The model is saved at the end,
# with the rows that still wait for their price.

command = [sys.executable, "-m", "onkel", "live", "prices.onkel", "--task", "regression",
           "--target", "price", "--level", "0.9", "--set", "speed=fast", "--set", "n_components=60",
           "--metrics-every", "0"]  # fmt: skip
run = subprocess.run(
    command, input="\n".join(map(json.dumps, lines)), text=True, capture_output=True, check=True
)
answers = [json.loads(line) for line in run.stdout.splitlines()]
print(run.stdout.splitlines()[-1])

# %%
# Orders that were answered with bounds.

predicted = [a for a in answers if a["prediction"] is not None]
error = np.abs([price[a["id"]] - a["prediction"] for a in predicted])
mean = np.convolve(error, np.ones(50) / 50, "valid")
plt.plot(np.arange(len(mean)) + 50, mean)
plt.axhline(np.sqrt(2 / np.pi) * 8, color="#6b7785", linestyle="--", linewidth=1)
plt.text(len(mean) * 0.62, 2.5, "dashed: what noise leaves", color="#555555", fontsize=10)
plt.xlabel("order")
plt.ylabel("mean error of the last 50 answers")
plt.title("Answers of one process, labels 20 orders late")
plt.ylim(0, 30)
plt.show()
