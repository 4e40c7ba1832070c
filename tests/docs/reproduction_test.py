"""docs/reproduction.md says what the results say, and no more."""

import os
import re
import sys
import unittest

from support import PROGRAM, ROOT, DocsTest, read

sys.path.insert(0, os.path.join(ROOT, "docs"))
import make_figures as figures  # noqa: E402
import make_reproduction as maker  # noqa: E402

LEAST_SEEDS = 5
TEXT = read(maker.DOCUMENT)


def tables(name):
    """The rows of all tables of a block, as dictionaries."""
    rows = []
    for _, block, _, text, _ in maker.BLOCK.findall(TEXT):
        for table in re.findall(r"(?:^\|.*\n)+", text + "\n", re.M) if block == name else []:
            cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
            rows += [dict(zip(cells[0], row)) for row in cells[2:]]
    return rows


class Reproduction(DocsTest):
    def test_tables_are_those_of_the_results(self):
        made = maker.made_text(TEXT, maker.Results(os.path.abspath(PROGRAM)))
        self.assertEqual(made.splitlines(), TEXT.splitlines(), "python3 docs/make_reproduction.py makes them anew")

    def test_figures_are_those_of_the_results(self):
        drawn = {name: figures.made(name) for name in figures.FIGURES}
        for name, text in drawn.items():
            path = os.path.join(figures.IMAGES, name + ".svg")
            self.assertEqual(os.path.exists(path), text is not None, f"{name}: python3 docs/make_figures.py draws it")
            if text is not None:
                self.assertEqual(read(path), text, f"{name}: python3 docs/make_figures.py draws it anew")
                self.assertLess(len(text), 60_000)

    def test_a_race_needs_its_seeds(self):
        grids, figures.GRIDS = figures.GRIDS, {"flow": "quick"}
        try:
            self.assertIn("Monte Carlo", figures.race("hopper", "flow"))  # five seeds
            self.assertIsNone(figures.race("humanoid", "flow"))  # two
        finally:
            figures.GRIDS = grids

    def test_no_verdict_rests_on_few_seeds(self):
        for name in ("verdicts", "findings"):
            rows = tables(name)
            self.assertGreater(len(rows), 0)
            for row in rows:
                verdict = row["verdict"].strip("*")
                self.assertIn(verdict, ("holds", "does not hold", maker.OPEN))
                if verdict != maker.OPEN:
                    self.assertGreaterEqual(int(row["seeds"]), LEAST_SEEDS, row)

    def test_seeds_of_an_open_claim_are_those_of_its_findings(self):
        parts = re.split(r"^### (.*)$", next(found[3] for found in maker.BLOCK.findall(TEXT) if found[1] == "findings"),
                         flags=re.M)
        found = {name: [int(seeds) for seeds in re.findall(r"\| (\d+) \|$", text, re.M)]
                 for name, text in zip(parts[1::2], parts[2::2])}
        rows = [row for row in tables("verdicts") if row["verdict"].strip("*") == maker.OPEN]
        self.assertGreater(len(rows), 0)
        for row in rows:
            seeds = found[re.match(r"`([a-z-]+)`", row["claim"])[1]] or [0]
            self.assertEqual(row["seeds"], maker.span(min(seeds), max(seeds)), row)

    def test_every_claim_has_a_verdict(self):
        names = [re.match(r"`([a-z-]+)`", row["claim"])[1] for row in tables("verdicts")]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sorted(names), sorted(re.findall(r"^### (.*)$", TEXT, re.M)))
        inline = {found[2].strip() for found in maker.BLOCK.findall(TEXT) if found[1] == "verdict"}
        self.assertLessEqual(inline, set(names))

    def test_prose_has_no_results_of_its_own(self):
        prose = re.sub(r"`[^`]*`", "", maker.BLOCK.sub("", TEXT))
        self.assertEqual(re.findall(r"\d+\.\d+", prose), [])

    def test_the_manifest_lists_every_file(self):
        parts = maker.read_manifest()
        files = {name for name in os.listdir(maker.RESULTS) if name.endswith((".csv", ".csv.gz"))}
        self.assertEqual({part["file"] for part in parts}, files)
        for name in files:
            rows = maker.read_csv(os.path.join(maker.RESULTS, name))
            own = [part for part in parts if part["file"] == name]
            self.assertEqual({row["study"] for row in rows}, {part["study"] for part in own})
            run = [row for row in rows if row.get("round")]
            self.assertLessEqual({row["problem"] for row in run}, {problem for part in own for problem in part["problems"]})
            self.assertLessEqual({row["version"] for row in run}, {part["version"] for part in own})


if __name__ == "__main__":
    unittest.main()
