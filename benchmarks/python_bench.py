"""The Python package against numpy and against C++ on the same float32 arrays; prints the table of docs/benchmarks.md.

All sides get one thread, except "all cores", which is the call without `threads`. "numpy" is the KL estimate as the
formula stands, on whole arrays; "numpy, thrifty" takes logarithms and squares once per component instead of once per
pair; "numpy, in cache" is the thrifty one fed with as many inputs at a time as run fastest. C++ is the same call from
a program that takes turns with Python's: the ratio is the median over the turns, with the smallest and the
largest. Called by run.sh with the folder of the benchmark programs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

bin_folder = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(bin_folder.parent / "python"))
import dissent  # noqa: E402

SHAPES = [(10, 5, 1), (10000, 5, 1), (10000, 5, 27), (10000, 5, 257)]
TURNS = 5


def log_mean_exp(d):
    low = d.min(2, keepdims=True)
    return -(np.log(np.exp(low - d).mean(2)) - low[:, :, 0]).mean(1)


def kl(mean, stddev):
    mi, mj, si, sj = mean[:, :, None], mean[:, None], stddev[:, :, None], stddev[:, None]
    return log_mean_exp((np.log(sj / si) + (si**2 + (mi - mj) ** 2) / (2 * sj**2) - 0.5).sum(-1))


def thrifty_kl(mean, stddev):
    variance = stddev * stddev
    vi, vj = variance[:, :, None, :], variance[:, None, :, :]
    gap = mean[:, :, None, :] - mean[:, None, :, :]
    return log_mean_exp(0.5 * ((vi + gap**2) / vj - 1 + np.log(vj) - np.log(vi)).sum(-1))


def in_chunks(mean, stddev, chunk):
    return np.concatenate([thrifty_kl(mean[k : k + chunk], stddev[k : k + chunk]) for k in range(0, len(mean), chunk)])


def median_ms(body, repeats, seconds=0.5):
    body()
    times = []
    start = time.perf_counter()
    while len(times) < repeats or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        body()
        times.append((time.perf_counter() - begin) * 1e3)
    return float(np.median(times))


def cpp_ms(folder):
    command = [bin_folder / "python_bench", folder / "mean.npy", folder / "stddev.npy"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["median_ms"]


def main():
    random = np.random.default_rng(0)
    columns = ["N x M x D", "Python, ms", "C++, ms", "Python / C++", "numpy", "numpy, thrifty", "numpy, in cache"]
    print("| " + " | ".join(columns + ["all cores, ms", "numpy"]) + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        mean = random.standard_normal(shape, dtype=np.float32)
        stddev = np.exp(0.3 * random.standard_normal(shape, dtype=np.float32))
        assert np.allclose(dissent.epistemic(mean, stddev), kl(mean, stddev), rtol=1e-3, atol=1e-6)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            np.save(folder / "mean.npy", mean)
            np.save(folder / "stddev.npy", stddev)
            turns = [
                (median_ms(lambda: dissent.epistemic(mean, stddev, threads=1), 25), cpp_ms(folder))
                for _ in range(TURNS)
            ]
        ours, cpp = (float(np.median(column)) for column in zip(*turns))
        ratios = sorted(a / b for a, b in turns)
        default = median_ms(lambda: dissent.epistemic(mean, stddev), 25)
        middle = float(np.median(ratios))
        whole = median_ms(lambda: kl(mean, stddev), 3)
        thrifty = median_ms(lambda: thrifty_kl(mean, stddev), 3)
        cached = min([thrifty] + [median_ms(lambda: in_chunks(mean, stddev, c), 3) for c in (64, 256, 1024)])
        print(
            f"| {' x '.join(map(str, shape))} | {ours:.3g} | {cpp:.3g} "
            f"| {middle:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) "
            f"| {whole / ours:.1f}x | {thrifty / ours:.1f}x | {cached / ours:.1f}x "
            f"| {default:.3g} | {whole / default:.1f}x |",
            flush=True,
        )


main()
