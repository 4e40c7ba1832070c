"""benchmarks/choices_bench.py: its statistics, its campaigns, and going on after a kill."""

import math
import os
import subprocess
import sys
import unittest

from campaign_support import QUICK
from support import PROGRAM, CliTest

FOLDER = os.path.abspath(os.path.join(os.environ["DISSENT_EXAMPLES"], "..", "benchmarks"))
sys.path.insert(0, FOLDER)

try:
    import scipy  # noqa: F401  what the intervals need
except ImportError as error:
    raise unittest.SkipTest("scipy is missing") from error

from choices import campaigns, worth  # noqa: E402
from choices.report import report  # noqa: E402
from tables.cache import Cache  # noqa: E402

# Stands in for the program: notes its arguments, and writes rounds whose RMSE follows from method and seed.
FAKE = """#!/usr/bin/python3 -B
import os, sys
arguments = sys.argv[1:]
def after(name, default=None):
    return arguments[arguments.index(name) + 1] if name in arguments else default
with open(os.path.join(os.path.dirname(sys.argv[0]), "calls"), "a") as file:
    file.write(" ".join(arguments[2:]) + "\\n")
if after("--acquisition") == "broken":
    sys.exit("no such acquisition")
rmse = (1 + int(after("--seed"))) * (1.0 if after("--acquisition") == "random" else 0.5)
os.mkdir(arguments[1])
with open(os.path.join(arguments[1], "rounds.csv"), "w") as file:
    print("round,labelled,rmse,log_likelihood,fit_seconds,score_seconds", file=file)
    for number in range(int(after("--rounds")) + 1):
        print(number + 1, 100 + 20 * number, rmse, -rmse, 1, "", sep=",", file=file)
"""


def whole(task, seed, method, rmse, log_likelihood=0.0, label="ours"):
    """Rows of a whole campaign as a cache has them, with a curve that falls but has this mean."""
    count = campaigns.num_models(task)
    slopes = [(count - 1) / 2 - i for i in range(count)]
    names = campaigns.COLUMNS[0]
    return {key: {**dict(zip(names, key)), "rmse": rmse + 0.01 * slope, "log_likelihood": log_likelihood + slope}
            for key, slope in zip(campaigns.Campaign(task, seed, label, method, None).keys, slopes)}


class Worth(CliTest):
    def setUp(self):
        super().setUp()
        self.seeds = ["0", "1", "2"]

    def test_interval_is_students(self):
        found = worth.interval([1.0, 2.0, 4.0])  # by hand: stddev 1.5275, t of 2 degrees of freedom 4.30265
        self.assertAlmostEqual(found.mean, 7 / 3)
        self.assertAlmostEqual(found.high - found.mean, 4.302652729911275 * math.sqrt(7 / 3) / math.sqrt(3), places=9)
        self.assertAlmostEqual(found.mean - found.low, found.high - found.mean)
        self.assertEqual(worth.interval([3.0]).high, math.inf)

    def test_pairs_are_of_the_same_seed(self):
        rows = {}
        for seed, ours, theirs in ((0, 1.0, 2.0), (1, 3.0, 3.0), (2, 8.0, 2.0)):
            rows |= whole("hetero", seed, "kl", ours) | whole("hetero", seed, "random", theirs)
        rows |= whole("hetero", 3, "kl", 100.0)  # no baseline
        found = worth.areas(rows, "rmse")
        table = worth.compare(found, ["hetero"], [("ours", "kl")], [*self.seeds, "3"], worth.log_ratio)
        self.assertEqual(table["hetero"]["ours", "kl"].count, 3)
        self.assertAlmostEqual(table["hetero"]["ours", "kl"].mean, math.log(0.5 * 1 * 4) / 3)

    def test_an_unfinished_campaign_does_not_count(self):
        rows = whole("hetero", 0, "kl", 1.0)
        rows.pop(next(iter(rows)))
        self.assertEqual(worth.areas(rows, "rmse"), {})

    def test_ranks_and_profile(self):
        methods = [("ours", name) for name in ("kl", "badge", "random")]
        values = {"hetero": (-0.2, -0.2, 0.0), "bimodal": (math.log(1.05), 0.0, 0.0), "ant": (-0.5, math.nan, 0.0)}
        table = {task: {method: worth.interval([value]) for method, value in zip(methods, row) if value == value}
                 for task, row in values.items()}
        self.assertEqual(worth.shared_tasks(table, methods), ["hetero", "bimodal"])
        ranks = worth.mean_ranks(table, methods)
        self.assertEqual([ranks[method] for method in methods], [2.25, 1.5, 2.25])
        shares = worth.profile(table, methods, (1.0, 1.05, 1.3))
        self.assertEqual([shares[method] for method in methods], [[0.5, 1, 1], [1, 1, 1], [0.5, 0.5, 1]])
        total = worth.over_tasks(table, methods)["ours", "kl"]
        self.assertAlmostEqual(total.mean, (math.log(1.05) - 0.2) / 2)
        self.assertEqual(total.count, 2)

    def test_aim_is_for_robots_and_peers_are_for_tables(self):
        jobs = campaigns.jobs(["diabetes", "ant"], [7], ["kl", "kl+aim", "gp-variance"], "ours", None)
        self.assertEqual([(job.task, job.method) for job in jobs],
                         [("diabetes", "random"), ("diabetes", "kl"), ("diabetes", "gp-random"),
                          ("diabetes", "gp-variance"), ("ant", "random"), ("ant", "kl"), ("ant", "kl+aim")])
        self.assertEqual(campaigns.learn_options("kl+aim"), ["--acquisition", "kl", "--aim", "test"])
        self.assertEqual(campaigns.learn_options("default"), [])

    def test_report_measures_peers_against_their_own_model(self):
        rows = {}
        for seed in range(3):
            for label, method, rmse in (("ours", "random", 4.0), ("ours", "kl", 3.0 + 0.1 * seed),
                                        ("peer", "gp-random", 2.0), ("peer", "gp-variance", 1.0)):
                rows |= whole("diabetes", seed, method, rmse, -rmse, label)
        text = report(rows, ["diabetes"], ["kl", "random", "gp-variance"], range(3), ["ours"])
        self.assertIn("| task | seeds | kl | gp-variance |", text)
        self.assertIn("| diabetes | 3 | 0.775 (0.715 to 0.839) | 0.500 (0.500 to 0.500) |", text)
        self.assertIn("| diabetes | 3 | +0.900 (+0.652 to +1.148) | +1.000 (+1.000 to +1.000) |", text)


