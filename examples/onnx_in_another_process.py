"""ONNX, in another process.

A model that has learned can leave Python: as an ONNX graph it runs in C++, C#, Java, JavaScript or
Rust. Here another process loads it with onnxruntime. It has not even imported onkel.
"""

# %%
# Learn, and write the graph.

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import onkel

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (4000, 2))
y = np.where(np.sin(X[:, 0] * X[:, 1]) > 0, "up", "down")
model = onkel.OnlineKernelClassifier(n_components=100, speed="fast").fit(X, y)
model.export_onnx("model.onnx")
print(f"{Path('model.onnx').stat().st_size / 1e3:.0f} kB")

side = np.linspace(-3, 3, 150)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
np.save("rows.npy", grid)

# %%
# The other process: five lines, NumPy and onnxruntime.

program = """
import numpy, onnxruntime, sys
session = onnxruntime.InferenceSession("model.onnx")
label, score, share = session.run(None, {"X": numpy.load("rows.npy")})
numpy.save("shares.npy", share)
print("onkel loaded there:", "onkel" in sys.modules)
"""
other = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, check=True)
print(other.stdout.strip())

# %%
# Its probabilities are those of the model here.

shares = np.load("shares.npy")
print(f"largest difference {np.abs(shares - model.predict_proba(grid)).max():.0e}")
figure, ax = plt.subplots(figsize=(5.6, 4.2))
shown = ax.contourf(side, side, shares[:, 1].reshape(150, 150), np.linspace(0, 1, 21), cmap="RdBu")
figure.colorbar(shown, ax=ax, label="probability of “up”", ticks=[0, 0.5, 1])
ax.grid(False)
ax.set(aspect="equal", xlabel="column 1", ylabel="column 2")
ax.set_title("Computed by onnxruntime")
plt.show()
