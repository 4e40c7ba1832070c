"""Nflows Base of many campaigns, trained in lockstep by JAX: microseconds per step of each campaign.

    gpu_train_peers.py [--lock FILE] [NAME...]

Several may run at once to compile side by side, which takes minutes: with --lock, one at a time uses the card.

The same work as gpu_train_bench: five networks of 40 x 40 masked units, one conditional cubic spline coupling with a
conditioner of 20 x 20 that they share, a batch for each component, forward, backward and Adam. vmap maps over
components and campaigns, and the steps are one jitted scan. Prints one line of JSON per size.
"""
import fcntl
import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp

COMPONENTS, HIDDEN, CONDITIONER = 5, (40, 40), (20, 20)
BINS, BOUND, LEAST = 10, 1.2, 1e-3
SIZES = [  # name, input columns, outputs, rows, batch, campaigns, steps at a time
    ("hetero", 1, 1, 600, 600, 1, 500),
    ("hetero", 1, 1, 600, 600, 70, 500),
    ("hopper", 14, 11, 700, 256, 1, 300),
    ("hopper", 14, 11, 700, 256, 70, 300),
    ("ant", 35, 27, 700, 256, 1, 180),
    ("ant", 35, 27, 700, 256, 70, 180),
    ("humanoid", 274, 257, 700, 256, 1, 60),
    ("humanoid", 274, 257, 700, 256, 70, 60),
]