class Choices(CliTest):
    def bench(self, bin_folder, *options):
        command = ["/usr/bin/python3", "-B", os.path.join(FOLDER, "choices_bench.py"), bin_folder, "--cache",
                   self.path("cache"), "--jobs", "1", *map(str, options)]
        return subprocess.run(command, cwd=self.dir, text=True, capture_output=True)

    def fake(self):
        with open(self.path("dissent"), "w") as file:
            file.write(FAKE)
        os.chmod(self.path("dissent"), 0o755)
        return self.dir

    def calls(self):
        """Those since the last look."""
        if not os.path.exists(self.path("calls")):
            return []
        with open(self.path("calls")) as file:
            found = file.read().splitlines()
        os.remove(self.path("calls"))
        return found

    def test_going_on_after_a_kill(self):
        run = [self.fake(), "--tasks", "hetero,ant", "--seeds", "0,1", "--methods", "default+aim", "--", "--bins", "9"]
        whole_run = self.bench(*run)
        self.assertEqual(whole_run.returncode, 0, whole_run.stderr)
        self.assertIn("| hetero | 2 | 0.500 (0.500 to 0.500) |", whole_run.stdout)
        calls = self.calls()
        self.assertEqual(len(calls), 8)
        self.assertEqual(calls[3], "--rounds 10 --batch 20 --quiet --problem ant --aim test --seed 0 --threads 1 "
                                   "--bins 9")
        self.assertEqual(self.bench(*run).stdout, whole_run.stdout)
        self.assertEqual(self.calls(), [])
        path = self.path("cache/choices.csv")
        os.truncate(path, os.path.getsize(path) - 30)  # as if killed while it wrote the last campaign
        part = self.bench(*run[:-3], "--report")
        self.assertIn("| ant | 1 | 0.500 |", part.stdout)
        self.assertEqual(self.bench(*run).stdout, whole_run.stdout)
        self.assertEqual(self.calls(), [calls[-1]])

    def test_other_options_and_labels_run_again(self):
        run = [self.fake(), "--tasks", "hetero", "--seeds", "0", "--methods", "kl"]
        self.bench(*run)
        self.assertEqual(len(self.calls()), 2)
        self.bench(*run, "--", "--bins", "9")
        self.assertEqual(len(self.calls()), 2)
        result = self.bench(*run, "--label", "wide", "--beside", "ours", "--", "--bins", "9")
        self.assertEqual(len(self.calls()), 2)
        self.assertIn("| task | seeds | wide: kl | ours: kl |", result.stdout)

    def test_a_failure_does_not_stop_the_others(self):
        result = self.bench(self.fake(), "--tasks", "hetero", "--seeds", "0", "--methods", "broken,kl")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no such acquisition", result.stderr)
        self.assertIn("| task | seeds | kl |", result.stdout)
        self.assertIn("no task 'iris'", self.bench(self.dir, "--tasks", "iris").stderr)

    def test_the_program_itself(self):
        run = (os.path.dirname(PROGRAM), "--tasks", "hetero", "--seeds", "3", "--methods", "kl", "--", *QUICK)
        result = self.bench(*run)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = Cache(self.path("cache/choices.csv"), *campaigns.COLUMNS).rows()
        self.assertEqual(len(rows), 22)
        first = {rows["hetero", "3", "ours", method, "1"]["rmse"] for method in ("kl", "random")}
        last = {rows["hetero", "3", "ours", method, "11"]["rmse"] for method in ("kl", "random")}
        self.assertEqual((len(first), len(last)), (1, 2))  # they begin with the same model


if __name__ == "__main__":
    unittest.main()
