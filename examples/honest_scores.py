"""Honest scores, and a linear baseline.

Every row is predicted before it is learned, so the mistakes of a run are those of rows that the
model had not seen. No test set is held back, and the curve shows how fast a learner gets good.
"""

# %%
# A checkerboard: a linear learner can do nothing, a kernel can.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (12000, 2))
y = (np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2 == 0

models = {
    "pa: linear": onkel.make("pa"),
    "fogd: random features": onkel.make("fogd", n_components=400, gamma=4.0, random_state=0),
    "okl: the default": onkel.OnlineKernelClassifier(n_components=200, speed="fast"),
}
curves = {}
for name, model in models.items():
    wrong = model.predict_then_learn(X, y) != y
    curves[name] = 100 * np.cumsum(wrong) / np.arange(1, len(y) + 1)
    held_out = rng.uniform(-2, 2, (4000, 2))
    truth = (np.floor(held_out[:, 0]) + np.floor(held_out[:, 1])) % 2 == 0
    late = 100 * wrong[-2000:].mean()
    print(f"{name:22} last 2 000 rows {late:4.1f} %, "
          f"new rows {100 * np.mean(model.predict(held_out) != truth):4.1f} %")  # fmt: skip

# %%
# The mistakes of the last rows, each before it was learned, agree with those on new rows.

for name, curve in curves.items():
    plt.plot(np.arange(1, len(y) + 1), curve, label=name)
plt.xscale("log")
plt.xlabel("rows")
plt.ylabel("mistakes so far, %")
plt.title("A checkerboard")
plt.ylim(0, 60)
plt.legend()
plt.show()
