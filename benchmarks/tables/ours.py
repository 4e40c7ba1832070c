"""The program under test: one fit and its metrics, or one campaign, in a temporary folder.

A campaign is a list of dicts, one for each model in turn: labelled, rmse, log_likelihood and seconds.
"""

import csv
import hashlib
import json
import os
import subprocess
import tempfile
import time

from tables import data


class Program:
    """The program `dissent` in the folder `bin` with options of `dissent fit`; settings distinguish it from others."""

    def __init__(self, bin_folder, options):
        self.path, self.options = os.path.join(bin_folder, "dissent"), list(options)
        with open(self.path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:12]
        self.settings = " ".join([digest, *self.options])

    def cell(self, names, train, test, seed):
        """Seconds are those of the fit."""
        with tempfile.TemporaryDirectory() as folder:
            train_file, test_file, model = self._tables(folder, names, train=train, test=test, model=None)
            begin = time.perf_counter()
            self._run("fit", train_file, "--targets", names[-1], "--output", model, "--quiet", *self._common(seed))
            seconds = time.perf_counter() - begin
            metrics = json.loads(self._run("evaluate", model, test_file, "--json", "--threads", "1"))
        return {"rmse": metrics["rmse"], "log_likelihood": metrics["log_likelihood"],
                "coverage": metrics["coverage_90"], "seconds": seconds}

    def campaign(self, names, train, test, seed, first, batch, rounds, *options):
        """On a table: the training rows after the first ones are the pool."""
        with tempfile.TemporaryDirectory() as folder:
            labelled, pool, test_file = self._tables(folder, names, labelled=train[:first], pool=train[first:],
                                                     test=test)
            return self._learn(folder, seed, batch, rounds, "--labelled", labelled, "--pool", pool, "--test", test_file,
                               "--targets", names[-1], *options)

    def problem(self, name, seed, batch, rounds, *options):
        """On one of the program's own problems."""
        with tempfile.TemporaryDirectory() as folder:
            return self._learn(folder, seed, batch, rounds, "--problem", name, *options)

    def _learn(self, folder, seed, batch, rounds, *options):
        directory = os.path.join(folder, "campaign")
        self._run("learn", directory, "--rounds", str(rounds), "--batch", str(batch), "--quiet", *options,
                  *self._common(seed))
        with open(os.path.join(directory, "rounds.csv"), newline="") as file:
            found = list(csv.DictReader(file))
        return [{"labelled": int(row["labelled"]), "rmse": float(row["rmse"]),
                 "log_likelihood": float(row["log_likelihood"]),
                 "seconds": float(row["fit_seconds"]) + float(row["score_seconds"] or 0)} for row in found]

    def _common(self, seed):
        seeded = [] if "--seed" in self.options else ["--seed", str(seed)]
        return [*seeded, "--threads", "1", *self.options]

    def _run(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"dissent {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    @staticmethod
    def _tables(folder, names, **values):
        paths = {key: os.path.join(folder, key if rows is None else f"{key}.csv") for key, rows in values.items()}
        for key, rows in values.items():
            if rows is not None:
                data.write(paths[key], names, rows)
        return tuple(paths.values())
