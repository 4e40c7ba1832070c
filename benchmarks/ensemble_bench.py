"""Ensembles of the paper's sizes against PyTorch: training step, prediction, choice; prints tables of docs/benchmarks.md.

Both sides do the same work on one thread, in float32. A step updates all five members, each on a batch of 256 rows of
its own sample, by maximum likelihood and Adam; for flow, the loss is the mean of the members' and its gradient reaches
the shared flow through all of them. PyTorch is written twice: with one batched product for all members, and with the
members one after the other; the faster one counts. "A member a step" is what the published code does: each step draws
one member, and the flow steps along; five of its steps are compared with one of ours. The peer loads the model that our
program has written, and must give the same mixture and log density before it is timed. Times are the thread's own, so
that other programs on the machine matter less; PyTorch's memory is kept between steps (see main).
Called by run.sh with the folder of the benchmark programs; further arguments name the parts to run: flow, pne, fit.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch.nn import functional as F

SIZES = [(1, 1), (14, 11), (35, 27), (274, 257)]  # inputs, outputs: hetero, Hopper, Ant, Humanoid
MEMBERS, BATCH, ROWS, CANDIDATES = 5, 256, 2048, 10_000
BINS, BOUND, LEAST = 10, 1.2, 1e-3
LOG_TWO_PI = float(np.log(2 * np.pi))


def read_model(path):
    """The arrays of a safetensors file, by name."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    types = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
    return {
        name: np.frombuffer(data[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]],
                            types[entry["dtype"]]).reshape(entry["shape"]).copy()
        for name, entry in header.items() if name != "__metadata__"
    }  # fmt: skip


class Members(torch.nn.Module):
    """Five networks of full width whose pre-activations are multiplied by fixed masks; heads: means, log-stddevs."""

    def __init__(self, arrays, hidden, batched):
        super().__init__()
        self.batched = batched
        weights, biases, masks = [], [], []
        for layer in range(len(hidden) + 1):
            stacked = [self.full_layer(arrays, member, layer, hidden) for member in range(MEMBERS)]
            weights.append(torch.stack([w for w, _, _ in stacked]))
            biases.append(torch.stack([b for _, b, _ in stacked]))
            masks.append(torch.stack([m for _, _, m in stacked]))
        if batched:
            self.weights = torch.nn.ParameterList(w.transpose(1, 2).contiguous() for w in weights)
            self.biases = torch.nn.ParameterList(b[:, None, :] for b in biases)
            self.masks = [m[:, None, :] for m in masks]
        else:
            self.weights = torch.nn.ParameterList(w[m] for m in range(MEMBERS) for w in weights)
            self.biases = torch.nn.ParameterList(b[m] for m in range(MEMBERS) for b in biases)
            self.masks = masks
        self.depth = len(weights)

    @staticmethod
    def full_layer(arrays, member, layer, hidden):
        """The kept units' weights at their places among all units."""
        prefix = f"component{member}."
        columns = arrays[f"{prefix}mask{layer - 1}"] if layer > 0 else slice(None)
        if layer == len(hidden):
            weight = np.concatenate([arrays[prefix + "mean.weight"], arrays[prefix + "log_stddev.weight"]])
            bias = np.concatenate([arrays[prefix + "mean.bias"], arrays[prefix + "log_stddev.bias"]])
            rows, width = slice(None), len(weight)
        else:
            weight, bias = arrays[f"{prefix}hidden{layer}.weight"], arrays[f"{prefix}hidden{layer}.bias"]
            rows, width = arrays[f"{prefix}mask{layer}"], hidden[layer]
        weight = weight.reshape(len(bias), -1)
        full_weight = np.zeros((width, hidden[layer - 1] if layer > 0 else weight.shape[1]), np.float32)
        partial = np.zeros((len(weight), full_weight.shape[1]), np.float32)
        partial[:, columns] = weight
        full_weight[rows] = partial
        full_bias, mask = np.zeros(width, np.float32), np.zeros(width, np.float32)
        full_bias[rows] = bias.reshape(-1)
        mask[rows] = 1
        return torch.from_numpy(full_weight), torch.from_numpy(full_bias), torch.from_numpy(mask)

    def forward(self, x, member=None):
        """x [M, B, C] to means and log-stddevs [M, B, D]; of only one member with M = 1."""
        if member is not None:
            heads = self.one(member, x[0])[None]
        elif self.batched:
            for layer in range(self.depth - 1):
                x = torch.relu(torch.baddbmm(self.biases[layer], x, self.weights[layer]) * self.masks[layer])
            heads = torch.baddbmm(self.biases[-1], x, self.weights[-1])
        else:
            heads = torch.stack([self.one(member, x[member]) for member in range(MEMBERS)])
        mean, log_stddev = heads.chunk(2, dim=-1)
        return mean, torch.clamp(log_stddev, -20, 2)

    def one(self, member, x):
        first = member * self.depth
        for layer in range(self.depth - 1):
            x = torch.relu(F.linear(x, self.weights[first + layer], self.biases[first + layer]) * self.masks[layer][member])
        return F.linear(x, self.weights[first + self.depth - 1], self.biases[first + self.depth - 1])


