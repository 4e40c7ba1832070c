"""Test RMSE and negative log-likelihood of `dissent fit` beside scikit-learn's networks and bagging, on the same splits.

Data: diabetes (442 rows, 10 inputs; ships with scikit-learn) and Friedman's first function (x uniform in [0, 1]^10,
y = 10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4 + z, z standard normal; drawn here), each split 80/20 at random.

scikit-learn's models predict a number. Each gets a Gaussian around it, with the better of two stddevs: one for all rows,
the root mean square of out-of-bag residuals (bagging) or five-fold cross-validated ones (single network); or, for
bagging, sqrt(v(x) + c) with v the variance between members and c the value of the highest out-of-bag likelihood.
Networks see standardised inputs and targets.

usage: tables_bench.py BIN [--splits N] [--only ours|peers] [-- OPTIONS OF dissent fit]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def friedman1(num_rows, seed):
    random = np.random.default_rng(seed)
    x = random.uniform(size=(num_rows, 10))
    mean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, mean + random.normal(size=num_rows)


def tables():
    yield "diabetes", load_diabetes(return_X_y=True)
    for num_rows in (500, 2500):
        yield f"friedman1, {num_rows} rows", friedman1(num_rows, 1)


def gaussian_nll(y, mean, stddev):
    return np.mean(0.5 * np.log(2 * np.pi * stddev**2) + 0.5 * ((y - mean) / stddev) ** 2)


def rmse(y, mean):
    return np.sqrt(np.mean((y - mean) ** 2))


def network(**options):
    inner = make_pipeline(StandardScaler(), MLPRegressor(max_iter=2000, random_state=0, **options))
    return TransformedTargetRegressor(inner, transformer=StandardScaler())


def single(model, x, y, test_x, test_y):
    residual = rmse(y, cross_val_predict(model, x, y, cv=5))
    mean = model.fit(x, y).predict(test_x)
    return rmse(test_y, mean), gaussian_nll(test_y, mean, residual)


def out_of_bag(model, x):
    """Mean and variance of the members that did not see a row."""
    values = np.stack([member.predict(x) for member in model.estimators_])
    unseen = np.ones(values.shape, bool)
    for row, sample in zip(unseen, model.estimators_samples_):
        row[sample] = False
    values[~unseen] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a row that every member saw
        return np.nanmean(values, 0), np.nanvar(values, 0)


def bagging(member, num_members, x, y, test_x, test_y):
    model = BaggingRegressor(member, num_members, random_state=0).fit(x, y)
    mean, variance = out_of_bag(model, x)
    known = np.isfinite(mean)
    y, mean, variance = y[known], mean[known], variance[known]
    residual = rmse(y, mean)
    extra = residual**2 * np.geomspace(1e-3, 2, 100)
    best = extra[np.argmin([gaussian_nll(y, mean, np.sqrt(variance + c)) for c in extra])]
    test = np.stack([m.predict(test_x) for m in model.estimators_])
    return rmse(test_y, test.mean(0)), min(gaussian_nll(test_y, test.mean(0), residual),
                                           gaussian_nll(test_y, test.mean(0), np.sqrt(test.var(0) + best)))


def ours(program, kind, options, x, y, test_x, test_y):
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("train.npz", "test.npz", "model")]
        np.savez(names[0], x=x, y=y)
        np.savez(names[1], x=test_x, y=test_y)
        fit = [program, "fit", names[0], "--targets", "y", "--model", kind, "--output", names[2], "--quiet"]
        subprocess.run([*fit, *options], check=True)
        out = subprocess.run([program, "evaluate", names[2], names[1], "--json"], check=True, stdout=subprocess.PIPE)
        metrics = json.loads(out.stdout)
        return metrics["rmse"], -metrics["log_likelihood"]


def methods(program, options, only):
    if only != "peers":
        yield "`flow`", lambda *data: ours(program, "flow", options, *data)
        yield "`pne`", lambda *data: ours(program, "pne", options, *data)
    if only == "ours":
        return
    yield "MLPRegressor", lambda *data: single(network(), *data)
    yield "MLPRegressor, early stopping", lambda *data: single(network(early_stopping=True), *data)
    yield "BaggingRegressor, 100 trees", lambda *data: bagging(None, 100, *data)
    early = network(early_stopping=True)
    yield "BaggingRegressor, 10 networks, early stopping", lambda *data: bagging(early, 10, *data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--only", choices=["ours", "peers"])
    parser.add_argument("--table")
    arguments, options = parser.parse_known_args()
    options = [option for option in options if option != "--"]
    warnings.simplefilter("ignore", ConvergenceWarning)
    program = os.path.join(arguments.bin, "dissent")
    for title, (x, y) in tables():
        if arguments.table and not title.startswith(arguments.table):
            continue
        print(f"| {title} | RMSE | NLL | s a fit |\n|---|---|---|---|")
        for name, method in methods(program, options, arguments.only):
            scores = []
            begin = time.perf_counter()
            for split in range(arguments.splits):
                order = np.random.default_rng(1000 + split).permutation(len(y))
                test, train = np.split(order, [len(y) // 5])
                scores.append(method(x[train], y[train], x[test], y[test]))
            seconds = (time.perf_counter() - begin) / arguments.splits
            mean = np.mean(scores, 0)
            error = np.std(scores, 0, ddof=1) / np.sqrt(arguments.splits)
            print(f"| {name} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.3f} ± {error[1]:.3f} | {seconds:.1f} |")
            sys.stdout.flush()
        print()


if __name__ == "__main__":
    main()
