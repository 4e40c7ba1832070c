"""Fits a flow ensemble to data with two branches and plots what it knows: fit_1d.png."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dissent

random = np.random.default_rng(0)
x = random.exponential(0.8, size=400)
y = np.where(random.random(400) < 0.5, 10 * np.sin(x), 10 * np.cos(x) + 20 - x) + random.normal(size=400)

model = dissent.FlowEnsemble(epochs=150, random_state=0).fit(x[:, None], y)
dissent.plot.uncertainty_1d(model, x, y)
plt.savefig("fit_1d.png", dpi=150)

at = np.array([[0.5], [2.0], [5.0]])
for row, epistemic, draws in zip(at, model.epistemic(at), model.sample_y(at, 1000)):
    low, high = np.quantile(draws, [0.1, 0.9])
    print(f"x = {row[0]:.1f}: 80% of y between {low:5.1f} and {high:5.1f}, epistemic uncertainty {epistemic:.2f} nats")
print("wrote fit_1d.png")