def bin_sizes(raw):
    return LEAST + (1 - LEAST * BINS) * torch.softmax(raw, dim=-1)


def at_bins(values, *bins):
    """values [N, K] at each of the given bins [N]."""
    return torch.gather(values, 1, torch.stack(bins, dim=1)).unbind(1)


def steffen(w, h, w_next, h_next):
    ratio = h_next * w / (w_next * h)
    return torch.minimum((w * ratio + w_next) / (w + w_next), 2 * torch.clamp(ratio, max=1))


def cubic_spline(x, raw):
    """Monotone cubic splines: x [N], raw [N, 2 K + 2] to values and log-slopes. Slopes only at the chosen bins."""
    widths, heights = bin_sizes(raw[:, :BINS]), bin_sizes(raw[:, BINS : 2 * BINS])
    rights, tops = torch.cumsum(widths, 1), torch.cumsum(heights, 1)
    inside = (x >= -BOUND) & (x <= BOUND)
    t = (torch.clamp(x, -BOUND, BOUND) + BOUND) / (2 * BOUND)
    with torch.no_grad():
        k = (t[:, None] >= rights[:, :-1]).sum(1)
        before, after = torch.clamp(k - 1, min=0), torch.clamp(k + 1, max=BINS - 1)
        first, last = k == 0, k == BINS - 1
    w, w_before, w_after = at_bins(widths, k, before, after)
    h, h_before, h_after = at_bins(heights, k, before, after)
    right, top = at_bins(rights, k)[0], at_bins(tops, k)[0]
    ends = 3 * torch.sigmoid(torch.clamp(raw[:, 2 * BINS :], -30, 30))
    alpha = torch.where(first, ends[:, 0], steffen(w, h, w_before, h_before))
    beta = torch.where(last, ends[:, 1], steffen(w, h, w_after, h_after))
    theta = torch.clamp((t - (right - w)) / w, 0, 1)
    rest = 1 - theta
    value = theta * (theta * (1 + 2 * rest) + rest * (alpha * rest - beta * theta))
    slope = rest * (alpha * rest + 2 * (3 - alpha - beta) * theta) + beta * theta * theta
    y = 2 * BOUND * (top - h + h * value) - BOUND
    return torch.where(inside, y, x), torch.where(inside, torch.log(slope * h / w), torch.zeros_like(x))


