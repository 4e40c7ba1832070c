"""Campaigns on a table by peers: 60 rows labelled at first, ten rounds, 20 rows chosen after each but the last.

gp-random and gp-variance: the Gaussian process of peers.py, with random rows or those of the highest variance among
1,000 drawn from the pool. A step's predictor gives means and stddevs, or None if it has no stddevs. lcmd: LCMD-TP of
the library bmdal_reg (Holzmueller et al., 2023) with its own network; the environment variable DISSENT_BMDAL_DIR names
a copy of that library.
"""

import contextlib
import os
import sys
import time

import numpy as np

FIRST, BATCH, ROUNDS = 60, 20, 10
TABLES = ("concrete", "diabetes", "sacramento", "diamonds")
CANDIDATES = 1000


def gp_round(x, y, pool_x, seed, random, by_variance):
    """A predictor, and the rows of the pool to label."""
    from tables.peers import gaussian_process
    predict = gaussian_process(x, y, seed)
    rows = random.choice(len(pool_x), min(len(pool_x), CANDIDATES), replace=False)
    if by_variance:
        rows = rows[np.argsort(-predict(pool_x[rows])[1], kind="stable")]
    return predict, rows[:BATCH]


def lcmd_round(x, y, pool_x, seed, random, by_lcmd=True):
    import torch
    sys.path.insert(0, os.environ["DISSENT_BMDAL_DIR"])
    from bmdal_reg.bmdal.algorithms import select_batch
    from bmdal_reg.bmdal.feature_data import TensorFeatureData
    from bmdal_reg.nn_interface import NNRegressor
    torch.set_num_threads(1)
    network = NNRegressor(device="cpu", seed=seed)
    with open(os.devnull, "w") as silence, contextlib.redirect_stdout(silence):  # it prints a dot per epoch
        network.fit(x, y)
    rows = random.choice(len(pool_x), min(len(pool_x), 10 * CANDIDATES), replace=False)

    def predict(test_x):
        return network.predict(test_x)[:, 0], None

    if not by_lcmd:
        return predict, rows[:BATCH]

    def features(values):  # as the network sees them
        scaled = (torch.as_tensor(values, dtype=torch.float) - network.means_) / (network.stds_ + 1e-30)
        return TensorFeatureData(5 * torch.tanh(0.2 * scaled))

    chosen, _ = select_batch(batch_size=BATCH, models=[network.model_.get_single_model(0)],
                             data={"train": features(x), "pool": features(pool_x[rows])},
                             y_train=torch.as_tensor(y, dtype=torch.float)[:, None], selection_method="lcmd",
                             sel_with_train=True, base_kernel="grad", kernel_transforms=[("rp", [512])])
    return predict, rows[np.asarray(chosen)]


STEPS = {
    "gp-random": lambda *data: gp_round(*data, by_variance=False),
    "gp-variance": lambda *data: gp_round(*data, by_variance=True),
    "lcmd": lcmd_round,
}


def campaign(step, train, test, seed):
    """Rounds as dicts of labelled, rmse, log_likelihood and seconds; a step is one of STEPS, or like them."""
    from tables.peers import mean_log_likelihood
    random = np.random.RandomState(10_000 + seed)
    labelled, pool, rounds = train[:FIRST], train[FIRST:], []
    for number in range(ROUNDS):
        begin = time.perf_counter()
        predict, chosen = step(labelled[:, :-1], labelled[:, -1], pool[:, :-1], 100 * seed + number, random)
        mean, stddev = predict(test[:, :-1])
        rounds.append({"labelled": len(labelled), "rmse": np.sqrt(np.mean((mean - test[:, -1]) ** 2)),
                       "log_likelihood": np.nan if stddev is None else mean_log_likelihood(test[:, -1], mean, stddev),
                       "seconds": time.perf_counter() - begin})
        labelled = np.concatenate([labelled, pool[chosen]])
        pool = np.delete(pool, chosen, axis=0)
    return rounds
