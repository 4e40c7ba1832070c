"""What tests of pages in Chromium share: the program, a table with a hostile name, a browser that says what it sees.

Needs node, chromium and playwright-core, which the build fetches with the pages; where one is missing `main` says so
and exits with 77, which counts as skipped.
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


class PageTest(unittest.TestCase):
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
        """`page` is a file, or the address of a server."""
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
        if facts["charts"]:
            self.assertEqual(facts["svg"]["begin"], "<svg")
            self.assertGreater(facts["svg"]["marks"], 5)
            self.assertEqual(facts["svg"]["name"], facts["charts"][0]["id"] + ".svg")
        self.assertLessEqual(facts["phoneWidth"], 390)
        self.check_tables(facts["tables"], printed["tables"])

    def check_tables(self, shown, printed):
        self.assertEqual([table["id"] for table in shown], [table["id"] for table in printed])
        for one, other in zip(shown, printed):
            rows = [["–" if cell is None else cell for cell in row] for row in other["rows"]]
            self.assertEqual(one["rows"], rows, one["id"])


def main():
    why = missing()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main()
