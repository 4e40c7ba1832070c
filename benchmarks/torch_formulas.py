"""The pairwise estimates as one writes them in PyTorch, [N, M, D] in and [N] out: the peers of our kernels."""
import math

import torch


def log_mean_exp(d):
    return -(torch.logsumexp(-d, dim=2) - math.log(d.shape[2])).mean(1)


def kl(mean, stddev):
    variance = stddev * stddev
    vi, vj = variance[:, :, None, :], variance[:, None, :, :]
    gap = mean[:, :, None, :] - mean[:, None, :, :]
    return log_mean_exp(0.5 * ((vi + gap**2) / vj - 1 + torch.log(vj) - torch.log(vi)).sum(-1))


def bhattacharyya(mean, stddev):
    variance = stddev * stddev
    vi, vj = variance[:, :, None, :], variance[:, None, :, :]
    gap = mean[:, :, None, :] - mean[:, None, :, :]
    middle = (vi + vj) / 2
    return log_mean_exp((gap**2 / (8 * middle) + 0.5 * torch.log(middle / torch.sqrt(vi * vj))).sum(-1))
