"""The reference of the command line: its errors are what the program prints, its JSON keys are those of the program."""

import json
import os
import re
import subprocess
import unittest

import numpy as np

from support import PROGRAM, ROOT, DocsTest, indented, read

REFERENCE = os.path.join(ROOT, "docs", "command_line.md")
MATHEMATICS = os.path.join(ROOT, "docs", "mathematics.md")


def keys(value):
    """The keys of a JSON value, at every depth; below `options` are those of the command line."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if not isinstance(value, dict):
        return set()
    return set(value) | keys([item for key, item in value.items() if key != "options"])


class Errors(DocsTest):
    def test_errors_shown_are_those_printed(self):
        mean, stddev = np.zeros((20, 3, 1)), np.ones((20, 3, 1))
        block = next(block for block in indented(read(REFERENCE)) if block.startswith("$ "))
        steps = re.split(r"^\$ ", block, flags=re.M)[1:]
        self.assertEqual(len(steps), 2)
        for step in steps:
            command, _, shown = step.partition("\n")
            stddev[17, 2, 0] = 1 if "--estimator" in command else 0
            np.savez(self.path("ensemble.npz"), mean=mean, stddev=stddev)
            run = subprocess.run([PROGRAM, *command.split()[1:]], cwd=self.dir, text=True, capture_output=True)
            self.assertEqual((run.returncode, run.stderr), (2, shown))


class Json(DocsTest):
    """Every key that a command prints stands in its section."""

    def prepare(self):
        random = np.random.default_rng(0)
        for name, rows in (("L", 30), ("P", 40), ("T", 20)):
            x = random.uniform(-2, 2, rows)
            np.savetxt(self.path(f"{name}.csv"), np.column_stack([x, np.sin(x)]), delimiter=",", comments="", header="x,y")
        with open(self.path("E.csv"), "w") as file:
            file.write("x,y\n0.5,1e6\n")  # an answer far outside
        with open(self.path("small.toml"), "w") as file:
            file.write('name = "small"\nrounds = 1\n[grid]\nproblem = "hetero"\nmodel = "pne"\nepochs = 2\n')
        np.savez(self.path("e.npz"), mean=random.normal(size=(20, 3, 2)), stddev=np.ones((20, 3, 2)))

    def documented(self, command):
        section = re.search(rf"^## dissent {command}\b.*?\n(.*?)(?=^## |\Z)", read(REFERENCE), re.M | re.S).group(1)
        return set(re.findall(r"`(\w+)`", section))

    def test_every_key_is_documented(self):
        self.prepare()
        fit = "--targets y --epochs 5"
        tables = f"--labelled L.csv --pool P.csv {fit} --batch 3"
        columns = {"x", "y"}  # of the tables
        rounds = {"labelled", "rmse", "rmse_paper", "log_likelihood", "chosen_epistemic", "fit_seconds", "score_seconds",
                  "scoring_seconds", "expert_share", "round"}
        also = {"learn": rounds, "rounds": rounds, "ask": columns, "status": rounds, "evaluate": columns}
        for command in (
            *(f"score e.npz --estimator {estimator}" for estimator in ("kl", "bounds", "refine:2", "mc:10")),
            "estimators",
            f"fit L.csv {fit} --output y.model",
            "predict y.model P.csv --output p.csv",
            "evaluate y.model T.csv",
            "recalibrate y.model T.csv --output z.model",
            "show z.model",
            f"suggest {tables} --output next.csv",
            "acquisitions",
            f"learn out {tables} --test T.csv --rounds 2",
            f"ask lab {tables} --output todo.csv",
            "tell lab E.csv --extra",
            "status lab",
            "rounds out",
            "report out --format md --output out.md",
            "collect hetero --rows 5 --output h.csv",
            "policy evaluate pendulum --episodes 1",
            "study run small.toml",
            "study status sqlite:runs.db",
        ):
            name = re.match(r"((policy|study) )?\w+", command).group()
            with self.subTest(command):
                printed = json.loads(self.shell(f"dissent {command} --json 2>notes.txt"))
                self.assertEqual(keys(printed) - self.documented(name) - also.get(name, set()), set())


class StudyTables(DocsTest):
    """The columns of each table that `study show` writes as CSV are those of its line, in that order."""

    def test_columns(self):
        section = re.search(r"^## dissent study show\b.*?\n(.*?)(?=^## )", read(REFERENCE), re.M | re.S).group(1)
        rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M))
        self.assertEqual(len(rows), 10)
        with open(self.path("rounds.csv"), "w") as file:
            file.write("study,cell,problem,model,acquisition,seed,round,labelled,rmse\ns,c,hetero,flow,kl,0,1,100,0.5\n")
        for name, text in rows.items():
            printed = self.shell(f"dissent study show rounds.csv --format csv --table {name}").splitlines()[0].split(",")
            outside = re.sub(r"\([^)]*\)", "", text)
            self.assertEqual(printed, ["study", *re.findall(r"`(\w+)`", outside)], name)


class Methods(DocsTest):
    """The mathematics describe every way to choose rows, and no other."""

    def test_every_acquisition_is_described(self):
        printed = json.loads(self.shell("dissent acquisitions --json"))["acquisitions"]
        table = re.search(r"^\| method \| ranks rows by \|\n(.*?)\n\n", read(MATHEMATICS), re.M | re.S).group(1)
        cells = re.findall(r"^\| ([^|]*) \|", table, re.M)
        described = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
        self.assertEqual(described, {row["name"] for row in printed})


if __name__ == "__main__":
    unittest.main()
