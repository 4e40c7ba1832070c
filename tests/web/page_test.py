"""Pages of `dissent report` in Chromium: drawn without an error, complete, and usable by the keyboard.

Needs node, chromium and playwright-core, which the build fetches with the pages; where one is missing it says so and
exits with 77, which counts as skipped.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["DISSENT_PROGRAM"]
MODULES = os.environ["DISSENT_WEB_MODULES"]
HOSTILE = "</script><script>document.title='broken'</script><b>"


def missing():
    """Why the pages cannot be tested here, or None."""
    for program in ("node", "chromium"):
        if not shutil.which(program):
            return f"there is no {program}"
    if not os.path.isdir(os.path.join(MODULES, "playwright-core")):
        return "the build has no pages, or no playwright-core"
    return None


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def dissent(self, *arguments):
        run = subprocess.run([PROGRAM, *arguments], cwd=self.dir, text=True, capture_output=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def table(self, name, rows, targets, seed):
        random = np.random.default_rng(seed)
        x = random.uniform(-2, 2, (rows, 3))
        y = np.sin(x[:, 0]) + 0.3 * x[:, 1] + 0.1 * random.normal(size=rows)
        columns = {"a": x[:, 0], HOSTILE: x[:, 1], "c": x[:, 2], "y": y, "z": y * y}
        if targets < 2:
            del columns["z"]
        with open(self.path(name), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))

    def browse(self, page):
        command = ["node", os.path.join(HERE, "browse.mjs"), MODULES, shutil.which("chromium"), page]
        pictures = os.environ.get("DISSENT_PICTURES")
        if pictures:
            folder = os.path.join(pictures, self._testMethodName)
            os.makedirs(folder, exist_ok=True)
            command.append(folder)
        run = subprocess.run(command, cwd=self.dir, text=True, capture_output=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def check(self, facts, printed):
        """What holds for every page."""
        self.assertEqual(facts["console"], [])
        self.assertEqual(facts["requests"], [])
        self.assertNotEqual(facts["title"], "broken")
        self.assertEqual([chart["id"] for chart in facts["charts"]], [chart["id"] for chart in printed["charts"]])
        for chart in facts["charts"]:
            self.assertGreater(chart["marks"], 0, chart["id"])
            self.assertIn(chart["caption"][:40], chart["label"])
        self.assertEqual(facts["data"], [len(chart["rows"]) for chart in printed["charts"]])
        self.assertEqual(facts["keyboard"]["missed"], [])
        self.assertGreater(facts["keyboard"]["wanted"], 5)
        self.assertEqual([name for name, changed in facts["changed"].items() if not changed], [])
        self.assertLessEqual(facts["phoneWidth"], 390)
        self.check_tables(facts["tables"], printed["tables"])

    def check_tables(self, shown, printed):
        self.assertEqual([table["id"] for table in shown], [table["id"] for table in printed])
        for one, other in zip(shown, printed):
            rows = [["–" if cell is None else cell for cell in row] for row in other["rows"]]
            self.assertEqual(one["rows"], rows, one["id"])

    def test_model(self):
        self.table("data.csv", 80, 1, 0)
        self.table("held.csv", 60, 1, 1)
        self.dissent("fit", "data.csv", "--targets", "y", "--model", "gp", "--output", "y.model", "--quiet")
        printed = json.loads(self.dissent("report", "y.model", "--table", "held.csv", "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        measured = json.loads(self.dissent("evaluate", "y.model", "held.csv", "--json"))
        metrics = {row[0]: row[1] for table in facts["tables"] if table["id"] == "metrics" for row in table["rows"]}
        for title, key in (("RMSE", "rmse"), ("MAE", "mae"), ("CRPS", "crps"), ("Log-likelihood", "log_likelihood"),
                           ("Coverage, 90%", "coverage_90"), ("Calibration error", "calibration_error")):
            self.assertEqual(metrics[title], measured[key])
        self.assertIn("residuals switch", facts["changed"])
        self.assertIn("parity in", facts["changed"])

    def test_model_of_two_targets(self):
        self.table("data.csv", 60, 2, 0)
        self.table("held.csv", 40, 2, 1)
        self.dissent("fit", "data.csv", "--targets", "y,z", "--model", "gp", "--output", "y.model", "--quiet")
        printed = json.loads(self.dissent("report", "y.model", "--table", "held.csv", "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        self.assertIn("parity list", facts["changed"])
        self.assertIn("calibration list", facts["changed"])

    def test_campaign_of_people(self):
        for name, rows, seed in (("L.csv", 20, 0), ("P.csv", 120, 1), ("T.csv", 40, 2)):
            self.table(name, rows, 1, seed)
        self.dissent("ask", "lab", "--labelled", "L.csv", "--pool", "P.csv", "--test", "T.csv", "--targets", "y",
                     "--model", "gp", "--batch", "5", "-o", "first.csv", "--quiet")
        with open(self.path("first.csv")) as file:
            header, *rows = list(csv.reader(file))
        with open(self.path("told.csv"), "w", newline="") as file:
            csv.writer(file).writerows([header, *(row[:-1] + ["0.5"] for row in rows[:3])])
        self.dissent("tell", "lab", "told.csv", "--quiet")
        self.dissent("ask", "lab", "--batch", "5", "-o", "todo.csv", "--quiet")
        printed = json.loads(self.dissent("report", "lab", "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        waiting = next(table for table in facts["tables"] if table["id"] == "waiting")
        self.assertEqual(len(waiting["rows"]), 5)

    def test_campaign_with_an_oracle(self):
        for name, rows, seed in (("L.csv", 20, 0), ("P.csv", 150, 1), ("T.csv", 40, 2)):
            self.table(name, rows, 1, seed)
        self.dissent("learn", "out", "--labelled", "L.csv", "--pool", "P.csv", "--test", "T.csv", "--targets", "y",
                     "--model", "gp", "--batch", "5", "--rounds", "4", "--quiet")
        printed = json.loads(self.dissent("report", "out", "--pool", "P.csv", "--table", "T.csv", "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        with open(self.path("out/rounds.csv")) as file:
            rounds = list(csv.DictReader(file))
        shown = next(table for table in facts["tables"] if table["id"] == "rounds")
        self.assertEqual([row[shown["columns"].index("rmse")] for row in shown["rows"]],
                         [float(row["rmse"]) for row in rounds])


if __name__ == "__main__":
    why = missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main()
