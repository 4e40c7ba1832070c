"""`dissent study measure`: what it records, how it tells of its progress, and what the page makes of it."""

import contextlib
import csv
import io
import json
import os
import pty
import sqlite3
import subprocess
import unittest

from support import PROGRAM, SANITIZED, CliTest

FEW = ("--quick", "--problem", "hetero", "--seeds", 1, "--threads", 1)


@unittest.skipIf(SANITIZED, "times mean nothing there, and the numbers are tested with the library")
class Measure(CliTest):
    def rows(self, *columns):
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as database:
            return database.execute(f"SELECT {', '.join(columns)} FROM measurement ORDER BY id").fetchall()

    def test_what_is_recorded_and_drawn(self):
        said = json.loads(self.run_ok("study", "measure", "sqlite:runs.db", *FEW, "--study", "quick", "--json"))
        self.assertEqual(said["study"], "quick")
        counts = said["measurements"]
        self.assertEqual(set(counts), {"seconds", "matched_samples", "spearman", "bias", "epistemic", "data", "sample"})
        self.assertEqual(counts["spearman"], 2 * 2)  # models, estimators
        self.assertEqual(counts["epistemic"], 2 * 3 * 41)  # and the true value
        self.assertEqual({problem for problem, kind in self.rows("problem", "kind") if kind == "bias"}, {"hetero"})
        self.assertTrue(all(value > 0 for kind, value in self.rows("kind", "value") if kind == "seconds"))

        # The page has as many points as the store has numbers.
        tables = {}
        for line in csv.DictReader(io.StringIO(self.run_ok("report", "sqlite:runs.db", "--format", "csv", "-o", "-"))):
            tables.setdefault(line["table"], set()).add(line["row"])
        drawn = {name: len(rows) for name, rows in tables.items()}
        self.assertEqual(drawn["pictures"], counts["data"] + counts["sample"])

        self.run_bad(2, "study", "measure", "sqlite:runs.db", *FEW, "--study", "quikc", says="did you mean 'quick'?")

    def test_progress_is_seen_on_a_terminal(self):
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            run = subprocess.Popen([PROGRAM, "study", "measure", "sqlite:runs.db", *map(str, FEW)], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=theirs, env=dict(os.environ, TERM="xterm"))
            os.close(theirs)
            seen = b""
            with contextlib.suppress(OSError):  # how a terminal ends
                while part := terminal.read(4096):
                    seen += part
            output, _ = run.communicate()
        self.assertEqual(run.returncode, 0, seen)
        self.assertRegex(seen.decode(), r"measure \[[#-]+\] .* of 10 times")
        self.assertRegex(seen.decode(), r"measure \[[#-]+\] .* of 2 models")
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-80:])
        self.assertIn(b"of study 'estimators'", output)

    def test_mistakes(self):
        self.run_bad(2, "study", "measure", "sqlite:runs.db", "--problem", "hetro", says="did you mean 'hetero'?")
        self.run_bad(2, "study", "measure", "sqlite:runs.db", "--seeds", 0, says="--seeds")
        self.run_bad(2, "study", "measure", "sqlite:runs.db", *FEW, "--study", "a,b", says="no commas")


if __name__ == "__main__":
    unittest.main()
