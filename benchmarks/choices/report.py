"""The report as Markdown: each task with its intervals, then means over tasks, ranks and the performance profile."""

import math

from choices import worth
from choices.campaigns import PEER_BASELINES, PEER_STEPS, TABLES
from tables.report import lines


def named(method, labels):
    """A method as a heading, with its label if there are several."""
    label, name = method
    return f"{label}: {name}" if len(labels) > 1 and name not in PEER_STEPS else name


def ratio(found):
    if not math.isfinite(found.low):
        return f"{math.exp(found.mean):.3f}"
    return f"{math.exp(found.mean):.3f} ({math.exp(found.low):.3f} to {math.exp(found.high):.3f})"


def nats(found):
    return f"{found.mean:+.3f}" + (f" ({found.low:+.3f} to {found.high:+.3f})" if math.isfinite(found.low) else "")


def by_task(table, methods, labels, shown):
    rows = []
    for task, values in table.items():
        counts = sorted({found.count for found in values.values()})
        seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        rows.append([task, seeds, *(shown(values[method]) if method in values else "-" for method in methods)])
    return lines(["task", "seeds", *(named(method, labels) for method in methods)], rows)


def summary(rmse, likelihood, methods, labels):
    """One row per method, over the tasks that all of them share."""
    tasks = worth.shared_tasks(rmse, methods)
    means, ranks = worth.over_tasks(rmse, methods), worth.mean_ranks(rmse, methods)
    shares = worth.profile(rmse, methods)
    shared = {task: likelihood[task] for task in tasks if task in likelihood}
    likelier = {method: worth.over_tasks(shared, [method]) for method in methods}
    rows = []
    for method in methods if tasks else ():
        worst = max(tasks, key=lambda task: rmse[task][method].mean)
        better, worse = (sum(sign(rmse[task][method]) for task in tasks)
                         for sign in (lambda found: found.high < 0, lambda found: found.low > 0))
        rows.append([named(method, labels), ratio(means[method]), f"{math.exp(rmse[worst][method].mean):.3f} {worst}",
                     f"{better} / {worse}", f"{ranks[method]:.2f}",
                     nats(likelier[method][method]) if likelier[method] else "-",
                     *(f"{100 * share:.0f}%" for share in shares[method])])
    header = ["method", "RMSE over random's", "worst task", "tasks surely better / worse", "mean rank",
              "log-likelihood gained", *(f"within {factor:g}" for factor in worth.FACTORS)]
    return f"Over {len(tasks)} tasks: {', '.join(tasks)}.\n\n{lines(header, rows)}\n" if tasks else ""


def report(rows, tasks, methods, seeds, labels):
    """rows: of the cache; methods: names; labels: those of our results, the first one's first."""
    seeds = [str(seed) for seed in seeds]
    columns = [(label, name) for label in labels for name in methods if name not in PEER_STEPS]
    columns += [("", name) for name in PEER_BASELINES if name in methods]
    rmse = worth.compare(worth.areas(rows, "rmse"), tasks, columns, seeds, worth.log_ratio)
    likelihood = worth.compare(worth.areas(rows, "log_likelihood"), tasks, columns, seeds, worth.difference)
    present = [column for column in columns if any(column in values for values in rmse.values())]
    ours = [column for column in present if column[1] not in PEER_STEPS]
    parts = ["RMSE over that of random rows with the same seed, means over the campaign (95% interval over seeds):",
             by_task(rmse, [method for method in present if method[1] != "random"], labels, ratio),
             "Log-likelihood less that of random rows, nats a test row:",
             by_task(likelihood, [method for method in present if method[1] != "random"], labels, nats)]
    if ours:
        parts.append(summary(rmse, likelihood, ours, labels))
    if len(ours) < len(present):
        on_tables = ({task: table[task] for task in table if task in TABLES} for table in (rmse, likelihood))
        parts.append("With peers, each against its own model on random rows. " + summary(*on_tables, present, labels))
    return "\n\n".join(part for part in parts if part)
