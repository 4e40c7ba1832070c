"""The tables of the benchmark and their splits.

A folder holds each table as CSV with the target last. Split S permutes the rows by np.random.RandomState(S). The last
1,000 rows of the permutation are for testing (a quarter of a table of fewer than 1,500 rows); the first N train.
"""

import functools
import os
import subprocess

import numpy as np

TABLES = ("concrete", "diamonds", "ames", "sacramento", "diabetes", "friedman1")
SIZES = (40, 80, 150, 300, 1000)


class Split:
    """Training and test rows, and the names of the columns, target last."""

    def __init__(self, names, values, seed):
        order = np.random.RandomState(seed).permutation(len(values))
        num_test = 1000 if len(values) >= 1500 else min(1000, len(values) // 4)
        self.names = names
        self.train = values[order[:-num_test]]
        self.test = values[order[-num_test:]]


def write(path, names, values):
    """Writes a CSV file with every digit, whole or not at all."""
    partial = f"{path}.{os.getpid()}"
    np.savetxt(partial, values, fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    os.replace(partial, path)


def export(folder):
    """Makes the tables that are missing: four with R, two with scikit-learn."""
    missing = {table for table in TABLES if not os.path.exists(os.path.join(folder, f"{table}.csv"))}
    os.makedirs(folder, exist_ok=True)
    if missing - {"diabetes", "friedman1"}:
        script = os.path.join(os.path.dirname(__file__), "export.R")
        subprocess.run(["Rscript", "--vanilla", script, folder], check=True)
    if missing & {"diabetes", "friedman1"}:
        from sklearn.datasets import load_diabetes, make_friedman1
        diabetes = load_diabetes(scaled=False)
        write(os.path.join(folder, "diabetes.csv"), [*diabetes.feature_names, "progression"],
              np.column_stack([diabetes.data, diabetes.target]))
        write(os.path.join(folder, "friedman1.csv"), [*(f"x{i}" for i in range(10)), "y"],
              np.column_stack(make_friedman1(3000, 10, noise=1.0, random_state=7)))


@functools.lru_cache(maxsize=None)
def load(folder, table):
    path = os.path.join(folder, f"{table}.csv")
    with open(path) as file:
        names = file.readline().strip().split(",")
    return names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def split(folder, table, seed):
    return Split(*load(folder, table), seed)
