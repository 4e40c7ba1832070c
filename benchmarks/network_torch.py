"""A training step and a prediction of one probabilistic network in PyTorch, one thread: the peer of network_bench.cpp.

The same architecture as it is written in PyTorch: three linear layers of 50 units whose pre-activations are multiplied
by a fixed mask, ReLU, a mean and a log-stddev head, GaussianNLLLoss, Adam. A step is one member on one batch of 256
rows, picking the rows included. Run with OpenBLAS (libopenblas0-serial): Debian's reference BLAS is several times slower.
At 257 outputs about a quarter of PyTorch's time goes into fresh memory pages; MALLOC_MMAP_THRESHOLD_, MALLOC_TOP_PAD_
and MALLOC_TRIM_THRESHOLD_ set to 512 MiB take that away (quote both).

    network_torch.py [--ours PATH_OF_network_bench]     the latter prints the ratios of a run of both
"""

import argparse
import statistics
import subprocess
import time

import torch

BATCH, ROWS, MEMBERS, WIDTH = 256, 2000, 5, 50
SIZES = ((1, 1), (14, 11), (35, 27), (274, 257))


class Network(torch.nn.Module):
    def __init__(self, num_inputs, num_outputs):
        super().__init__()
        widths = (num_inputs, WIDTH, WIDTH, WIDTH)
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.mean = torch.nn.Linear(WIDTH, num_outputs)
        self.log_stddev = torch.nn.Linear(WIDTH, num_outputs)

    def forward(self, x, mask):
        for layer, keep in zip(self.hidden, mask):
            x = torch.relu(layer(x) * keep)
        return self.mean(x), torch.exp(torch.clamp(self.log_stddev(x), -20, 2))


def median_microseconds(body, repetitions):
    times = []
    for k in range(repetitions + repetitions // 5):
        start = time.perf_counter()
        body(k)
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times[repetitions // 5 :])


def measure(num_inputs, num_outputs, repetitions):
    torch.manual_seed(7)
    network = Network(num_inputs, num_outputs)
    optimiser = torch.optim.Adam(network.parameters(), lr=5e-4)
    loss_function = torch.nn.GaussianNLLLoss()
    x, y = torch.randn(ROWS, num_inputs), torch.randn(ROWS, num_outputs)
    masks = (torch.rand(MEMBERS, 3, WIDTH) < 0.5).float()

    def step(k):
        chosen = torch.randint(0, ROWS, (BATCH,))
        mean, stddev = network(x[chosen], masks[k % MEMBERS])
        loss = loss_function(mean, y[chosen], stddev**2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def predict(k):
        with torch.no_grad():
            network(x[:BATCH], masks[k % MEMBERS])

    return median_microseconds(step, repetitions), median_microseconds(predict, repetitions)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ours", help="the network_bench program; its figures are put beside PyTorch's")
    parser.add_argument("--steps", type=int, default=500)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ours = {}
    if options.ours:
        for line in subprocess.check_output([options.ours], text=True).splitlines()[2:]:
            fields = line.split()
            ours[int(fields[1])] = float(fields[2]), float(fields[5])
    print("one thread, microseconds (medians), PyTorch", torch.__version__)
    print(f"{'outputs':>7} {'train torch':>12} {'ours':>8} {'ratio':>6} {'predict torch':>14} {'ours':>8} {'ratio':>6}")
    for num_inputs, num_outputs in SIZES:
        train, predict = measure(num_inputs, num_outputs, options.steps)
        row = f"{num_outputs:>7} {train:>12.1f} "
        if num_outputs in ours:
            our_train, our_predict = ours[num_outputs]
            row += f"{our_train:>8.1f} {train / our_train:>6.1f} {predict:>14.1f} {our_predict:>8.1f} {predict / our_predict:>6.1f}"
        else:
            row += f"{'':>15} {predict:>14.1f}"
        print(row)


if __name__ == "__main__":
    main()
