"""The jobs of the benchmark: a fit in a cell (table, rows, split), or a campaign (table, split), by one method.

A job's `program` is ours.Program, or None for a peer. Jobs know their rows in the cache and about how long they take.
Benchmarks with their own jobs run them here, too: a job has `keys`, `program` and `run(folder)`.
"""

import concurrent.futures
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np

from tables import campaigns, data

CELL_PEERS = ("gp", "forest", "boosting", "networks", "deep-ensemble")
CAMPAIGN_PEERS = tuple(campaigns.STEPS)
CELL_COLUMNS = (("table", "rows", "split", "method"), ("rmse", "log_likelihood", "coverage", "seconds"))
CAMPAIGN_COLUMNS = (("table", "split", "method", "round"), ("labelled", "rmse", "seconds"))


def peer(name):
    """A function (x, y, seed) -> predict; see peers.py. Libraries are loaded only for the peers that need them."""
    if name == "deep-ensemble":
        from tables.deep_ensemble import deep_ensemble
        return deep_ensemble
    from tables.peers import PEERS
    return PEERS[name]


def gaussian_metrics(y, mean, stddev):
    error = y - mean
    log_density = -0.5 * np.log(2 * np.pi * stddev**2) - 0.5 * (error / stddev) ** 2
    return {"rmse": np.sqrt(np.mean(error**2)), "log_likelihood": np.mean(log_density),
            "coverage": np.mean(np.abs(error) <= 1.6448536 * stddev)}


@dataclass(frozen=True)
class Cell:
    table: str
    rows: int
    split: int
    method: str
    program: object

    @property
    def keys(self):
        return [(self.table, str(self.rows), str(self.split), self.method)]

    def cost(self, num_inputs):
        """About how many seconds it takes."""
        if self.method == "gp":
            return 4e-5 * self.rows**2 * num_inputs
        return 4 + {"forest": 0.01, "boosting": 0.05, "networks": 0.03}.get(self.method, 0.01) * self.rows

    def run(self, folder):
        """Dicts of results, one for each key."""
        split = data.split(folder, self.table, self.split)
        train = split.train[:self.rows]
        if self.program:
            return [self.program.cell(split.names, train, split.test, self.split)]
        begin = time.perf_counter()
        predict = peer(self.method)(train[:, :-1], train[:, -1], self.split)
        seconds = time.perf_counter() - begin
        return [{**gaussian_metrics(split.test[:, -1], *predict(split.test[:, :-1])), "seconds": seconds}]


@dataclass(frozen=True)
class Campaign:
    table: str
    split: int
    method: str
    program: object

    @property
    def keys(self):
        return [(self.table, str(self.split), self.method, str(number + 1)) for number in range(campaigns.ROUNDS)]

    def cost(self, num_inputs):
        return 9 * num_inputs if self.method.startswith("gp") else 40

    def run(self, folder):
        split = data.split(folder, self.table, self.split)
        if self.program:
            return self.program.campaign(split.names, split.train, split.test, self.split, campaigns.FIRST,
                                         campaigns.BATCH, campaigns.ROUNDS)[:campaigns.ROUNDS]
        return campaigns.campaign(campaigns.STEPS[self.method], split.train, split.test, self.split)


def settings(job):
    """Results under other settings are not taken from the cache."""
    return job.program.settings if job.program else ""


def work(job, folder):
    warnings.simplefilter("ignore")
    return job.run(folder)


def missing(jobs, cache):
    """The jobs whose results the cache lacks."""
    known = cache.rows()
    return [job for job in jobs
            if any(key not in known or known[key]["settings"] != settings(job) for key in job.keys)]


def keep(job, results, cache):
    cache.add([{**dict(zip(cache.key, key)), "settings": settings(job), **result}
               for key, result in zip(job.keys, results)])


def longest_first(pending, folder):
    inputs = {job.table: len(data.load(folder, job.table)[0]) - 1 for job, _ in pending}
    return sorted(pending, key=lambda pair: -pair[0].cost(inputs[pair[0].table]))


def run_all(pending, folder, num_processes):
    """Runs pairs (job, cache) in this order, and keeps results as they come. Returns the number that failed."""
    begin, num_failed = time.perf_counter(), 0
    with concurrent.futures.ProcessPoolExecutor(num_processes) as pool:
        futures = {pool.submit(work, job, folder): (job, cache) for job, cache in pending}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            job, cache = futures[future]
            name = " ".join(part for part in job.keys[0] if part)
            try:
                keep(job, future.result(), cache)
                outcome = "done"
            except Exception as error:  # the others go on; the run fails at its end
                num_failed += 1
                outcome = f"failed: {error!r}"
            print(f"{time.perf_counter() - begin:7.1f} s  {number} of {len(futures)}  {name}: {outcome}",
                  file=sys.stderr, flush=True)
    return num_failed
