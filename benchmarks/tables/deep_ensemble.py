"""A deep ensemble in PyTorch: five networks that predict a mean and a variance, trained by likelihood.

Lakshminarayanan, Pritzel, Blundell: Simple and scalable predictive uncertainty estimation using deep ensembles, 2017.
The loss weighs a row by the root of its variance, so that means do not lag behind (Seitzer et al., On the pitfalls of
heteroscedastic uncertainty estimation, 2022). Weight decay and number of steps are those with the best log-likelihood
in five-fold cross-validation; then five networks with new weights train on all rows. Scaled inputs are clipped to +-4.
The networks are independent but train side by side: every parameter has a leading axis of networks.
"""

import numpy as np
import torch
from torch.nn.functional import relu, softplus

NUM_NETWORKS = 5
HIDDEN = 64
BATCH = 32
RATE = 2e-3
MOST_STEPS = 3000
STEPS_A_CHECK = 25
DECAYS = (1e-3, 1e-2, 3e-2, 1e-1)  # of the squared weights, in a loss per row


class Networks:
    """num_networks networks of two hidden layers; __call__ maps (networks, rows, inputs) to means and variances."""

    def __init__(self, num_networks, num_inputs, seed):
        generator = torch.Generator().manual_seed(seed)
        sizes = (num_inputs, HIDDEN, HIDDEN, 2)
        self.weights = [torch.randn(num_networks, a, b, generator=generator) * (2 / a) ** 0.5
                        for a, b in zip(sizes, sizes[1:])]
        self.weights[-1] *= 0.01  # begins near one Gaussian for all rows
        self.biases = [torch.zeros(num_networks, 1, size) for size in sizes[1:]]
        for parameter in self.parameters():
            parameter.requires_grad_()

    def parameters(self):
        return [*self.weights, *self.biases]

    def __call__(self, x):
        for weight, bias in zip(self.weights[:-1], self.biases[:-1]):
            x = relu(torch.baddbmm(bias, x, weight))
        out = torch.baddbmm(self.biases[-1], x, self.weights[-1])
        return out[..., 0], softplus(out[..., 1]) + 1e-4


def negative_log_likelihood(y, mean, variance):
    return 0.5 * (torch.log(2 * np.pi * variance) + (y - mean) ** 2 / variance)


def train(networks, x, y, decay, num_steps, seed, check=None):
    """x: (networks, rows, inputs); decay: (networks). Calls check() every STEPS_A_CHECK steps."""
    generator = torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(networks.parameters(), lr=RATE)
    num_networks, num_rows = y.shape
    size = min(BATCH, num_rows)
    order, position = None, num_rows
    for step in range(num_steps):
        if position + size > num_rows:
            order, position = torch.rand(num_networks, num_rows, generator=generator).argsort(1), 0
        rows = order[:, position:position + size]
        position += size
        batch_x = x.gather(1, rows[..., None].expand(-1, -1, x.shape[2]))
        mean, variance = networks(batch_x)
        loss = negative_log_likelihood(y.gather(1, rows), mean, variance)
        loss = (loss * variance.detach().sqrt()).mean(1)
        squares = sum((weight**2).sum((1, 2)) for weight in networks.weights)
        adam.zero_grad()
        (loss + decay * squares).sum().backward()
        adam.step()
        if check and (step + 1) % STEPS_A_CHECK == 0:
            check()


def cross_validate(x, y, seed):
    """The weight decay and number of steps with the least loss on held-out rows."""
    num_rows = len(y)
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(seed))
    folds = [order[i::5] for i in range(5)]
    size = min(len(fold) for fold in folds)
    held = torch.stack([fold[:size] for fold in folds])
    kept = torch.stack([torch.tensor(sorted(set(range(num_rows)) - set(fold.tolist()))) for fold in held])
    held, kept = held.repeat(len(DECAYS), 1), kept.repeat(len(DECAYS), 1)
    networks = Networks(len(held), x.shape[1], seed)
    losses = []

    def check():
        with torch.no_grad():
            mean, variance = networks(x[held])
            loss = negative_log_likelihood(y[held], mean, variance).mean(1)
            losses.append(loss.reshape(len(DECAYS), 5).mean(1))

    train(networks, x[kept], y[kept], torch.tensor(DECAYS).repeat_interleave(5), MOST_STEPS, seed, check)
    losses = torch.stack(losses)
    best = int(torch.nan_to_num(losses, nan=np.inf).argmin())
    return DECAYS[best % len(DECAYS)], (best // len(DECAYS) + 1) * STEPS_A_CHECK


def deep_ensemble(x, y, seed):
    torch.set_num_threads(1)
    center, width = x.mean(0), x.std(0)
    width[width == 0] = 1
    scale = lambda rows: torch.tensor(np.clip((rows - center) / width, -4, 4), dtype=torch.float32)
    scaled_x, scaled_y = scale(x), torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)
    decay, num_steps = cross_validate(scaled_x, scaled_y, seed)
    networks = Networks(NUM_NETWORKS, x.shape[1], seed + 1000)
    train(networks, scaled_x.expand(NUM_NETWORKS, -1, -1), scaled_y.expand(NUM_NETWORKS, -1),
          torch.full((NUM_NETWORKS,), decay), num_steps, seed + 1000)

    def predict(rows):
        """Mean and stddev of the mixture."""
        with torch.no_grad():
            means, variances = (value.double().numpy() for value in
                                networks(scale(rows).expand(NUM_NETWORKS, -1, -1)))
        variance = variances.mean(0) + means.var(0)
        return means.mean(0) * y.std() + y.mean(), np.sqrt(variance) * y.std()
    return predict
