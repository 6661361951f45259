"""Labels that come late.

A payment is known to be fraud only weeks after it was made. A model that is told each label at
once looks better than it would be in use. `delay=` and `LateLabels` give the honest score.
"""

# %%
# Fraud comes in waves: what was fraud lately is a good sign of what is fraud now. That is just
# what late labels hide.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(3)
n = 1600
X = rng.normal(size=(n, 4))
wave = np.sin(np.arange(n) / 150)
fraud = X[:, 0] * X[:, 1] + 2.5 * wave * X[:, 2] + rng.normal(0, 0.4, n) > 0.6

# %%
# `prequential(..., delay=n)` predicts each row when it comes, and learns its label n rows later.

delays = [0, 50, 250]
mistakes = []
for delay in delays:
    model = onkel.OnlineKernelClassifier(n_components=30, speed="fast", pairs=False)
    result = onkel.prequential(model, (X, fraud), delay=delay)
    mistakes.append(100 * result.final.loss)
    print(f"labels {delay:4} rows late: {mistakes[-1]:.1f} % mistakes")

plt.plot(range(len(delays)), mistakes, "o-")
plt.xticks(range(len(delays)), delays)
plt.xlabel("rows until a label comes")
plt.ylabel("mistakes, %")
plt.title("The same stream, the same model")
plt.ylim(0, None)
plt.show()

# %%
# In use, rows and labels are two streams, and each label comes with the id of its row.

late = onkel.LateLabels(onkel.OnlineKernelClassifier(n_components=30, speed="fast"))
for t in range(200):
    answer = late.predict(f"payment {t}", X[t])
    if t >= 50:
        late.learn(f"payment {t - 50}", bool(fraud[t - 50]))
print(late.n_waiting, "payments wait for their labels")