def draw_layers(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    return [
        {"weight": jax.random.normal(k, (fan_in, fan_out)) * fan_in**-0.5, "bias": jnp.zeros(fan_out)}
        for k, fan_in, fan_out in zip(keys, widths[:-1], widths[1:])
    ]


def apply_layers(layers, x, masks=None):
    for k, layer in enumerate(layers[:-1]):
        x = x @ layer["weight"] + layer["bias"]
        x = jax.nn.relu(x if masks is None else x * masks[k])
    return x @ layers[-1]["weight"] + layers[-1]["bias"]


def from_left(sizes):
    """Edges of the bins, from 0 on."""
    sums = jnp.cumsum(sizes, -1)
    return jnp.concatenate([jnp.zeros_like(sums[..., :1]), sums], -1)


def spline(y, raw):
    """Monotone cubic spline in [-BOUND, BOUND], the identity outside; and the logarithm of its slope."""
    share = 1 - BINS * LEAST
    width = LEAST + share * jax.nn.softmax(raw[..., :BINS])
    height = LEAST + share * jax.nn.softmax(raw[..., BINS : 2 * BINS])
    slope = height / width
    steepest = jnp.minimum(slope[..., :-1], slope[..., 1:])
    between = (width[..., 1:] * slope[..., :-1] + width[..., :-1] * slope[..., 1:]) / (width[..., 1:] + width[..., :-1])
    inner = jnp.minimum(2 * steepest, between)
    ends = 3 * jax.nn.sigmoid(raw[..., 2 * BINS :])
    knots = jnp.concatenate([ends[..., :1] * slope[..., :1], inner, ends[..., 1:] * slope[..., -1:]], -1)
    left, right = knots[..., :-1], knots[..., 1:]
    cubic = (left + right - 2 * slope) / width**2
    square = (3 * slope - 2 * left - right) / width
    x_edges, y_edges = from_left(width), from_left(height)
    inside = jnp.abs(y) < BOUND
    at = jnp.clip((y + BOUND) / (2 * BOUND), 0, 1)
    which = jnp.clip((at[..., None] >= x_edges[..., 1:]).sum(-1), 0, BINS - 1)[..., None]
    a, b, c, x0, y0 = (
        jnp.take_along_axis(values, which, -1)[..., 0] for values in (cubic, square, left, x_edges[..., :-1], y_edges[..., :-1])
    )
    t = at - x0
    z = 2 * BOUND * (y0 + t * (c + t * (b + t * a))) - BOUND
    log_slope = jnp.log(jnp.maximum(c + t * (2 * b + 3 * a * t), 1e-12))
    return jnp.where(inside, z, y), jnp.where(inside, log_slope, 0)


def draw_model(key, num_inputs, num_outputs):
    transformed = (num_outputs + 1) // 2
    kept = num_outputs - transformed
    networks, flow, masks = jax.random.split(key, 3)
    parameters = {
        "networks": jax.vmap(lambda k: draw_layers(k, (num_inputs, *HIDDEN, 2 * num_outputs)))(
            jax.random.split(networks, COMPONENTS)
        ),
        "flow": draw_layers(flow, (num_inputs + kept, *CONDITIONER, transformed * (2 * BINS + 2))),
    }
    return parameters, jax.random.bernoulli(masks, 0.5, (COMPONENTS, len(HIDDEN), HIDDEN[0])).astype(jnp.float32)


def component_loss(network, masks, flow, x, y):
    num_outputs = y.shape[1]
    transformed = (num_outputs + 1) // 2
    raw = apply_layers(flow, jnp.concatenate([x, y[:, transformed:]], 1))
    z, log_slope = spline(y[:, :transformed], raw.reshape(len(x), transformed, 2 * BINS + 2))
    z = jnp.concatenate([z, y[:, transformed:]], 1)
    heads = apply_layers(network, x, masks)
    log_stddev = jnp.clip(heads[:, num_outputs:], -20, 2)
    residual = (z - heads[:, :num_outputs]) * jnp.exp(-log_stddev)
    return (0.5 * residual**2 + log_stddev).sum(1).mean() - log_slope.sum(1).mean()


def model_loss(parameters, masks, x, y):
    losses = jax.vmap(component_loss, (0, 0, None, 0, 0))(parameters["networks"], masks, parameters["flow"], x, y)
    return losses.sum()


def adam(parameters, gradient, first, second, step, rate=5e-4):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    size, root = rate / (1 - 0.9**step), (1 - 0.999**step) ** -0.5
    moved = jax.tree.map(lambda p, m, v: p - size * m / (jnp.sqrt(v) * root + 1e-8), parameters, first, second)
    return moved, first, second


def make_run(inputs, targets, masks, batch, steps):
    campaigns, rows = inputs.shape[:2]

    def gradient_of(parameters, own_masks, x, y, key):
        chosen = jax.random.randint(key, (COMPONENTS, batch), 0, rows)
        return jax.grad(model_loss)(parameters, own_masks, x[chosen], y[chosen])

    def step(state, key):
        parameters, first, second, number = state
        keys = jax.random.split(key, campaigns)
        gradient = jax.vmap(gradient_of)(parameters, masks, inputs, targets, keys)
        return (*adam(parameters, gradient, first, second, number), number + 1), None

    return jax.jit(lambda state, key: jax.lax.scan(step, state, jax.random.split(key, steps))[0])


class Card:
    """A lock on a file that many processes share: they compile side by side and are timed one at a time, after all of
    them have compiled."""

    def __init__(self, path):
        self.file = path and open(path, "w", encoding="utf-8")
        self.take(fcntl.LOCK_SH)

    def take(self, kind):
        if self.file:
            fcntl.flock(self.file, kind)


def prepare(name, num_inputs, num_outputs, rows, batch, campaigns, steps):
    """The compiled function that runs this many steps, and its first state."""
    keys = jax.random.split(jax.random.PRNGKey(0), campaigns)
    parameters, masks = jax.vmap(lambda key: draw_model(key, num_inputs, num_outputs))(keys)
    inputs = jax.random.uniform(jax.random.PRNGKey(1), (campaigns, rows, num_inputs))
    targets = jax.random.uniform(jax.random.PRNGKey(2), (campaigns, rows, num_outputs))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = (parameters, zeros, zeros, jnp.float32(1))
    return make_run(inputs, targets, masks, batch, steps).lower(state, jax.random.PRNGKey(3)).compile(), state


def measure(run, state, name, campaigns, steps):
    state = jax.block_until_ready(run(state, jax.random.PRNGKey(3)))
    times = []
    for k in range(5):
        start = time.perf_counter()
        state = jax.block_until_ready(run(state, jax.random.PRNGKey(4 + k)))
        times.append((time.perf_counter() - start) * 1e6 / steps / campaigns)
    print(json.dumps({"name": name, "campaigns": campaigns, "median_us": statistics.median(times),
                      "low_us": min(times), "high_us": max(times)}), flush=True)  # fmt: skip


def main(names):
    print(jax.devices()[0].device_kind, "jax", jax.__version__, file=sys.stderr)
    lock = None
    if names[:1] == ["--lock"]:
        lock, names = names[1], names[2:]
    card = Card(lock)
    sizes = [size for size in SIZES if not names or size[0] in names]
    prepared = [prepare(*size) for size in sizes]
    card.take(fcntl.LOCK_EX)
    for size, (run, state) in zip(sizes, prepared):
        measure(run, state, size[0], *size[5:])


if __name__ == "__main__":
    main(sys.argv[1:])
