"""dissent report: what it writes and refuses. What a browser makes of a page is tested in tests/web."""

import csv
import html
import io
import json
import os
import re

import numpy as np

from support import CliTest, dissent


class ReportTest(CliTest):
    def table(self, name, rows, seed, columns=("x", "z", "y")):
        random = np.random.default_rng(seed)
        x, z = random.uniform(-2, 2, (2, rows))
        values = {"x": x, "z": z, "y": np.sin(x) + 0.1 * random.normal(size=rows)}
        np.savetxt(self.path(name), np.column_stack([values[c] for c in columns]), delimiter=",", comments="", header=",".join(columns))

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def fitted(self):
        self.table("data.csv", 40, 0)
        self.table("held.csv", 30, 1)
        self.run_ok("fit", "data.csv", "--targets", "y", "--model", "gp", "--output", "y.model", "--quiet")

    def has_pages(self):
        """Whether this build has them; if not, it says so before it reads anything."""
        result = dissent("report", "none.model", "-o", "none.html", cwd=self.dir)
        self.assertEqual(result.returncode, 2)
        return "built without pages" not in result.stderr

    def cells(self, *arguments):
        """{table: {(row, column): value}} of --format csv."""
        tables = {}
        for line in csv.DictReader(io.StringIO(self.run_ok("report", *arguments, "--format", "csv", "-o", "-"))):
            tables.setdefault(line["table"], {})[int(line["row"]), line["column"]] = line["value"]
        return tables


class ModelReport(ReportTest):
    def test_numbers_are_those_of_evaluate(self):
        self.fitted()
        tables = self.cells("y.model", "--table", "held.csv")
        measured = json.loads(self.run_ok("evaluate", "y.model", "held.csv", "--json"))
        metrics = {tables["metrics"][row, "metric"]: float(tables["metrics"][row, "value"]) for row in range(9)}
        for title, key in (("RMSE", "rmse"), ("MAE", "mae"), ("CRPS", "crps"), ("Log-likelihood", "log_likelihood"),
                           ("Coverage, 90%", "coverage_90"), ("Sharpness", "sharpness")):
            self.assertEqual(metrics[title], measured[key])
        for level in (50, 95):
            self.assertTrue(0 <= metrics[f"Coverage, {level}%"] <= 1)

    def test_charts_hold_the_predictions(self):
        self.fitted()
        parity = self.cells("y.model", "--table", "held.csv")["parity"]
        self.run_ok("predict", "y.model", "held.csv", "--quantiles", "0.05,0.95", "-o", "p.csv", "--quiet")
        predicted = self.read_csv("p.csv")
        actual = self.read_csv("held.csv")["y"]
        for row in range(30):
            np.testing.assert_allclose(float(parity[row, "predicted"]), predicted["y_mean"][row], rtol=1e-9)
            np.testing.assert_allclose(float(parity[row, "high"]), predicted["y_q095"][row], rtol=1e-9)
            self.assertEqual(float(parity[row, "actual"]), actual[row])

    def test_without_a_table_it_says_what_the_model_is(self):
        self.fitted()
        text = self.run_ok("report", "y.model", "--format", "md", "-o", "-")
        self.assertIn("| kind | gp", text)
        self.assertIn("| z |", text)
        self.assertNotIn("RMSE", text)

    def test_page(self):
        self.fitted()
        if not self.has_pages():
            self.run_bad(2, "report", "y.model", "-o", "r.html", says=["npm", "--format"])
            return
        printed = json.loads(self.run_ok("report", "y.model", "--table", "held.csv", "-o", "r.html", "--json"))
        with open(self.path("r.html"), encoding="utf-8") as file:
            page = file.read()
        for holder in ("University of Washington Interactive Data Lab", "Mike Bostock", "Joachim Wester"):
            self.assertIn(holder, page)  # the licences of the scripts go with them
        self.assertEqual([chart["id"] for chart in printed["charts"]], ["parity", "calibration", "residuals", "uncertainty"])
        values = [float(value) for value in re.findall(r'<data value="([^"]+)">', page)]
        for table in printed["tables"]:
            for cell in (cell for row in table["rows"] for cell in row):
                self.assertTrue(cell in values if isinstance(cell, (int, float)) else html.escape(cell, quote=True).replace("&#x27;", "&#39;") in page)
        self.assertEqual(self.run_ok("report", "y.model", "-o", "r.html"), "r.html: 0 charts, 2 tables\n")
        self.assertEqual(self.run_ok("report", "y.model", "-o", "r.html", "--quiet"), "")

    def test_the_same_bytes_on_any_number_of_threads(self):
        self.fitted()
        one, four = (self.run_ok("report", "y.model", "--table", "held.csv", "--format", "csv", "-o", "-", "--threads", n)
                     for n in (1, 4))
        self.assertEqual(one, four)


