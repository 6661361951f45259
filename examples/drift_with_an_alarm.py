"""A stream that changes, and an alarm.

The rule that makes the labels changes at row 8 000, and nothing says so. The default notices by
its losses: an alarm rings, and a second model starts and takes over. A model without a restart
stays wrong for long.
"""

# %%
# `drift_stream` makes rows of two classes whose border changes. The distribution of the columns
# stays, so only the labels show the change. One label in twenty is wrong: no model gets below 5 %
# mistakes.

import matplotlib.pyplot as plt
import numpy as np

import onkel
from onkel.datasets import drift_stream

blocks = list(drift_stream("abrupt", n_rows=16_000, period=8_000, seed=1))
X, y = (np.concatenate([getattr(block, part) for block in blocks]) for part in "Xy")

follows = onkel.OnlineKernelClassifier(n_components=150, speed="fast")
stays = onkel.OnlineKernelClassifier(n_components=150, speed="fast", restart=False)
wrong = {
    "default: begins anew": follows.predict_then_learn(X, y) != y,
    "restart=False": stays.predict_then_learn(X, y) != y,
}
print("an alarm rang at rows", follows.alarms_)
print("a second model took over at rows", follows.changes_)

# %%
# Every row was predicted before it was learned, so the curve is that of rows that no model had
# seen.

window = 500
for name, mistakes in wrong.items():
    mean = np.convolve(mistakes, np.ones(window) / window, "valid")
    plt.plot(np.arange(window, len(y) + 1), 100 * mean, label=name)
for row in follows.alarms_:
    plt.axvline(row, color="#c23b3b", linestyle=":", label="the alarm rings")
plt.axhline(5, color="#6b7785", linewidth=1, linestyle="--", label="the best possible")
plt.xlabel("row")
plt.ylabel(f"mistakes, % of the last {window}")
plt.title("The rule changes at row 8 000")
plt.ylim(0, None)
plt.legend(loc="upper left", fontsize=9.5)
plt.show()
