"""How far fits stay from the known truth, by model, preset and number of rows; tables of docs/ensembles.md.

Data: hetero and bimodal (docs/problems.md), drawn by `dissent collect`; training rows with seeds 101, 102, ..., 10,000
test rows of the same distribution with seeds 201, 202, ... The gap is the true conditional density's mean test
log-likelihood minus the fitted model's, in nats per row.

usage: quality_bench.py BIN [--seeds N] [--rows 600,5000] [--presets default,paper] [--threads T]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)


def normal(z, stddev):
    return -0.5 * (z / stddev) ** 2 - np.log(stddev) - HALF_LOG_TWO_PI


TRUTH = {
    "hetero": lambda x, y: normal(y - 7 * np.sin(x), 3 * np.abs(np.cos(x / 2))),
    "bimodal": lambda x, y: np.logaddexp(normal(y - 10 * np.sin(x), 1), normal(y - 10 * np.cos(x) - 20 + x, 1))
    - np.log(2),
}


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *arguments):
        command = [self.program, *map(str, arguments), "--json"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=self.folder).stdout)


def measure(run, problem, model, preset, rows, seed, threads, extra):
    run("collect", problem, "--rows", rows, "--seed", 100 + seed, "-o", "train.npz")
    run("collect", problem, "--rows", 10000, "--seed", 200 + seed, "-o", "test.npz")
    report = run("fit", "train.npz", "-t", "y", "-m", model, "--preset", preset, "--seed", seed, "--threads", threads,
                 "-o", "m", *extra)
    metrics = run("evaluate", "m", "test.npz")
    test = np.load(os.path.join(run.folder, "test.npz"))
    truth = np.mean(TRUTH[problem](test["x"], test["y"]))
    return truth - metrics["log_likelihood"], metrics["coverage_90"], report["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", default="600,5000")
    parser.add_argument("--presets", default="default,paper")
    parser.add_argument("--problems", default="hetero,bimodal")
    parser.add_argument("--models", default="flow,pne")
    parser.add_argument("--threads", type=int, default=1)
    arguments, extra = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(os.path.abspath(os.path.join(arguments.bin, "dissent")), folder)
        print("| problem | rows | model | preset | gap, mean (each seed) | coverage of 90% | s a fit |")
        print("|---|---|---|---|---|---|---|")
        for problem in arguments.problems.split(","):
            for rows in map(int, arguments.rows.split(",")):
                for model in arguments.models.split(","):
                    for preset in arguments.presets.split(","):
                        seeds = range(1, arguments.seeds + 1)
                        results = np.array([measure(run, problem, model, preset, rows, seed, arguments.threads, extra)
                                            for seed in seeds])
                        gaps = ", ".join(f"{gap:.3f}" for gap in results[:, 0])
                        mean = results.mean(0)
                        print(f"| {problem} | {rows} | `{model}` | `{preset}` | {mean[0]:.3f} ({gaps}) "
                              f"| {mean[1]:.3f} | {mean[2]:.1f} |")
                        sys.stdout.flush()


if __name__ == "__main__":
    main()