class CampaignReport(ReportTest):
    def begin(self, command, directory, *more):
        for name, rows, seed in (("L.csv", 20, 0), ("P.csv", 60, 1), ("T.csv", 20, 2)):
            self.table(name, rows, seed)
        self.run_ok(command, directory, "--labelled", "L.csv", "--pool", "P.csv", "--targets", "y", "--model", "gp",
                    "--batch", "4", "--quiet", *more)

    def test_learn(self):
        self.begin("learn", "out", "--test", "T.csv", "--rounds", "2")
        before = sorted(os.listdir(self.path("out")))
        tables = self.cells("out", "--pool", "P.csv")
        self.assertEqual(sorted(os.listdir(self.path("out"))), before)
        rounds = self.read_csv("out/rounds.csv")
        for k, rmse in enumerate(rounds["rmse"]):
            self.assertEqual(float(tables["rounds"][k, "rmse"]), rmse)
            self.assertEqual(float(tables["learning"][k, "rmse"]), rmse)
        chosen = self.read_csv("out/chosen.csv")
        self.assertEqual([float(tables["chosen"][k, "score"]) for k in range(8)], list(chosen["score"]))
        states = [value for (_, column), value in tables["map"].items() if column == "state"]
        self.assertEqual((states.count("in the pool"), states.count("chosen and labelled")), (52, 8))
        self.assertNotIn("metrics", tables)
        self.assertIn("metrics", self.cells("out", "--table", "T.csv"))

    def test_ask(self):
        self.begin("ask", "lab", "--test", "T.csv", "-o", "todo.csv")
        tables = self.cells("lab")
        with open(self.path("todo.csv")) as file:
            todo = list(csv.DictReader(file))
        waiting = tables["waiting"]
        self.assertEqual([waiting[k, "row"] for k in range(4)], [row["row"] for row in todo])
        self.assertEqual([waiting[k, "why"] for k in range(4)], [row["why"] for row in todo])
        self.assertEqual([float(waiting[k, "x"]) for k in range(4)], [float(row["x"]) for row in todo])
        self.assertIn("metrics", tables)  # on its own test rows

    def key_numbers(self, directory):
        """{label: (number, note)} as a page has them."""
        text = self.run_ok("report", directory, "--format", "md", "-o", "-")
        return {label: (value, note) for label, value, note in re.findall(r"^- (.+?): (\S+) ?(.*)$", text, re.M)}

    def test_counts_are_those_of_status(self):
        self.begin("ask", "lab", "-o", "todo.csv")
        with open(self.path("todo.csv")) as file:
            rows = [row["row"] for row in csv.DictReader(file)]
        self.write("told.csv", f"row,y\n{rows[0]},0.5\n{rows[1]},0.25\n")
        self.run_ok("tell", "lab", "told.csv", "--drop", rows[2], "--quiet")
        self.write("more.csv", "x,z,y\n9.5,9.25,1\n9.75,9.5,2\n")
        self.run_ok("tell", "lab", "more.csv", "--extra", "--quiet")
        status = json.loads(self.run_ok("status", "lab", "--json"))
        self.assertEqual((status["labelled"], status["told"], status["extra"]), (24, 4, 2))
        numbers = self.key_numbers("lab")
        self.assertEqual(numbers["Labelled rows"][0], "24")
        self.assertIn("4 since the start, 2 of them not of the pool", numbers["Labelled rows"][1])
        self.assertEqual((numbers["Waiting"][0], numbers["Dropped"][0]), ("1", "1"))
        self.assertEqual(numbers["Left in the pool"][0], str(status["pool_left"]))
        tables = self.cells("lab")
        drawn = [value for (_, column), value in tables["map"].items() if column == "state"]
        self.assertEqual([drawn.count(state) for state in (
            "labelled at the start", "chosen and labelled", "labelled, not of the pool", "dropped",
            "waiting for its label", "in the pool")], [20, 2, 2, 1, 1, 56])
        states = {tables["chosen"][k, "row"]: tables["chosen"][k, "state"] for k in range(4)}
        self.assertEqual(states[rows[2]], "dropped")
        self.assertEqual([tables["waiting"][0, "row"]], rows[3:])

    def test_rows_without_targets_are_not_labelled(self):
        self.table("P.csv", 40, 1)
        self.table("L.csv", 20, 0)
        with open(self.path("L.csv"), "a") as file:
            file.write("0.5,0.5,\n0.25,0.5,\n")
        self.run_ok("ask", "lab", "--labelled", "L.csv", "--pool", "P.csv", "--targets", "y", "--model", "gp",
                    "--batch", "2", "--quiet", "-o", "todo.csv")
        self.assertEqual(self.key_numbers("lab")["Labelled rows"][0], "20")
        states = [value for (_, column), value in self.cells("lab")["map"].items() if column == "state"]
        self.assertEqual(states.count("labelled at the start"), 20)

    def test_waiting_rows_have_the_columns_of_the_pool(self):
        self.write("L.csv", "name,cut,row,y\n" + "".join(f"a{k},{'fair ideal good'.split()[k % 3]},{k / 7},{k % 3 + k / 9}\n" for k in range(20)))
        self.write("P.csv", "name,cut,row\n" + "".join(f"p{k},{'fair ideal good'.split()[k % 3]},{k / 5}\n" for k in range(30)))
        self.run_ok("ask", "lab", "--labelled", "L.csv", "--pool", "P.csv", "--targets", "y", "--inputs", "cut,row",
                    "--model", "gp", "--batch", "3", "--quiet", "-o", "todo.csv")
        waiting = self.cells("lab")["waiting"]
        with open(self.path("todo.csv")) as file:
            for k, asked in enumerate(csv.DictReader(file)):
                for column in ("row_", "name", "cut", "why"):
                    self.assertEqual(waiting[k, column], asked[column])
                self.assertEqual(float(waiting[k, "row"]), float(asked["row"]))
        self.assertNotIn("cut=ideal", {column for _, column in waiting})

    def test_learn_does_not_own_a_pool_beside_it(self):
        self.begin("learn", "out", "--rounds", "1")
        self.write("out/pool.csv", "a,b\n1,2\n")
        states = [value for (_, column), value in self.cells("out", "--pool", "P.csv")["map"].items() if column == "state"]
        self.assertEqual((states.count("in the pool"), states.count("chosen and labelled")), (56, 4))
        self.begin("ask", "lab", "-o", "todo.csv")
        self.run_bad(2, "report", "lab", "--pool", "P.csv", "--format", "md", "-o", "r.md", says="keeps a copy")

    def test_without_test_rows(self):
        self.begin("ask", "lab", "-o", "todo.csv")
        text = self.run_ok("report", "lab", "--format", "md", "-o", "-")
        self.assertIn("There are no test rows", text)
        self.assertNotIn("RMSE", text)


