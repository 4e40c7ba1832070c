"""A table of the last rounds of the campaigns in OUT/PROBLEM/METHOD/SEED: mean +- standard error over seeds, and the
two-sided p-value of Welch's test against `random`. Only seeds that reached the last round of their problem count.
usage: compare_acquisitions.py OUT"""

import csv
import math
import pathlib
import statistics
import sys

METRICS = ("log_likelihood", "rmse", "rmse_paper")


def incomplete_beta(a, b, x):
    """Regularised, by the continued fraction of its hypergeometric series (modified Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 500):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction


def welch(ours, theirs):
    """Two-sided p-value that the means are equal."""
    a, b = (statistics.variance(v) / len(v) for v in (ours, theirs))
    if a + b == 0:
        return float(statistics.mean(ours) == statistics.mean(theirs))
    t = (statistics.mean(ours) - statistics.mean(theirs)) / math.sqrt(a + b)
    degrees = (a + b) ** 2 / (a * a / (len(ours) - 1) + b * b / (len(theirs) - 1))
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def last_rounds(problem):
    """{method: [last round of each seed]}, of the seeds that got furthest; the model after it has chosen nothing."""
    found = {}
    for path in sorted(problem.glob("*/*/rounds.csv")):
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["chosen_epistemic"]]
        if rows:
            found.setdefault(path.parent.parent.name, []).append(rows[-1])
    last = max((int(row["round"]) for rows in found.values() for row in rows), default=0)
    return last, {m: [row for row in rows if int(row["round"]) == last] for m, rows in found.items()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[-1])
    for problem in sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir()):
        last, methods = last_rounds(problem)
        print(f"\n{problem.name}, round {last}\n")
        print("| method | seeds |" + "".join(f" {m} | p |" for m in METRICS))
        print("|---|---|" + "---|---|" * len(METRICS))
        values = {m: {k: [float(row[k]) for row in rows] for k in METRICS} for m, rows in methods.items() if rows}
        for method in sorted(values, key=lambda m: -statistics.mean(values[m]["log_likelihood"])):
            line = f"| {method.replace('_', ':')} | {len(values[method]['rmse'])} |"
            for metric in METRICS:
                ours = values[method][metric]
                error = statistics.stdev(ours) / math.sqrt(len(ours)) if len(ours) > 1 else math.nan
                theirs = values.get("random", {}).get(metric, [])
                testable = method != "random" and len(ours) > 1 and len(theirs) > 1
                line += f" {statistics.mean(ours):.4f} +- {error:.4f} | {f'{welch(ours, theirs):.2g}' if testable else '-'} |"
            print(line)


if __name__ == "__main__":
    main()
