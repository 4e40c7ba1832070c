"""The uncertainty of an ensemble trained in PyTorch: five small networks that predict a mean and a stddev."""
import numpy as np
import torch

import dissent

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.cat([torch.linspace(-3, -1, 60), torch.linspace(1, 3, 60)])[:, None]  # nothing between -1 and 1
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)


def train():
    network = torch.nn.Sequential(torch.nn.Linear(1, 40), torch.nn.Tanh(), torch.nn.Linear(40, 2))
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(400):
        mean, log_stddev = network(x).chunk(2, dim=1)
        loss = (log_stddev + 0.5 * ((y - mean) / log_stddev.exp()) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


networks = [train() for _ in range(5)]
grid = torch.linspace(-5, 5, 11)[:, None]
mean, log_stddev = torch.stack([network(grid) for network in networks]).chunk(2, dim=2)  # components first: [M, N, D]
u = dissent.uncertainty(mean, log_stddev.exp(), axis=0)

print("    x  epistemic  aleatoric   (nats)")
for value, epistemic, aleatoric in zip(grid[:, 0], u.epistemic, u.aleatoric):
    print(f"{value:5.1f}  {epistemic:9.3f}  {aleatoric:9.3f}  {'#' * int(20 * epistemic)}")
print("measure next at x =", np.round(grid[u.top(3).copy(), 0].numpy(), 1))