class ReportRefuses(ReportTest):
    def test_outputs_that_are_inputs(self):
        self.fitted()
        for output in ("y.model", "held.csv", "./held.csv"):
            self.run_bad(2, "report", "y.model", "--table", "held.csv", "--format", "md", "-o", output, says="overwritten")
        self.table("L.csv", 20, 0)
        self.table("P.csv", 40, 1)
        self.run_ok("learn", "out", "--labelled", "L.csv", "--pool", "P.csv", "--targets", "y", "--model", "gp",
                    "--rounds", "1", "--quiet")
        self.run_bad(2, "report", "out", "--format", "md", "-o", "out/state.safetensors", says="overwritten")
        self.run_bad(2, "report", "out", "--format", "md", "--pool", "P.csv", "-o", "P.csv", says="overwritten")
        with open(self.path("P.csv")) as file, open(self.path("wrong.csv"), "w") as wrong:
            head, *lines = file.readlines()
            wrong.writelines([head, *reversed(lines)])
        self.run_bad(2, "report", "out", "--format", "md", "--pool", "wrong.csv", "-o", "r.md",
                     says="wrong.csv: is not the pool of the campaign: in row")

    def test_bad_use(self):
        self.fitted()
        bad = lambda *arguments, says: self.run_bad(2, "report", *arguments, "--format", "md", says=says)
        bad("none.model", "-o", "r.md", says="none.model")
        bad(".", "-o", "r.md", says="no campaign")
        bad("y.model", "--pool", "held.csv", "-o", "r.md", says="--pool")
        bad("y.model", says="--output")
        bad("y.model", "-o", "-", "--json", says="--json")
        bad("y.model", "-o", ".", says="directory")
        bad("y.model", "-o", "r.html", says="--output: 'r.html' must end in .md, since --format is md")
        self.table("no_target.csv", 5, 0, ("x", "z"))
        bad("y.model", "--table", "no_target.csv", "-o", "r.md", says="'y'")
        self.run_bad(2, "report", "y.model", "-o", "r.md", "--format", "pdf", says="html")
        if self.has_pages():
            self.run_bad(2, "report", "y.model", "-o", "r.pdf", says="'r.pdf' must end in .html, .md, .tex or .csv")
        with open(self.path("picture.model"), "wb") as file:
            file.write(b"\x89PNG\r\n")
        bad("picture.model", "-o", "r.md", says="picture.model: it looks like a PNG picture; give a model of 'dissent fit'")

    def test_the_ending_says_the_format(self):
        self.fitted()
        for name, begins in (("r.md", "# "), ("r.tex", "\\begin{"), ("r.csv", "table,row,column,value")):
            self.run_ok("report", "y.model", "-o", name, "--quiet")
            with open(self.path(name)) as file:
                self.assertTrue(file.read().startswith(begins), name)
