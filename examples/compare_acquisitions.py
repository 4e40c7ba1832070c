"""Compares ways to choose what to measure next, over rounds of active learning: compare_acquisitions.png."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dissent

FIRST, BATCH, ROUNDS, REPEATS = 20, 5, 8, 3


def data(n, random):
    """Most of the pool is dull: x near 0. What matters for the test happens near the edges."""
    x = np.clip(random.normal(0, 0.35, size=(n, 2)), -1, 1)
    return x, np.sin(6 * x[:, 0]) * x[:, 1] + np.abs(x[:, 0]) + 0.02 * random.normal(size=n)


def learn(acquisition, seed):
    """The error on uniform test rows after each round."""
    random = np.random.default_rng(seed)
    x, y = data(1000, random)
    test = random.uniform(-1, 1, size=(500, 2))
    truth = np.sin(6 * test[:, 0]) * test[:, 1] + np.abs(test[:, 0])
    known = list(range(FIRST))
    errors = []
    for round_number in range(ROUNDS):
        model = dissent.ProbabilisticEnsemble(epochs=300, random_state=seed).fit(x[known], y[known])
        errors.append(np.sqrt(np.mean((model.predict(test) - truth) ** 2)))
        rest = np.setdiff1d(np.arange(len(x)), known)
        known += rest[dissent.query(model, x[rest], BATCH, acquisition, random_state=round_number)].tolist()
    return errors


curves = {name: [learn(name, seed) for seed in range(REPEATS)] for name in ("kl-joint", "kl", "random")}
dissent.plot.learning_curves(curves, rows=FIRST + BATCH * np.arange(ROUNDS))
plt.savefig("compare_acquisitions.png", dpi=150)
for name, errors in curves.items():
    print(
        f"{name:>9}: rmse {np.mean(errors, axis=0)[0]:.3f} with {FIRST} rows, {np.mean(errors, axis=0)[-1]:.3f} "
        f"with {FIRST + BATCH * (ROUNDS - 1)}"
    )
print("wrote compare_acquisitions.png")
