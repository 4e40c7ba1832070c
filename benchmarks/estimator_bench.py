"""The pairwise estimators against PyTorch and against reading their input once; prints the table of docs/benchmarks.md.

Both sides get the same float32 arrays and one thread. "PyTorch" is the formula as one writes it, on whole arrays (for
500 x 100 x 257, whose temporaries would need 25 GB, on 50 inputs at a time); "PyTorch, in cache" is the same formula fed
with as many inputs at a time as run fastest, the best of several sizes. Times are medians; ratios are of this run only.
Called by run.sh with the folder of the benchmark programs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

from torch_formulas import bhattacharyya, kl

SHAPES = [(10000, 5, 1), (10000, 5, 3), (10000, 5, 11), (10000, 5, 27), (10000, 5, 257), (500, 100, 257)]
NAMES = ["kl", "bhattacharyya"]


FORMULAS = {"kl": kl, "bhattacharyya": bhattacharyya}


def in_chunks(formula, mean, stddev, chunk):
    return torch.cat([formula(mean[k : k + chunk], stddev[k : k + chunk]) for k in range(0, len(mean), chunk)])


def median_ms(body, repeats, seconds=1.0):
    """The median of at least `repeats` runs that together take at least `seconds`, after one to warm up."""
    if repeats > 1:
        body()
    times = []
    start = time.perf_counter()
    while len(times) < repeats or (repeats > 1 and time.perf_counter() - start < seconds):
        begin = time.perf_counter()
        body()
        times.append((time.perf_counter() - begin) * 1e3)
    return float(np.median(times))


def measure_torch(mean, stddev):
    n, m, _ = mean.shape
    result = {}
    for name in NAMES:
        formula = FORMULAS[name]
        whole = 50 if m == 100 else n
        result[name] = median_ms(lambda: in_chunks(formula, mean, stddev, whole), 1 if m == 100 else 3)
        sizes = [1, 2] if m == 100 else [64, 256, 1024]
        result[name + " in cache"] = min(
            [result[name]] + [median_ms(lambda: in_chunks(formula, mean, stddev, c), 2 if m == 5 else 1) for c in sizes]
        )
    return result


def measure_ours(program, mean, stddev, folder):
    np.save(folder / "mean.npy", mean)
    np.save(folder / "stddev.npy", stddev)
    lines = subprocess.run(
        ["taskset", "-c", "0,1", program, folder / "mean.npy", folder / "stddev.npy", folder / "scores.npz"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}, np.load(folder / "scores.npz")


def main():
    program = pathlib.Path(sys.argv[1]) / "estimator_bench"
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("| N x M x D | estimator | ours, ms (quartiles) | PyTorch | PyTorch, in cache | x reading | 2 threads | mc:5000 | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n, m, d in SHAPES:
            mean = rng.standard_normal((n, m, d), dtype=np.float32)
            stddev = np.exp(0.3 * rng.standard_normal((n, m, d), dtype=np.float32))
            peer = measure_torch(torch.from_numpy(mean), torch.from_numpy(stddev))
            ours, scores = measure_ours(program, mean, stddev, folder)
            for estimator in NAMES:
                expected = FORMULAS[estimator](torch.from_numpy(mean[:50]), torch.from_numpy(stddev[:50])).numpy()
                assert np.allclose(scores[estimator][:50], expected, rtol=1e-3), f"{estimator} disagrees with PyTorch"
                t = ours[estimator]["median_ms"]
                row = ours[estimator]
                print(
                    f"| {n} x {m} x {d} | {estimator} | {t:.3g} ({row['low_ms']:.3g} to {row['high_ms']:.3g}) "
                    f"| {peer[estimator] / t:.1f}x | {peer[estimator + ' in cache'] / t:.1f}x "
                    f"| {t / ours['read']['median_ms']:.1f} "
                    f"| {t / ours[estimator + ' two threads']['median_ms']:.2f}x "
                    f"| {ours['mc:5000']['median_ms'] / t:.0f}x | {ours[estimator + ' error']['value']:.1e} |",
                    flush=True,
                )


main()
