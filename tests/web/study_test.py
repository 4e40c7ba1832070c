"""The page of a study in Chromium: drawn without an error, equal to its store, and live while a server shows it."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import urllib.error
import urllib.request
import xml.etree.ElementTree

import numpy as np

from support import PROGRAM, PageTest, main

HOSTILE = "</script><img src=x onerror=1>"
FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web", "figures.mjs")

GRID = f"""name = "small"
rounds = 3
[settings]
model = "gp"
batch = 4
[grid]
problem = ["wave", '{HOSTILE}']
acquisition = ["random", "kl"]
seed = "0-1"
[table.wave]
file = "T.csv"
targets = "y"
labelled = 12
test = 30
[table.'{HOSTILE}']
file = "T.csv"
targets = "y"
inputs = ["a"]
labelled = 12
test = 30
"""


class Study(PageTest):
    def setUp(self):
        super().setUp()
        self.table("T.csv", 90, 1, 0)
        with open(self.path("small.toml"), "w") as file:
            file.write(GRID)

    def run_grid(self, *more):
        self.dissent("study", "run", "small.toml", "--store", "sqlite:runs.db", "--quiet", *more)

    def exported(self):
        return list(csv.DictReader(io.StringIO(self.dissent("study", "export", "sqlite:runs.db"))))

    def rows(self, facts, table):
        """The rows of a table as dictionaries by the titles of its columns."""
        found = next(one for one in facts["tables"] if one["id"] == table)
        return [dict(zip(found["columns"], row)) for row in found["rows"]]

    def figures(self, *arguments):
        return subprocess.run(["node", FIGURES, *arguments], cwd=self.dir, text=True, capture_output=True)

    def test_figures(self):
        self.run_grid()
        self.dissent("report", "sqlite:runs.db", "-o", "r.html")
        run = self.figures("r.html", "figures", "curves", "scores")
        self.assertEqual(run.returncode, 0, run.stderr)
        names = sorted(os.listdir(self.path("figures")))
        self.assertEqual(run.stdout, f"figures: {len(names)} figures\n")
        problems, metrics = ("wave", "script-img-src-x-onerror-1"), ("rmse", "rmse-as-in-the-paper", "log-likelihood-nats-a-row")
        self.assertEqual({name for name in names if name.startswith("curves")},
                         {f"curves-{problem}-{metric}.svg" for problem in problems for metric in metrics})
        self.assertIn("scores-rmse.svg", names)
        rows = {}
        for name in names:
            root = xml.etree.ElementTree.parse(self.path(f"figures/{name}")).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            points = root.findall(".//{*}g[@aria-roledescription='symbol mark container']/{*}path")
            drawn = [re.search(r"(?:shown|score): ([^;]*)", point.get("aria-label")).group(1) for point in points]
            rows[name] = sorted(float(text.replace("−", "-")) for text in drawn)
        curves = {}
        for row in self.exported():
            if row["problem"] == "wave":
                curves.setdefault((row["acquisition"], row["round"]), []).append(float(row["rmse"]))
        medians = sorted(statistics.median(values) for values in curves.values())
        self.assertEqual(len(medians), 2 * 4)  # two methods, four models each
        np.testing.assert_allclose(rows["curves-wave-rmse.svg"], medians, rtol=1e-9)
        self.assertEqual(len(rows["scores-rmse.svg"]), 2)
        run = self.figures("r.html", "figures", "curve")
        self.assertEqual(run.returncode, 2)
        self.assertIn("there is no chart 'curve'; there are", run.stderr)
        self.assertEqual(self.figures("small.toml", "figures").returncode, 2)
        self.assertEqual(self.figures("none.html", "figures").returncode, 2)

    def test_whole(self):
        self.run_grid()
        printed = json.loads(self.dissent("report", "sqlite:runs.db", "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        self.assertEqual(facts["title"], "Study small")
        for chart in ("curves", "choices", "seconds", "scores", "profiles", "improvement", "outcomes", "timeline"):
            self.assertIn(chart, [one["id"] for one in facts["charts"]])
        for change in ("curves switch", "curves box", "curves in", "profiles box"):
            self.assertIn(change, facts["changed"])
        ends = {}
        for row in self.exported():
            if row["round"] == "4":
                ends.setdefault((row["problem"], row["acquisition"]), []).append(float(row["rmse"]))
        shown = self.rows(facts, "main-rmse-1")
        self.assertEqual(len(shown), len(ends))
        for row in shown:
            values = ends[row["Problem"], row["Method"]]
            self.assertAlmostEqual(row["Mean"], statistics.mean(values), delta=1e-12)
            self.assertAlmostEqual(row["Deviation"], statistics.stdev(values), delta=1e-12)
            self.assertEqual(row["Campaigns"], 2)
        self.assertEqual([row["State"] for row in self.rows(facts, "campaigns")], ["done"] * 8)
        self.assertEqual({row["Models"] for row in self.rows(facts, "campaigns")}, {4})

    def test_one_campaign_of_many(self):
        self.run_grid("--only", "problem=wave acquisition=kl seed=0")
        facts = self.browse_report("sqlite:runs.db")
        self.assertEqual(sorted(row["State"] for row in self.rows(facts, "campaigns")), ["done"] + ["waiting"] * 7)

    def browse_report(self, source):
        printed = json.loads(self.dissent("report", source, "-o", "r.html", "--json"))
        facts = self.browse("r.html")
        self.check(facts, printed)
        return facts

    def test_served(self):
        self.run_grid("--only", "problem=wave acquisition=kl seed=0")
        server = subprocess.Popen([PROGRAM, "study", "serve", "sqlite:runs.db", "--port", "0"], cwd=self.dir, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(server.wait)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        address = re.match(r"(http://127\.0\.0\.1:\d+/) ", server.stdout.readline()).group(1)
        before = self.read(address + "version")
        self.assertEqual(self.read(address + "version"), before)
        facts = self.browse(address)
        self.assertEqual(facts["console"], [])
        self.assertEqual(facts["requests"], [])
        self.run_grid()
        self.assertNotEqual(self.read(address + "version"), before)
        self.assertIn(f'data-version="{self.read(address + "version")}"', self.read(address)[:200])
        versions = []
        for value in (1, 1, 2):  # measured again, with the same result and with another
            with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as database, database:
                database.execute("DELETE FROM measurement")
                database.execute("INSERT INTO measurement (study, kind, problem, model, estimator, outputs, components, samples, "
                                 "seed, at, value) VALUES ('small', 'bias', 'wave', 'gp', 'kl', 1, 5, 0, 0, 0.5, ?)", (value,))
            versions.append(self.read(address + "version"))
        self.assertEqual([version == versions[0] for version in versions], [True, True, False])
        for host in ("evil.example", "127.0.0.1:1"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.read(address, host)
            self.assertEqual(refused.exception.code, 403)
            refused.exception.close()
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(20), 0)

    def read(self, address, host=None):
        request = urllib.request.Request(address, headers={"Host": host} if host else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
            return reply.read().decode()


if __name__ == "__main__":
    main()
