"""Pairwise scores by PyTorch on a card, eager and compiled: the table of gpu_score_bench.

The formula as one writes it, on arrays in the card's memory that take turns so that none is still in the cache. Inputs
go through in parts if the [inputs x components x components x outputs] temporaries would fill the memory. Times are by
the card's clock; the share is the bandwidth of reading the mixture once and writing the result, relative to a copy's.
"""
import statistics
import sys

import torch

from torch_formulas import bhattacharyya, kl

SHAPES = [(10_000, 5, 257), (500, 100, 257), (1_000_000, 5, 11)]
ROTATED_BYTES = 4e8
MOST_TEMPORARY = 4e9  # numbers in the largest temporary


def milliseconds(body, repeats=50):
    """Median and quartiles by the card's clock, after a few runs to warm up."""
    times = []
    for k in range(-5, repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        body()
        end.record()
        end.synchronize()
        if k >= 0:
            times.append(begin.elapsed_time(end))
    return statistics.quantiles(times, n=4)


def copy_bandwidth():
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / milliseconds(lambda: target.copy_(source))[1] * 1e3


def rotated(shape):
    size = 8 * shape[0] * shape[1] * shape[2]
    mean = torch.randn(shape, device="cuda")
    stddev = torch.exp(0.5 * torch.randn(shape, device="cuda"))
    return [(mean.clone(), stddev.clone()) for _ in range(2 + int(ROTATED_BYTES / size))]


def in_parts(formula, part):
    def whole(mean, stddev):
        if part >= len(mean):
            return formula(mean, stddev)
        return torch.cat([formula(mean[k : k + part], stddev[k : k + part]) for k in range(0, len(mean), part)])

    return whole


def row(shape, name, kind, body, bandwidth):
    low, median, high = milliseconds(body)
    moved = 8 * shape[0] * shape[1] * shape[2] + 8 * shape[0]
    share = 100 * moved / (median * 1e-3) / bandwidth
    size = " x ".join(str(n) for n in shape)
    print(f"| {size} | {name}, {kind} | apart | {median:.4f} | {low:.4f} to {high:.4f} | {share:.0f}% |", flush=True)


def main():
    if not torch.cuda.is_available():
        sys.exit("gpu_score_peers: PyTorch sees no card")
    bandwidth = copy_bandwidth()
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}: a copy moves {bandwidth / 1e12:.2f} TB/s\n")
    print("| inputs x components x outputs | estimator | components | ms | quartiles | of a copy's bandwidth |")
    print("|---|---|---|---|---|---|")
    for shape in SHAPES:
        arrays, turn = rotated(shape), [0]
        part = max(1, int(MOST_TEMPORARY / (shape[1] * shape[1] * shape[2])))
        for name, formula in (("kl", kl), ("bhattacharyya", bhattacharyya)):
            for kind, function in (("eager", formula), ("compiled", torch.compile(formula))):
                whole = in_parts(function, part)

                def body(whole=whole):
                    turn[0] += 1
                    return whole(*arrays[turn[0] % len(arrays)])

                try:
                    row(shape, name, kind, body, bandwidth)
                except torch.cuda.OutOfMemoryError:
                    print(f"| {' x '.join(map(str, shape))} | {name}, {kind} | apart | out of memory | | |", flush=True)


if __name__ == "__main__":
    main()