class CouplingFlow(torch.nn.Module):
    """One coupling layer: the first half of the permuted outputs, given the rest and the inputs."""

    def __init__(self, arrays, num_outputs):
        super().__init__()
        self.permutation = torch.from_numpy(arrays["flow.permutation0"])
        self.transformed = (num_outputs + 1) // 2
        names = ["hidden0", "hidden1", "transform"]
        biases = [torch.tensor(arrays[f"flow.layer0.{name}.bias"]).reshape(-1) for name in names]
        weights = [torch.tensor(arrays[f"flow.layer0.{name}.weight"]) for name in names]
        self.biases = torch.nn.ParameterList(biases)
        self.weights = torch.nn.ParameterList(w.reshape(len(b), -1) for w, b in zip(weights, biases))

    def forward(self, x, y):
        """x [N, C], y [N, D] to base values and log-determinants [N]."""
        permuted = y[:, self.permutation]
        moved, kept = permuted[:, : self.transformed], permuted[:, self.transformed :]
        h = torch.cat([kept, x], dim=1)
        h = torch.relu(F.linear(h, self.weights[0], self.biases[0]))
        h = torch.relu(F.linear(h, self.weights[1], self.biases[1]))
        raw = F.linear(h, self.weights[2], self.biases[2])
        z, log_slope = cubic_spline(moved.reshape(-1), raw.reshape(-1, 2 * BINS + 2))
        z, log_slope = z.view(moved.shape), log_slope.view(moved.shape)
        return torch.cat([z, kept], dim=1), log_slope.sum(1)


class Ensemble(torch.nn.Module):
    def __init__(self, arrays, kind, num_outputs, batched):
        super().__init__()
        self.members = Members(arrays, [50, 50, 50] if kind == "pne" else [40, 40], batched)
        self.flow = CouplingFlow(arrays, num_outputs) if kind == "flow" else None

    def log_density(self, x, y, member=None):
        """x [M, B, C], y [M, B, D]: each member's log density of its own rows, [M, B]; or of one member, M = 1."""
        z, log_det = y, 0
        if self.flow:
            z, log_det = self.flow(x.reshape(-1, x.shape[2]), y.reshape(-1, y.shape[2]))
            z, log_det = z.view(y.shape), log_det.view(y.shape[:2])
        mean, log_stddev = self.members(x, member)
        residual = (z - mean) * torch.exp(-log_stddev)
        return log_det - (0.5 * residual * residual + log_stddev + 0.5 * LOG_TWO_PI).sum(2)

    @torch.no_grad()
    def predict(self, x):
        """x [N, C] to means and stddevs [N, M, D]."""
        mean, log_stddev = self.members(x.expand(MEMBERS, *x.shape))
        return mean.transpose(0, 1).contiguous(), torch.exp(log_stddev).transpose(0, 1).contiguous()


def kl(mean, stddev):
    variance = stddev * stddev
    vi, vj = variance[:, :, None, :], variance[:, None, :, :]
    gap = mean[:, :, None, :] - mean[:, None, :, :]
    d = 0.5 * ((vi + gap**2) / vj - 1 + torch.log(vj) - torch.log(vi)).sum(-1)
    return -(torch.logsumexp(-d, dim=2) - float(np.log(MEMBERS))).mean(1)


def median_ms(body, repeats, seconds=0.5):
    for _ in range(2):
        body()
    times = []
    start = time.thread_time()
    while len(times) < repeats or time.thread_time() - start < seconds:
        begin = time.thread_time()
        body()
        times.append((time.thread_time() - begin) * 1e3)
    return float(np.median(times))


def check_same(model, check):
    shape = (512, -1)
    x = torch.from_numpy(check["inputs"].reshape(shape).astype(np.float32))
    y = torch.from_numpy(check["targets"].reshape(shape).astype(np.float32))
    mean, stddev = model.predict(x)
    assert np.allclose(mean.numpy().reshape(-1), check["mean"], rtol=1e-4, atol=1e-5), "means differ"
    assert np.allclose(stddev.numpy().reshape(-1), check["stddev"], rtol=1e-4), "stddevs differ"
    with torch.no_grad():
        members = model.log_density(x.expand(MEMBERS, *x.shape), y.expand(MEMBERS, *y.shape))
        mixed = torch.logsumexp(members, dim=0) - float(np.log(MEMBERS))
    assert np.allclose(mixed.numpy(), check["log_density"], rtol=1e-4, atol=1e-4), "log densities differ"


