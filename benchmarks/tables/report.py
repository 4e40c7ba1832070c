"""The report as Markdown: our results beside the best peer's, counts over them, and where we miss.

Numbers are means over splits. A method counts in a cell if it has a result for every split asked for.
"""

import math

import numpy as np

from tables.campaigns import ROUNDS
from tables.data import TABLES

COVERAGE = (0.84, 0.96)
MOST_ZIGZAG = 0.08


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def lines(header, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])


def ordered(cache):
    """Rows of the cache by table and number of rows."""
    return sorted(cache.rows().values(), key=lambda row: (TABLES.index(row["table"]), int(row.get("rows", 0))))


def grouped(cache, splits, column, key_of):
    """{key: {method: {split: value}}}; key_of makes the key of a row."""
    found = {}
    for row in ordered(cache):
        if row["split"] in splits:
            methods = found.setdefault(key_of(row), {})
            methods.setdefault(row["method"], {})[row["split"]] = row[column]
    return found


def complete_means(values, splits):
    """{key: {method: mean}} of methods with every split."""
    return {key: {method: float(np.mean(list(by_split.values()))) for method, by_split in methods.items()
                  if set(by_split) == set(splits)} for key, methods in values.items()}


def best(values, peers, pick):
    """Name and value of the best peer, or (None, nan)."""
    present = {peer: values[peer] for peer in peers if peer in values}
    name = pick(present, key=present.get) if present else None
    return name, present.get(name, math.nan)


def lacking(means, ours, peers):
    """One line per method, with the cells where it has no complete result."""
    text = []
    for method in (ours, *peers):
        cells = [" ".join(key) for key, values in means.items() if method not in values]
        if len(cells) == len(means):
            text.append(f"No results: {method}.")
        elif cells:
            text.append(f"Not all splits: {method} in {', '.join(cells)}.")
    return text


def cells(cache, ours, peers, splits):
    def key_of(row):
        return row["table"], row["rows"]
    means = {column: complete_means(grouped(cache, splits, column, key_of), splits) for column in cache.results}
    rows, ratios, likelier, covered, misses = [], [], [], [], []
    for key in means["rmse"]:
        if ours not in means["rmse"][key]:
            continue
        rmse, log_likelihood, coverage, seconds = (means[column][key][ours] for column in cache.results)
        rmse_name, rmse_peer = best(means["rmse"][key], peers, min)
        likelihood_name, likelihood_peer = best(means["log_likelihood"][key], peers, max)
        ratios.append(rmse / rmse_peer)
        likelier.append(log_likelihood > likelihood_peer)
        covered.append(COVERAGE[0] <= coverage <= COVERAGE[1])
        rows.append([*key, shown(rmse), f"{shown(rmse_peer)} {rmse_name}", f"{ratios[-1]:.3f}",
                     f"{log_likelihood:.3f}", f"{likelihood_peer:.3f} {likelihood_name}", f"{coverage:.3f}",
                     f"{seconds:.1f}"])
        failed = [text for text, bad in ((f"RMSE {ratios[-1]:.3f}", ratios[-1] > 1.03),
                                         (f"log-likelihood {log_likelihood - likelihood_peer:+.3f}", not likelier[-1]),
                                         (f"coverage {coverage:.3f}", not covered[-1])) if bad]
        if failed:
            misses.append(f"- {' '.join(key)}: {', '.join(failed)}")
    header = ["table", "rows", "RMSE", "best peer", "ratio", "log-likelihood", "best peer", "coverage of 90%",
              "s a fit"]
    summary = []
    if rows:
        summary = [f"Geometric mean of RMSE over the best peer's: {np.exp(np.mean(np.log(ratios))):.3f} "
                   f"({len(rows)} cells).",
                   f"Log-likelihood better than every peer's: {sum(likelier)} of {len(rows)}.",
                   f"Coverage within {COVERAGE[0]} to {COVERAGE[1]}: {sum(covered)} of {len(rows)}."]
    return "\n".join([lines(header, rows), "", *summary, *lacking(means["rmse"], ours, peers), "", "Misses:", "",
                      *(misses or ["none"]), "", methods_table(means, (ours, *peers)), ""])


def methods_table(means, methods):
    """How each method does over the cells where all of them have results."""
    shared = [key for key, values in means["rmse"].items() if all(method in values for method in methods
                                                                 if any(method in v for v in means["rmse"].values()))]
    rows = []
    for method in methods:
        if shared and method in means["rmse"][shared[0]]:
            ratio = [means["rmse"][key][method] / min(means["rmse"][key].values()) for key in shared]
            rows.append([method, f"{np.exp(np.mean(np.log(ratio))):.3f}",
                         *(f"{np.mean([means[c][key][method] for key in shared]):.3f}"
                           for c in ("log_likelihood", "coverage", "seconds"))])
    return lines(["method", "RMSE over the best's, geometric mean", "log-likelihood", "coverage of 90%", "s a fit"],
                 rows)


def zigzag(curve):
    """Mean absolute change from round to round, over the mean."""
    return np.mean(np.abs(np.diff(curve))) / np.mean(curve)


def curves(cache, splits):
    """{table: {method: curves of whole campaigns, one for each split}}."""
    found = {}
    for row in ordered(cache):
        if row["split"] in splits:
            methods = found.setdefault(row["table"], {})
            methods.setdefault(row["method"], {}).setdefault(row["split"], {})[int(row["round"])] = row["rmse"]
    return {table: {method: [[rounds[i + 1] for i in range(ROUNDS)] for rounds in by_split.values()]
                    for method, by_split in methods.items()
                    if set(by_split) == set(splits) and all(len(r) == ROUNDS for r in by_split.values())}
            for table, methods in found.items()}


def campaigns(cache, ours, peers, splits):
    rows, misses = [], []
    for table, methods in curves(cache, splits).items():
        average = {method: float(np.mean(values)) for method, values in methods.items()}
        jumps = {method: float(np.mean([zigzag(curve) for curve in values])) for method, values in methods.items()}
        rows.append([table, *(f"{shown(average[method])} ({jumps[method]:.3f})" if method in methods else "-"
                              for method in (ours, *peers))])
        if ours in methods:
            name, value = best(average, peers, min)
            rows[-1].append(f"{average[ours] / value:.3f}")
            if average[ours] > value:
                misses.append(f"- {table}: RMSE {average[ours] / value:.3f} of that of {name}")
            if jumps[ours] > MOST_ZIGZAG:
                misses.append(f"- {table}: zigzag {jumps[ours]:.3f}")
        else:
            rows[-1].append("-")
    return "\n".join([lines(["RMSE over the campaign (zigzag)", ours, *peers, "over the best peer's"], rows), "",
                      "Misses:", "", *(misses or ["none"]), ""])
