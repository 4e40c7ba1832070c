"""Chooses the next batch of experiments for a pandas table: writes next_batch.csv."""
import numpy as np
import pandas as pd

import dissent

# Thirty experiments so far: yield by temperature, pressure and catalyst, all at moderate temperature.
random = np.random.default_rng(0)


def experiment(table):
    heat = np.exp(-(((table.temperature - 380) / 60) ** 2))
    return 90 * heat * (1 - np.exp(-table.pressure / 4)) * np.sqrt(table.catalyst) + random.normal(0, 1, len(table))


def settings(n, low, high):
    return pd.DataFrame(
        {
            "temperature": random.uniform(low, high, n),
            "pressure": random.uniform(1, 10, n),
            "catalyst": random.uniform(0.1, 1, n),
        }
    ).round(2)


done = settings(30, 300, 360)
done["yield"] = experiment(done).round(1)
possible = settings(2000, 300, 460)
inputs = ["temperature", "pressure", "catalyst"]

model = dissent.AutoEnsemble(random_state=0).fit(done[inputs], done["yield"])
print("model", model.fit_report_["choice"])
chosen, utilities = dissent.query(model, possible, batch=8, return_utilities=True)

batch = possible.iloc[chosen]
batch = batch.assign(expected=model.predict(batch).round(1), utility=utilities[range(8), chosen].round(3))
batch.to_csv("next_batch.csv", index_label="row")
print("do these eight experiments next:")
print(batch.to_string())
print(f"\n{(batch.temperature > 360).sum()} of 8 lie above 360 degrees, where nothing was measured yet")
print("wrote next_batch.csv")