def measure_torch(arrays, check, kind, num_inputs, num_outputs, batched):
    torch.manual_seed(1)
    model = Ensemble(arrays, kind, num_outputs, batched)
    check_same(model, check)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-4)
    x, y = torch.rand(ROWS, num_inputs), torch.rand(ROWS, num_outputs)
    samples = torch.randint(0, ROWS, (MEMBERS, ROWS))
    steps = 0

    def step():
        nonlocal steps
        begin = steps % (ROWS // BATCH) * BATCH
        steps += 1
        chosen = samples[:, begin : begin + BATCH]
        loss = -model.log_density(x[chosen], y[chosen]).mean()
        optimiser.zero_grad(set_to_none=False)
        loss.backward()
        optimiser.step()

    def member_step():
        nonlocal steps
        member = steps % MEMBERS
        begin = steps // MEMBERS % (ROWS // BATCH) * BATCH
        steps += 1
        chosen = samples[member : member + 1, begin : begin + BATCH]
        loss = -model.log_density(x[chosen], y[chosen], member).mean()
        optimiser.zero_grad(set_to_none=True)  # the other members rest
        loss.backward()
        optimiser.step()

    candidates = torch.rand(CANDIDATES, num_inputs)

    def in_chunks(body, size):
        return [body(candidates[k : k + size]) for k in range(0, CANDIDATES, size)]

    def scores(rows):
        return kl(*model.predict(rows))

    return {
        "step": median_ms(step, 15, 0.7),
        "member steps": float("inf") if batched else MEMBERS * median_ms(member_step, 15, 0.7),
        "predict": median_ms(lambda: model.predict(candidates), 3),
        "choose kl": min(median_ms(lambda: torch.topk(torch.cat(in_chunks(scores, size)), 10), 2) for size in (128, 1024)),
    }


def measure_ours(program, *arguments):
    lines = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return {row["name"]: row for row in map(json.loads, lines.splitlines())}


def cell(ours):
    return f"{ours['median_ms']:.3g} ({ours['low_ms']:.3g} to {ours['high_ms']:.3g})"


def main():
    if "MALLOC_TOP_PAD_" not in os.environ:
        keep = str(512 << 20)
        os.environ.update(MALLOC_MMAP_THRESHOLD_=keep, MALLOC_TRIM_THRESHOLD_=keep, MALLOC_TOP_PAD_=keep)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    program = pathlib.Path(sys.argv[1]) / "ensemble_bench"
    parts = sys.argv[2:] or ["flow", "pne", "fit"]
    torch.set_num_threads(1)
    print("| model | inputs, outputs | step, ms (quartiles) | PyTorch | PyTorch, a member a step "
          "| predict 10,000 rows, ms | PyTorch | in double | choose 10 of 10,000 by kl, ms | PyTorch | by bhattacharyya |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind in [part for part in parts if part != "fit"]:
        for num_inputs, num_outputs in SIZES:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                ours = measure_ours(program, folder, kind, num_inputs, num_outputs)
                arrays, check = read_model(folder / "model.safetensors"), np.load(folder / "check.npz")
                peers = [measure_torch(arrays, check, kind, num_inputs, num_outputs, batched) for batched in (True, False)]

            def ratio(theirs, name=None):
                return f"{min(p[theirs] for p in peers) / ours[name or theirs]['median_ms']:.1f}x"

            print(
                f"| {kind} | {num_inputs}, {num_outputs} | {cell(ours['step'])} | {ratio('step')} | {ratio('member steps', 'step')} "
                f"| {cell(ours['predict base'])} | {ratio('predict', 'predict base')} | {ours['predict']['median_ms']:.3g} "
                f"| {cell(ours['choose kl'])} | {ratio('choose kl')} | {ours['choose bhattacharyya']['median_ms']:.3g} |",
                flush=True,
            )
    if "fit" not in parts:
        return
    fits = measure_ours(program, "fit")
    print()
    print("| hetero, preset paper, 600 rows, full batch | seconds |")
    print("|---|---|")
    for kind in ("flow", "pne"):
        print(f"| {kind} | {fits['fit ' + kind]['median_ms'] / 1e3:.2f} |")


main()
