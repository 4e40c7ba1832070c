"""Pages of models and campaigns in Chromium: drawn without an error, complete, and usable by the keyboard."""

import csv
import json

from support import PageTest, main


class Pages(PageTest):
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
    main()
