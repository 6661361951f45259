"""One row, explained.

A customer was refused. Which columns made it so? `explain` splits the score of one row into what
each column contributed; together they give the score.
"""

# %%
# The table is made, so the rule is known and the answer can be checked: debt counts against
# income, the more the shorter somebody is in a job, and rent counts, too.

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(1)
n = 4000
rows = {
    "income": rng.gamma(4.0, 700.0, n),
    "debt": rng.gamma(1.5, 4000.0, n),
    "years in job": rng.integers(0, 20, n).astype(float),
    "housing": rng.choice(["own", "rent", "free"], n, p=[0.5, 0.4, 0.1]),
    "shoe size": rng.normal(42, 2, n),
}
burden = rows["debt"] / (rows["income"] * (1 + rows["years in job"] / 10))
refused = burden + 0.8 * (rows["housing"] == "rent") + rng.normal(0, 0.3, n) > 2.2

model = onkel.StreamModel(onkel.OnlineKernelClassifier(n_components=100, speed="fast"))
before = model.predict_then_learn(rows, np.where(refused, "refused", "granted"))
print(f"{np.mean((before == 'refused') != refused):.1%} mistakes")

# %%
# Contributions are Shapley values over the rows that the model keeps. The shoe size, which plays
# no part, gets next to nothing.

row = {"income": 1500.0, "debt": 9000.0, "years in job": 1.0, "housing": "rent", "shoe size": 43.0}
explanation = model.explain(row)
print(explanation)

# %%
# The same as a picture.

parts = explanation.contributions
names = sorted(parts, key=lambda name: abs(parts[name]))
values = [parts[name] for name in names]
plt.barh(names, values, color=["#c23b3b" if v > 0 else "#1f5fa8" for v in values])
plt.yticks(range(len(names)), [f"{name} = {row[name]:g}" if name != "housing" else "housing = rent"
                               for name in names])  # fmt: skip
plt.axvline(0, color="#333333", linewidth=1)
plt.xlabel("contribution to the score of “refused”")
plt.title("Why was this customer refused?")
plt.grid(axis="y")
plt.show()
