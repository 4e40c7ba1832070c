"""Choosing 10 rows against PyTorch: the same models, the same rows, the same algorithms, one thread; prints the tables
of docs/benchmarks.md. Called by run.sh with the folder of the benchmark programs.

The peers are written as one writes them in PyTorch: on whole arrays where that is fastest, in float32 (bait: float64),
without autograd, since all gradients have closed forms. All times include prediction.
  kl      the formula on 1024 rows at a time, topk
  mc      5000 samples in all, 1000 of each component, 10 rows at a time, log-sum-exp
  badge   gradients of the last layers as one matrix, k-means++ with the distances to the newest centre
  badge, factored  the same with inner products <g, g'> <h, h'> and no outer products
  bait    the Fisher information in blocks (a batched matrix each), v'Av and v'AFAv recomputed at every step
  lcmd    distances to all training rows with one matrix product, then one centre at a time
  lcmd, one by one  training rows as centres one at a time, as in the authors' program
If nothing is random, both sides must choose the same rows, but for one that rounding may exchange.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

MEMBERS, BATCH, WIDTH = 5, 10, 50


def read_model(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__" and info["dtype"] in ("F32", "I64"):
            begin, end = info["data_offsets"]
            kind = "<f4" if info["dtype"] == "F32" else "<i8"
            tensors[name] = torch.from_numpy(np.frombuffer(data[begin:end], dtype=kind).reshape(info["shape"]).copy())
    return tensors


class Model:
    """Networks of full width whose pre-activations are multiplied by a fixed mask, as one writes them in PyTorch."""

    def __init__(self, path):
        tensors = read_model(path)
        self.components = []
        for m in range(MEMBERS):
            get = lambda name: tensors[f"component{m}.{name}"]
            layers, before = [], None
            while f"component{m}.hidden{len(layers)}.weight" in tensors:
                compact, kept = get(f"hidden{len(layers)}.weight"), get(f"mask{len(layers)}")
                weight = torch.zeros(WIDTH, compact.shape[1] if before is None else WIDTH)
                weight[kept] = compact if before is None else weight[kept].index_copy(1, before, compact)
                bias, mask = torch.zeros(WIDTH), torch.zeros(WIDTH)
                bias[kept], mask[kept] = get(f"hidden{len(layers)}.bias").flatten(), 1.0
                layers.append((weight.T.contiguous(), bias, mask))
                before = kept
            compact = torch.cat([get("mean.weight"), get("log_stddev.weight")])
            weight = torch.zeros(len(compact), WIDTH)
            weight[:, before] = compact
            bias = torch.cat([get("mean.bias").flatten(), get("log_stddev.bias").flatten()])
            self.components.append((layers, (weight.T.contiguous(), bias)))

    def hidden(self, m, x):
        for weight, bias, mask in self.components[m][0]:
            x = torch.relu(torch.addmm(bias, x, weight) * mask)
        return x

    def heads(self, m, hidden):
        weight, bias = self.components[m][1]
        mean, log_stddev = torch.addmm(bias, hidden, weight).chunk(2, 1)
        return mean, log_stddev.clamp(-20, 2)

    def mixture(self, x):
        parts = [self.heads(m, self.hidden(m, x)) for m in range(MEMBERS)]
        return torch.stack([p[0] for p in parts], 1), torch.stack([p[1] for p in parts], 1).exp()


def kl(model, x, _):
    scores = []
    for part in x.split(1024):
        mean, stddev = model.mixture(part)
        variance = stddev * stddev
        gap = mean[:, :, None] - mean[:, None]
        vi, vj = variance[:, :, None], variance[:, None]
        d = 0.5 * ((vi + gap**2) / vj - 1 + torch.log(vj) - torch.log(vi)).sum(-1)
        # Minus the log deficit; for saturated rows without the exponentials, which underflow.
        d.diagonal(dim1=1, dim2=2).fill_(float("inf"))
        far = -torch.logsumexp(-d.flatten(1), 1)
        scores.append(torch.where(far > 16, far, -torch.log(torch.log1p(torch.exp(-d).sum(2)).mean(1))))
    return torch.cat(scores).topk(BATCH).indices.tolist()


def mc(model, x, _, samples=5000):
    scores = []
    for part in x.split(10):
        mean, stddev = model.mixture(part)
        noise = torch.randn(samples // MEMBERS, *mean.shape)
        y = mean + stddev * noise
        z = (y[:, :, :, None] - mean[:, None]) / stddev[:, None]
        log_density = -0.5 * (z * z).sum(-1) - torch.log(stddev).sum(-1)[:, None]
        own = log_density.diagonal(dim1=2, dim2=3)
        scores.append((own - torch.logsumexp(log_density, 3)).mean((0, 2)))
    return torch.cat(scores).topk(BATCH).indices.tolist()


def gradients(model, x):
    hidden = [torch.cat([h, torch.ones(len(x), 1)], 1) for h in (model.hidden(m, x) for m in range(MEMBERS))]
    heads = [model.heads(m, h[:, :-1]) for m, h in enumerate(hidden)]
    mean, log_stddev = (torch.stack([h[k] for h in heads], 1) for k in (0, 1))
    from_component = torch.randint(0, MEMBERS, (len(x), 1, 1)).expand(-1, 1, mean.shape[2])
    target = mean.gather(1, from_component) + log_stddev.gather(1, from_component).exp() * torch.randn(len(x), 1, mean.shape[2])
    precision = torch.exp(-2 * log_stddev)
    residual = mean - target
    return torch.cat([residual * precision, 1 - residual**2 * precision], 2), hidden


def k_means_plus_plus(norms, distances_to):
    chosen = [int(norms.argmax())]
    nearest = distances_to(chosen[0])
    while len(chosen) < BATCH:
        chosen.append(int(torch.multinomial(nearest.clamp(min=0), 1)))
        nearest = torch.minimum(nearest, distances_to(chosen[-1]))
    return chosen


def badge(model, x, _):
    g, hidden = gradients(model, x)
    embedding = torch.cat([(g[:, m, :, None] * hidden[m][:, None, :]).flatten(1) for m in range(MEMBERS)], 1)
    norms = (embedding * embedding).sum(1)
    return k_means_plus_plus(norms, lambda n: norms + norms[n] - 2 * (embedding @ embedding[n]))


def badge_factored(model, x, _):
    g, hidden = gradients(model, x)
    g = [g[:, m].contiguous() for m in range(MEMBERS)]
    norms = sum((g[m] ** 2).sum(1) * (hidden[m] ** 2).sum(1) for m in range(MEMBERS))
    dot = lambda n: sum((g[m] @ g[m][n]) * (hidden[m] @ hidden[m][n]) for m in range(MEMBERS))
    return k_means_plus_plus(norms, lambda n: norms + norms[n] - 2 * dot(n))


def features(model, x):
    return torch.cat([torch.cat([model.hidden(m, x), torch.ones(len(x), 1)], 1) for m in range(MEMBERS)], 1)


def add_centres(rows, row_norms, centres, first, nearest, cluster):
    squared = row_norms[:, None] + (centres * centres).sum(1) - 2 * (rows @ centres.T)
    least, at = squared.min(1)
    closer = least < nearest
    nearest[closer] = least[closer]
    cluster[closer] = at[closer] + first


def lcmd(model, x, training, one_by_one=False):
    rows, centres = features(model, x), features(model, training)
    norms = (rows * rows).sum(1)
    nearest = torch.full((len(rows),), float("inf"))
    cluster = torch.zeros(len(rows), dtype=torch.long)
    if one_by_one:
        for k in range(len(centres)):
            add_centres(rows, norms, centres[k : k + 1], k, nearest, cluster)
    else:
        add_centres(rows, norms, centres, 0, nearest, cluster)
    chosen = []
    for pick in range(BATCH):
        size = torch.bincount(cluster, weights=nearest)
        inside = torch.where(cluster == size.argmax(), nearest, torch.tensor(-1.0))
        chosen.append(int(inside.argmax()))
        add_centres(rows, norms, rows[chosen[-1]][None], len(centres) + pick, nearest, cluster)
        nearest[chosen[-1]] = 0
    return chosen


def lcmd_one_by_one(model, x, training):
    return lcmd(model, x, training, True)


def bait(model, x, training, regulariser=0.01):
    share = BATCH / (len(training) + BATCH)

    def parts(rows):
        result = []
        for m in range(MEMBERS):
            hidden = model.hidden(m, rows)
            _, log_stddev = model.heads(m, hidden)
            h = torch.cat([hidden, torch.ones(len(rows), 1)], 1).double()
            result.append((h, torch.cat([torch.exp(-2 * log_stddev.double()), torch.full((len(rows), 1), 2.0).double()], 1)))
        return result

    outputs = model.components[0][1][1].numel() // 2
    multiplicity = torch.cat([torch.ones(outputs), torch.tensor([float(outputs)])]).double()
    state = []
    for (h, c), (th, tc) in zip(parts(x), parts(training)):
        weighted = lambda rows, scale: torch.matmul((scale.T[:, :, None] * rows).transpose(1, 2), rows)
        fisher = weighted(h, c) / len(x)
        known = weighted(th, tc) / (len(training) + BATCH) + regulariser * torch.eye(h.shape[1]).double()
        state.append([h, c * share, fisher, torch.linalg.inv(known)])

    def quadratic(h, c, matrices):
        return (torch.matmul(h, matrices) * h).sum(2).T * c

    def values(sign, rows):
        total = 0
        for h, c, fisher, inverse in state:
            h, c = (h, c) if rows is None else (h[rows], c[rows])
            cross = quadratic(h, c, inverse @ fisher @ inverse)
            total = total + (multiplicity * cross / (1 + sign * quadratic(h, c, inverse))).sum(1)
        return total

    def update(n, sign):
        for part in state:
            h, c, _, inverse = part
            u = (inverse @ h[n]) * torch.sqrt(c[n])[:, None]
            left = 1 + sign * (u * h[n]).sum(1) * torch.sqrt(c[n])
            part[3] = inverse - (sign / left)[:, None, None] * u[:, :, None] * u[:, None, :]

    chosen = []
    for _ in range(2 * BATCH):
        gain = values(1, None)
        gain[chosen] = -1
        chosen.append(int(gain.argmax()))
        update(chosen[-1], 1)
    for _ in range(BATCH):
        update(chosen.pop(int(values(-1, torch.tensor(chosen)).argmin())), -1)
    return chosen


def seconds_of(body):
    """The median of five runs after one to warm up; if the first takes longer than a second, only that one."""
    times = []
    while len(times) < 6 and (not times or times[0] < 1):
        begin = time.perf_counter()
        result = body()
        times.append(time.perf_counter() - begin)
    return float(np.median(times[1:] or times)), result


# method, peer, its name, candidates at D = 11 and 257, whether both sides must agree
ROWS = [
    ("kl", kl, "PyTorch", 10000, 10000, True),
    ("badge", badge, "PyTorch", 10000, 2000, False),
    ("badge", badge_factored, "PyTorch, factored", 10000, 2000, False),
    ("lcmd", lcmd, "PyTorch", 10000, 10000, True),
    ("lcmd", lcmd_one_by_one, "PyTorch, one by one", 10000, 10000, True),
    ("bait", bait, "PyTorch", 1000, 300, True),
    ("mc:5000", mc, "PyTorch", 1000, 100, False),
]


def main():
    program = pathlib.Path(sys.argv[1]) / "acquisition_bench"
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = subprocess.run([program, folder], check=True, capture_output=True, text=True).stdout.splitlines()
        ours = {row["name"]: row for row in map(json.loads, lines)}
        print("| 10 of 10,000, M = 5 | model | D | ours, ms (quartiles) |")
        print("|---|---|---|---|")
        for key, row in ours.items():
            model, method = key.split(" ", 1)
            if method in ("kl", "bhattacharyya", "kl-joint", "bhattacharyya-joint"):
                kind, outputs = model.rstrip("0123456789"), model.lstrip("pneflow")
                print(f"| {method} | {kind} | {outputs} | {row['median_ms']:.3g} ({row['low_ms']:.3g} to {row['high_ms']:.3g}) |")
        print()
        print("| method | D | candidates | ours, ms | peer | peer, ms | ratio |")
        print("|---|---|---|---|---|---|---|")
        for outputs in (11, 257):
            model = Model(folder / f"pne{outputs}.safetensors")
            x = torch.from_numpy(np.load(folder / f"pne{outputs}_candidates.npy").astype(np.float32))
            training = torch.from_numpy(np.load(folder / f"pne{outputs}_training.npy").astype(np.float32))
            for method, peer, peer_name, small, large, must_agree in ROWS:
                count = small if outputs == 11 else large
                seconds, chosen = seconds_of(lambda: peer(model, x[:count], training))
                row = ours[f"pne{outputs} {method}"]
                theirs = ours[f"pne{outputs} {method} chosen"]["rows"]
                if must_agree:
                    assert len(set(theirs) & set(chosen)) >= BATCH - 1, f"{method}: {theirs} and {chosen}"
                print(
                    f"| {method} | {outputs} | {count} | {row['median_ms']:.3g} | {peer_name} | {1e3 * seconds:.4g} "
                    f"| {1e3 * seconds / row['median_ms']:.1f}x |",
                    flush=True,
                )
        print()
        lines = subprocess.run([program, folder, "stream"], check=True, capture_output=True, text=True).stdout
        print("| 10 of 10,000,000 rows, D = 3, streamed | seconds | most memory, MB |")
        print("|---|---|---|")
        for row in map(json.loads, lines.splitlines()):
            print(f"| {row['name'].split()[1]} | {row['seconds']} | {row['megabytes']} |")


main()
