"""`dissent report` of a study, from the table that `dissent study export` writes. What a browser makes of the page is
tested in tests/web."""

import csv
import io
import json
import sqlite3
import statistics

import numpy as np

from support import CliTest

HEADER = ("study,cell,state,problem,model,acquisition,seed,data_seed,worker,version,started,changed,round,labelled,rmse,"
          "rmse_paper,log_likelihood,chosen_epistemic,fit_seconds,score_seconds")
METHODS = {"random": 2.0, "mc:5000": 1.3, "kl": 1.2}
SEEDS, ROUNDS = 6, 10


class StudyReport(CliTest):
    def setUp(self):
        super().setUp()
        draw = np.random.default_rng(0)
        self.rmse = {(problem, method): level * np.linspace(2, 1, ROUNDS + 1) * (1 + 0.1 * draw.normal(size=(SEEDS, ROUNDS + 1)))
                     for problem in ("hetero", "hopper") for method, level in METHODS.items()}
        with open(self.path("rounds.csv"), "w") as file:
            print(HEADER, file=file)
            for (problem, method), values in self.rmse.items():
                for seed, curve in enumerate(values):
                    for after, value in enumerate(map(float, curve)):
                        print(f"made,problem={problem} acquisition={method} seed={seed},done,{problem},flow,{method},{seed},0,"
                              f"host:1,0.5.0,100,160,{after + 1},{100 + 10 * after},{value!r},{value!r},{-value!r},0.1,1,0.5",
                              file=file)

    def tables(self, *arguments):
        """{table: [row as a dictionary]} of --format csv."""
        found = {}
        for line in csv.DictReader(io.StringIO(self.run_ok("report", *arguments, "--format", "csv", "-o", "-"))):
            rows = found.setdefault(line["table"], {})
            rows.setdefault(int(line["row"]), {})[line["column"]] = line["value"]
        return {name: list(rows.values()) for name, rows in found.items()}

    def test_numbers_are_those_of_the_table(self):
        tables = self.tables("rounds.csv")
        for row in tables["main-rmse-1"]:
            ends = [float(curve[-1]) for curve in self.rmse[row["problem"], row["method"]]]
            self.assertAlmostEqual(float(row["mean"]), statistics.mean(ends), delta=1e-12)
            self.assertAlmostEqual(float(row["stddev"]), statistics.stdev(ends), delta=1e-12)
        for row in tables["curves"]:
            values = [float(curve[(int(row["labelled"]) - 100) // 10]) for curve in self.rmse[row["problem"], row["method"]]]
            self.assertAlmostEqual(float(row["rmse"]), statistics.median(values), delta=1e-12)
            self.assertAlmostEqual(float(row["rmse_low"]), np.quantile(values, 0.25), delta=1e-12)
        self.assertEqual(len(tables["campaigns"]), len(METHODS) * 2 * SEEDS)
        self.assertEqual({row["minutes"] for row in tables["campaigns"]}, {"1"})

    def test_the_papers_numbers_stand_beside(self):
        tables = self.tables("rounds.csv")
        shown = json.loads(self.run_ok("study", "show", "rounds.csv", "--metric", "rmse", "--format", "json"))
        paper = {(row["problem"], row["method"]): row["paper_mean"] for row in shown["studies"][0]["curves"] if row["after"] == 10}
        for row in tables["main-rmse-1"]:
            self.assertEqual(float(row["paper_mean"]), paper[row["problem"], row["method"]])
        sources = {row["source"] for row in tables["paper"]}
        self.assertEqual(sources, {"this study", "the paper"})

    def test_verdicts_are_those_of_show(self):
        shown = json.loads(self.run_ok("study", "show", "rounds.csv", "--format", "json"))
        tables = self.tables("rounds.csv")
        self.assertEqual([row["verdict"] for row in tables["verdicts"]], [row["verdict"] for row in shown["verdicts"]])
        self.assertEqual([row["note"] for row in tables["verdicts"]], [row["note"] for row in shown["verdicts"]])
        self.assertIn(" of 100 rounds", shown["verdicts"][0]["note"])

    def test_several_studies_are_one_page(self):
        with open(self.path("rounds.csv")) as file, open(self.path("pne.csv"), "w") as other:
            other.write(file.read().replace("made,problem", "more,problem").replace(",flow,", ",pne,"))
        tables = self.tables("rounds.csv", "pne.csv")
        self.assertEqual({row["model"] for row in tables["curves"]}, {"flow", "pne"})
        self.assertEqual({row["method"] for row in tables["curves"]}, set(METHODS))
        shown = json.loads(self.run_ok("study", "show", "rounds.csv", "pne.csv", "--format", "json"))
        self.assertEqual([row["verdict"] for row in tables["verdicts"]], [row["verdict"] for row in shown["verdicts"]])
        self.assertEqual(shown["verdicts"][0]["note"], "made: 10 of 100 rounds; more: 10 of 100 rounds")

    def test_formats(self):
        text = self.run_ok("report", "rounds.csv", "--format", "markdown", "-o", "-")
        self.assertEqual(text, self.run_ok("report", "rounds.csv", "--format", "md", "-o", "-"))
        self.assertIn("# Study made", text)
        self.assertIn("- Campaigns done: 36 (of 36)", text)
        latex = self.run_ok("report", "rounds.csv", "--format", "latex", "-o", "-")
        self.assertEqual(latex.count("\\begin{tabular}"), latex.count("\\end{tabular}"))
        self.assertIn("mc:5000", latex)
        self.assertGreater(latex.count("\\begin{tabular}"), 5)

    def test_what_is_refused(self):
        bad = lambda *arguments, says: self.run_bad(2, "report", *arguments, "--format", "md", "-o", "r.md", says=says)
        bad("rounds.csv", "--pool", "rounds.csv", says="is a study")
        bad("rounds.csv", "--study", "mad", says="did you mean 'made'?")
        bad("rounds.csv", "none.model", says="of models and campaigns give one")
        bad("none.csv", says="none.csv")
        bad("sqlite:none.db", says="none.db")
        with open(self.path("other.csv"), "w") as file:
            file.write("x,y\n1,2\n")
        bad("other.csv", says="other.csv")
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (x)").connection.close()
        bad("other.db", says="other.db")
