"""What choices are worth: campaigns against those with the same seed and rows at random, and sums over tasks.

A campaign counts by the mean over its models (the area under the curve) of RMSE and of log-likelihood. Let a and b be
those of a method and of its baseline on the same seed. A pair's log ratio is ln(a / b) of RMSE (below 0: better), and
its difference is a - b of log-likelihood (above 0: better). A task's value is the mean over seeds, with Student's 95%
interval. The value over all tasks is the mean of the tasks' values, with Student's interval over tasks: a task is one
draw from the tasks there could be, however many seeds it has.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from choices.campaigns import PEER_LABEL, PEER_STEPS, baseline, can_run, num_models, runs_as

FACTORS = (1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5)


@dataclass(frozen=True)
class Interval:
    """A mean of `count` values and its 95% interval, unbounded for a single value."""
    mean: float
    low: float
    high: float
    count: int


def interval(values):
    values = np.asarray(values, float)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, -np.inf, np.inf, len(values))
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Interval(mean, float(mean - half), float(mean + half), len(values))


def areas(rows, column):
    """{(task, label, method): {seed: mean over models}} of whole campaigns; rows: from Cache.rows()."""
    curves = {}
    for row in rows.values():
        curve = curves.setdefault((row["task"], row["label"], row["method"], row["seed"]), {})
        curve[int(row["round"])] = row[column]
    found = {}
    for (task, label, method, seed), curve in curves.items():
        if set(curve) == set(range(1, num_models(task) + 1)):
            found.setdefault((task, label, method), {})[seed] = float(np.mean(list(curve.values())))
    return found


def pairs(found, task, label, method, seeds):
    """[(method's area, baseline's)] of the seeds that both have."""
    if not can_run(method, task):
        return []
    label = PEER_LABEL if method in PEER_STEPS else label
    ours = found.get((task, label, runs_as(method, task)), {})
    theirs = found.get((task, label, baseline(method)), {})
    return [(ours[seed], theirs[seed]) for seed in seeds if seed in ours and seed in theirs]


def log_ratio(ours, theirs):
    return np.log(ours / theirs)


def difference(ours, theirs):
    return ours - theirs


def compare(found, tasks, methods, seeds, value):
    """{task: {(label, method): Interval}}; methods are pairs (label, method), value one of the two functions above."""
    table = {}
    for task in tasks:
        for label, method in methods:
            values = [value(*pair) for pair in pairs(found, task, label, method, seeds)]
            if values and np.isfinite(values).all():
                table.setdefault(task, {})[label, method] = interval(values)
    return table


def shared_tasks(table, methods):
    """Tasks on which every method has a value."""
    return [task for task in table if all(method in table[task] for method in methods)]


def over_tasks(table, methods):
    """{method: Interval} over the tasks they share."""
    tasks = shared_tasks(table, methods)
    return {method: interval([table[task][method].mean for task in tasks]) for method in methods} if tasks else {}


def mean_ranks(table, methods):
    """{method: mean rank} over the tasks they share; 1 for the smallest value, ties share their ranks."""
    ranks = [rankdata([table[task][method].mean for method in methods]) for task in shared_tasks(table, methods)]
    return dict(zip(methods, np.mean(ranks, axis=0).tolist())) if ranks else {}


def profile(table, methods, factors=FACTORS):
    """{method: [share of the tasks they share where its ratio is within each factor of the best method's]}."""
    values = np.array([[table[task][method].mean for method in methods] for task in shared_tasks(table, methods)])
    if not len(values):
        return {}
    behind = values - values.min(axis=1, keepdims=True)
    within = [np.mean(behind <= np.log(factor) + 1e-12, axis=0) for factor in factors]
    return {method: [float(share[i]) for share in within] for i, method in enumerate(methods)}
