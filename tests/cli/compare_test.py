"""benchmarks/compare_acquisitions: campaigns of several methods and seeds, and the table of their last rounds."""

import importlib.util
import os
import subprocess
import unittest

from campaign_support import QUICK
from support import PROGRAM, CliTest

FOLDER = os.path.join(os.environ["DISSENT_EXAMPLES"], "..", "benchmarks")


class Compare(CliTest):
    def compare(self, **settings):
        path = os.path.dirname(PROGRAM) + ":/usr/bin:" + os.environ["PATH"]
        command = [os.path.join(FOLDER, "compare_acquisitions.sh"), "out", *map(str, QUICK)]
        return subprocess.run(command, cwd=self.dir, text=True, capture_output=True,
                              env={**os.environ, "PATH": path, "PROBLEMS": "hetero", "SEEDS": "2", "JOBS": "2", **settings})

    def test_the_table_and_going_on(self):
        result = self.compare(METHODS="random kl mc:20", ROUNDS="1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("hetero, round 1", result.stdout)
        table = [line.strip("|").split("|") for line in result.stdout.splitlines() if line.startswith("|")]
        self.assertEqual({row[0].strip() for row in table[2:]}, {"kl", "random", "mc:20"})
        self.assertEqual({row[1].strip() for row in table[2:]}, {"2"})
        self.assertEqual(len({tuple(row[2:3]) for row in table[2:]}), 1)  # the first model is the same for all
        with open(self.path("out/hetero/kl/0/rounds.csv")) as file:
            first = file.readlines()[:2]  # the last line is of a model that had not chosen yet
        result = self.compare(METHODS="random kl nope", ROUNDS="2")
        self.assertIn("failed: hetero nope seed 1: dissent learn: acquisition 'nope' is not known", result.stderr)
        self.assertIn("hetero, round 2", result.stdout)
        with open(self.path("out/hetero/kl/0/rounds.csv")) as file:
            self.assertEqual(file.readlines()[:2], first)  # the campaigns went on

    def test_welch(self):
        spec = importlib.util.spec_from_file_location("compare", os.path.join(FOLDER, "compare_acquisitions.py"))
        compare = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(compare)
        # scipy.stats.ttest_ind(..., equal_var=False) says the same.
        self.assertAlmostEqual(compare.welch([1, 2, 3, 4, 5.0], [2, 3, 4, 5, 9.0]), 0.2937254912355017, places=12)
        self.assertAlmostEqual(compare.welch([0, 1.0], [0, 1.0]), 1, places=12)
        self.assertEqual(compare.welch([1, 1.0], [2, 2.0]), 0)


if __name__ == "__main__":
    unittest.main()
