"""Tables as they come out of R's write.csv, index column and all: fitted, predicted, suggested from, and learned."""

import csv
import gzip
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

from support import CliTest, SANITIZED, dissent

EXPORT = """
folder <- commandArgs(TRUE)[1]
save <- function(table, name) write.csv(as.data.frame(table), file.path(folder, paste0(name, ".csv")))
save(ggplot2::diamonds, "diamonds"); save(ggplot2::mpg, "mpg"); save(airquality, "airquality")
data(ames, package = "modeldata"); save(ames, "ames")
data(penguins, package = "modeldata"); save(penguins, "penguins")
"""
LABELLED, POOL = 150, 400
QUICK = ["--model", "gp", "--threads", "1", "--quiet"]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def rmse(predicted, rows, target):
    pairs = [(float(p[target + "_mean"]), float(r[target])) for p, r in zip(predicted, rows)]
    return float(np.sqrt(np.mean([(a - b) ** 2 for a, b in pairs])))


class TableTest(CliTest):
    def write(self, name, header, rows):
        with open(self.path(name), "w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        return name

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def run_any(self, *arguments, **options):
        """Done, whatever is said on standard error."""
        result = dissent(*arguments, cwd=self.dir, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


@unittest.skipIf(SANITIZED, "the same rows as elsewhere, and slow")
class RTablesTest(TableTest):
    TARGETS = {"diamonds": "price", "ames": "Sale_Price", "penguins": "body_mass_g", "airquality": "Ozone", "mpg": "hwy"}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        if shutil.which("Rscript") is None:
            raise unittest.SkipTest("there is no R")
        result = subprocess.run(["Rscript", "-e", EXPORT, cls.folder.name], capture_output=True, text=True)
        if not os.path.exists(os.path.join(cls.folder.name, "penguins.csv")):
            raise unittest.SkipTest("R has not all of the tables: " + result.stderr)

    def parts(self, name):
        """labelled.csv and pool.csv out of a table's rows, line by line as R wrote them."""
        with open(os.path.join(self.folder.name, name + ".csv"), newline="") as file:
            header, *lines = file.readlines()
        random.Random(7).shuffle(lines)
        count = min(LABELLED, len(lines) // 2)
        for part, rows in (("labelled.csv", lines[:count]), ("pool.csv", lines[count:count + POOL])):
            with open(self.path(part), "w", newline="") as file:
                file.writelines([header, *rows])
        return self.TARGETS[name]

    def check(self, name):
        target = self.parts(name)
        self.run_any("fit", "labelled.csv", "--targets", target, "-o", "m.model", *QUICK)
        self.run_any("predict", "m.model", "pool.csv", "-o", "p.csv", "--threads", 1)
        known = [k for k, row in enumerate(read(self.path("pool.csv"))) if row[target] != "NA"]
        pool, predicted = read(self.path("pool.csv")), read(self.path("p.csv"))
        values = [float(pool[k][target]) for k in known]
        error = rmse([predicted[k] for k in known], [pool[k] for k in known], target)
        self.assertLess(error, 0.9 * np.std(values), name)
        self.run_any("evaluate", "m.model", "pool.csv", "--threads", 1)
        tables = ["--labelled", "labelled.csv", "--pool", "pool.csv", "--targets", target, "--batch", 3]
        self.run_any("suggest", *tables, "-o", "next.csv", "--once", *QUICK)
        suggested = read(self.path("next.csv"))
        self.assertEqual(len(suggested), 3)
        for row in suggested:
            for column, value in pool[int(row["row"])].items():
                self.assertEqual(row[column or "column 1"], value if value != "NA" else row[column or "column 1"])
        self.run_any("learn", "out", *tables, "--test", "pool.csv", "--rounds", 2, *QUICK)
        self.assertEqual(len(read(self.path("out/chosen.csv"))), 6)
        self.run_any("ask", "lab", *tables, "-o", "todo.csv", *QUICK)
        asked = read(self.path("todo.csv"))
        for row in asked:
            row[target] = values[0]
        self.write("done.csv", asked[0].keys(), [row.values() for row in asked])
        self.run_any("tell", "lab", "done.csv", "--threads", 1)
        self.run_any("ask", "lab", "--batch", 2, "-o", "more.csv", "--threads", 1)
        self.assertEqual(len(read(self.path("more.csv"))), 2)

    def test_diamonds(self):
        self.check("diamonds")

    def test_ames(self):
        self.check("ames")

    def test_penguins(self):
        self.check("penguins")

    def test_airquality(self):
        self.check("airquality")

    def test_mpg(self):
        self.check("mpg")

    def test_as_good_as_one_hot_by_hand(self):
        """The same numbers as a table that somebody encoded, so the same error."""
        for name, categories in (("diamonds", ["cut", "color", "clarity"]), ("mpg", ["trans", "drv", "fl", "class"])):
            target = self.parts(name)
            numbers = {"diamonds": ["carat", "depth", "table", "x", "y", "z"], "mpg": ["displ", "year", "cyl", "cty"]}
            labelled, pool = read(self.path("labelled.csv")), read(self.path("pool.csv"))
            levels = [(c, value) for c in categories for value in sorted({row[c] for row in labelled})]
            header = [*numbers[name], *(f"{c}_{value}" for c, value in levels), target]
            for part, rows in (("hand_labelled.csv", labelled), ("hand_pool.csv", pool)):
                self.write(part, header, [[*(row[c] for c in numbers[name]), *(int(row[c] == v) for c, v in levels),
                                           row[target]] for row in rows])
            inputs = ",".join([*numbers[name], *categories])
            self.run_any("fit", "labelled.csv", "--targets", target, "--inputs", inputs, "-o", "own.model", *QUICK)
            self.run_any("fit", "hand_labelled.csv", "--targets", target, "-o", "hand.model", *QUICK)
            self.run_any("predict", "own.model", "pool.csv", "-o", "own.csv", "--threads", 1)
            self.run_any("predict", "hand.model", "hand_pool.csv", "-o", "hand.csv", "--threads", 1)
            own, hand = (rmse(read(self.path(f)), pool, target) for f in ("own.csv", "hand.csv"))
            self.assertLessEqual(own, 1.0001 * hand, name)


class ColumnsTest(TableTest):
    """Every kind of column, and names that are ours."""

    def rows(self, count=40, seed=1):
        draw = random.Random(seed)
        rows = []
        for k in range(count):
            kind, x = draw.choice("abc"), draw.uniform(0, 1)
            rows.append([f"id{k}", kind, draw.choice(["yes", "no"]), f"2020-01-{k % 28 + 1:02}",
                         "NA" if k % 9 == 4 else x, x + "abc".index(kind)])
        return rows

    HEADER = ["name", "kind", "dry", "day", "x", "y"]

    def test_what_was_done_is_told_stored_and_applied(self):
        self.write("t.csv", self.HEADER, self.rows())
        said = self.run_ok("fit", "t.csv", "-t", "y", "--id", "name", "--order", "kind=a,b,c", "-o", "m.model", "--model",
                           "gp", "--threads", 1)
        self.assertIn("kind: a < b < c as 0 to 2\ndry: true or false, as 1 or 0\nday: days since 2020-01-01\n", said)
        self.assertIn("x: 4 missing, filled with the median", said)
        self.run_ok("predict", "m.model", "t.csv", "-o", "p.csv", "--threads", 1)
        predicted = read(self.path("p.csv"))
        self.assertEqual([row["name"] for row in predicted], [f"id{k}" for k in range(40)])
        self.assertLess(rmse(predicted, read(self.path("t.csv")), "y"), 0.5)
        self.write("new.csv", self.HEADER[1:5], [["d", "no", "2020-01-05", "0.5"]])
        result = self.run_any("predict", "m.model", "new.csv", "-o", "p.csv", "--threads", 1)
        self.assertEqual(result.stderr, "kind: 'd' not seen in the fit (1 row), taken for missing\n")

    def test_each_order_is_read_by_itself(self):
        self.write("t.csv", self.HEADER, self.rows())
        fit = ["fit", "t.csv", "-t", "y", "--id", "name", "-o", "m.model", "--model", "gp", "--threads", 1]
        said = self.run_ok(*fit, "--order", "kind=a,b,c", "--order", "dry=yes,no")
        self.assertIn("kind: a < b < c as 0 to 2\ndry: yes < no as 0 to 1\n", said)
        self.run_bad(2, *fit, "--order", "kind=a,b,c", "--order", "Dry=yes,no",
                     says="has no column 'Dry'; did you mean 'dry'?")

    def test_names_with_commas(self):
        self.write("t.csv", ["Druck, bar", "x", "y"], [[k % 7, k % 5, k] for k in range(20)])
        fit = ["fit", "t.csv", "-t", "y", "-o", "m.model", "--model", "gp", "--threads", 1, "-q"]
        self.run_bad(2, *fit, "--ignore", "Druck, bar",
                     says="a name with a comma stands in double quotes: '\"Druck, bar\"'")
        self.run_bad(2, *fit, "--ignore", "pressure", says="it has: \"Druck, bar\", x, y")
        self.run_ok(*fit, "--ignore", '"Druck, bar"')

    def test_rows_without_a_target_are_left_out(self):
        rows = self.rows()
        for k in (3, 8):
            rows[k][5] = "NA"
        self.write("t.csv", self.HEADER, rows)
        said = self.run_ok("fit", "t.csv", "-t", "y", "-o", "m.model", "--model", "gp", "--threads", 1)
        self.assertIn("t.csv: 2 rows without y, left out\n", said)
        self.assertIn("38 rows", said)

    def test_codes_and_identifiers_keep_their_spelling(self):
        codes = ["01", "02", "A1"]
        rows = [[f"{k:04}", codes[k % 3], k / 30, k % 3 + k / 30] for k in range(30)]
        self.write("train.csv", ["id", "g", "x", "y"], rows)
        names = ["0031", "9007199254740993", "100000", "7"]
        self.write("new.csv", ["id", "g", "x"], [[name, codes[k % 2], k / 4] for k, name in enumerate(names)])
        self.run_any("fit", "train.csv", "--targets", "y", "--id", "id", "--output", "m.model", *QUICK)
        result = self.run_any("predict", "m.model", "new.csv", "--output", "out.csv")
        self.assertNotIn("not seen in the fit", result.stderr)
        self.assertEqual([row["id"] for row in read(self.path("out.csv"))], names)
        campaign = ["--labelled", "train.csv", "--pool", "new.csv", "--targets", "y", "--id", "id"]
        asked = self.run_any("ask", "lab", *campaign, "--batch", "4", "--output", "todo.csv", *QUICK)
        self.assertNotIn("5 categories", asked.stdout + asked.stderr)
        self.assertEqual(sorted(row["id"] for row in read(self.path("todo.csv"))), sorted(names))
        self.assertEqual([row["id"] for row in read(self.path("lab/pool.csv"))], names)
        self.assertEqual([row["g"] for row in read(self.path("todo.csv"))].count("01"), 2)

    def test_refused_columns_are_named_with_the_remedy(self):
        rows = [[k if k != 5 else "five", f"{k % 12 + 1}/{k % 11 + 1}/2020", k] for k in range(40)]
        self.write("t.csv", ["a", "b", "y"], rows)
        self.run_bad(2, "fit", "t.csv", "-t", "y", "-o", "m.model",
                     says=["'a' is numbers but for text ('five' in row 6)", "'b' has dates like", "--ignore"])
        self.run_bad(2, "fit", "t.csv", "-t", "z", "-o", "m.model", says="has no column 'z'")
        self.write("u.csv", ["price", "weight"], [[1, 2], [3, 4]])
        self.run_bad(2, "fit", "u.csv", "-t", "prise", "-o", "m.model", says="did you mean 'price'?")
        self.run_bad(2, "fit", "u.csv", "-t", "WEIGHT", "-o", "m.model", says="did you mean 'weight'?")
        self.run_bad(2, "fit", "t.csv", "-t", "Y", "-o", "m.model", says="has no column 'Y'; did you mean 'y'?")

    def test_a_fit_names_rows_of_the_file(self):
        rows = [[k % 17, (k % 17) ** 2 if k % 4 else "NA"] for k in range(80)]
        rows[50][0] = 1e9
        self.write("t.csv", ["x", "y"], rows)
        told = self.run_any("fit", "t.csv", "-t", "y", "-o", "m.model", "--model", "gp", "--threads", "1").stderr
        self.assertIn("'x' is 1e+09 in row 51, ", told)
        self.run_bad(2, "fit", "t.csv", "-t", "y", "-o", "m.model", "--log-targets", "all",
                     says="column 'y' row 18: '0' has no logarithm")

    def test_a_table_as_a_german_excel_saves_it(self):
        rows = self.rows()
        for name, lines in (("l.csv", [self.HEADER, *rows[:20]]), ("p.csv", [self.HEADER[:5], *(r[:5] for r in rows[20:])])):
            text = "\r\n".join(";".join(str(cell).replace(".", ",") for cell in line) for line in lines)
            with open(self.path(name), "wb") as file:
                file.write(("sep=;\r\n" + text.replace("kind", "Größe") + "\r\n").encode("cp1252"))
        begin = ["--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", "--id", "name", "--batch", "3"]
        said = self.run_any("ask", "lab", *begin, "-o", "todo.csv", "--model", "gp", "--threads", "1")
        self.assertIn("text that is not UTF-8 is read as Windows-1252 (Latin-1): 'Größe'", said.stdout + said.stderr)
        text = self.text("todo.csv")
        self.assertTrue(text.startswith("row;name;Größe;"), text)
        with open(self.path("todo.csv"), "w") as file:
            header, *lines = text.splitlines()
            file.write("\n".join([header, *(line + "1,25" for line in lines)]) + "\n")
        self.run_bad(2, "ask", "lab", "--batch", "6", "-o", "todo.csv", says="would be lost")
        self.run_ok("tell", "lab", "todo.csv", "-q", "--no-refit")
        self.run_ok("ask", "lab", "--batch", "3", "-o", "todo.csv", "-q")  # told, and replaced in the same style
        self.assertEqual(self.text("todo.csv").splitlines()[0], header)
        self.assertEqual({row["y"] for row in list(csv.DictReader(self.run_ok("export", "lab").splitlines()))[20:]}, {"1.25"})

    def test_streams_and_packed_tables(self):
        self.write("t.csv", self.HEADER, self.rows())
        with open(self.path("t.csv"), "rb") as file, gzip.open(self.path("t.csv.gz"), "wb") as packed:
            text = file.read()
            packed.write(text)
        with open(self.path("t.tsv"), "wb") as file:
            file.write(text.replace(b",", b"\t"))
        with open(self.path("c.csv"), "wb") as file:
            file.write(text.replace(b",", b";").replace(b".", b","))
        fit = ["-t", "y", "-o", "m.model", "--model", "gp", "--threads", 1, "-q"]
        answers = set()
        for name in ("t.csv", "t.csv.gz", "t.tsv", "c.csv"):
            self.run_ok("fit", name, *fit)
            answers.add(self.run_ok("predict", "m.model", name, "-o", "-", "--threads", 1, "-q"))
        self.run_ok("fit", "-", *fit, input=text.decode())
        answers.add(self.run_ok("predict", "m.model", "-", "-o", "-", "--threads", 1, input=text.decode()))
        self.assertEqual(len(answers), 1)
        self.run_bad(2, "fit", "-", *fit, input="", says="standard input: is empty")

    def test_columns_called_as_ours_go_through_a_campaign(self):
        names = ["row", "round", "score", "epistemic", "aleatoric", "why", "index", 'a;b', "c\td", 'e"f', "400"]
        draw = random.Random(3)
        rows = [[draw.uniform(0, 1) for _ in names] for _ in range(60)]
        self.write("l.csv", [*names, "y"], [[*row, sum(row)] for row in rows[:20]])
        self.write("p.csv", names, rows[20:])
        self.write("full.csv", [*names, "y"], [[*row, sum(row)] for row in rows[20:]])
        tables = ["--labelled", "l.csv", "--targets", "y", "--batch", 3]
        quick = ["--model", "gp", "--threads", 1, "-q"]
        self.run_ok("suggest", *tables, "--pool", "p.csv", "-o", "s.csv", "--once", *quick)
        suggested = read(self.path("s.csv"))
        self.assertEqual(list(suggested[0]), ["row_", *names, "score_", "epistemic_", "aleatoric_", "why_"])
        self.run_ok("learn", "out", *tables, "--pool", "full.csv", "--rounds", 2, *quick)
        chosen = read(self.path("out/chosen.csv"))
        self.assertEqual([float(row["a;b"]) for row in chosen],
                         [rows[20 + int(row["row_"])][names.index("a;b")] for row in chosen])
        self.run_ok("ask", "lab", *tables, "--pool", "p.csv", "-o", "todo.csv", *quick)
        asked = read(self.path("todo.csv"))
        self.assertEqual([row["row_"] for row in asked], [row["row_"] for row in suggested])
        for row in asked:
            row["y"] = sum(rows[20 + int(row["row_"])])
        self.write("done.csv", asked[0].keys(), [row.values() for row in asked])
        self.run_ok("tell", "lab", "done.csv", "--threads", 1, "-q")
        self.run_ok("ask", "lab", "--batch", 2, "-o", "more.csv", "--threads", 1, "-q")
        self.assertFalse({row["row_"] for row in read(self.path("more.csv"))} & {row["row_"] for row in asked})

    def exported_dates(self, labelled, pool, row):
        """Those of the given rows and of one of the pool that was asked for and told."""
        self.write("l.csv", ["when", "y"], [[text, k] for k, text in enumerate(labelled)])
        self.write("p.csv", ["when"], [[text] for text in pool])
        quick = ["--model", "gp", "--threads", 1, "-q"]
        shutil.rmtree(self.path("lab"), ignore_errors=True)
        self.run_ok("ask", "lab", "--labelled", "l.csv", "--pool", "p.csv", "-t", "y", "--batch", 1, "-o", "-", *quick)
        self.write("done.csv", ["row", "y"], [[row, 5]])
        self.run_ok("tell", "lab", "done.csv", "--extra", "--threads", 1, "-q")
        text = self.run_ok("export", "lab", "-q")
        self.write("all.csv", *[(rows[0], rows[1:]) for rows in [list(csv.reader(text.splitlines()))]][0])
        self.run_ok("fit", "all.csv", "-t", "y", "-i", "when", "-o", "m.model", *quick)
        return [line["when"] for line in read(self.path("all.csv"))]

    def test_dates_of_two_styles_are_exported_in_one(self):
        days = [f"2024-01-{day:02}" for day in range(1, 21)]
        pool = [f"{day}.2.2024" for day in range(1, 29)]
        self.assertEqual(self.exported_dates(days, pool, 4), [*days, "2024-02-05"])
        self.assertEqual(self.exported_dates([f"{day}.1.2024" for day in range(1, 21)], pool, 4),
                         [*(f"{day}.1.2024" for day in range(1, 21)), "5.2.2024"])

    def test_days_and_months_are_not_swapped(self):
        us = [f"1/{day}/2024" for day in range(1, 21)]
        german = ["1/12/2025", "2/12/2025", "31/12/2025"]
        self.assertEqual(self.exported_dates(us, german, 0), [*(f"2024-01-{day:02}" for day in range(1, 21)), "2025-12-01"])

    def test_seconds_are_kept(self):
        given = [f"2024-01-{day:02} 10:00:31" for day in range(1, 21)]
        self.assertEqual(self.exported_dates(given, ["13.2.2024 10:00:22", "14.2.2024 10:00:22"], 0), [*given, "2024-02-13 10:00:22"])

    def test_a_byte_order_mark_is_kept_for_the_spreadsheet(self):
        rows = self.rows()
        self.write("l.csv", self.HEADER, rows[:15])
        self.write("plain.csv", self.HEADER[:5], [row[:5] for row in rows[15:]])
        with open(self.path("p.csv"), "w", encoding="utf-8-sig") as file:
            file.write(self.text("plain.csv"))
        quick = ["--model", "gp", "--threads", 1, "-q"]
        begin = ["--labelled", "l.csv", "-t", "y", "--id", "name", "--batch", 2, *quick]
        for pool, mark in (("p.csv", True), ("plain.csv", False)):
            self.run_ok("ask", "lab-" + pool, *begin, "--pool", pool, "-o", "todo.csv")
            for name in ("todo.csv", "again.csv"):  # the second from the campaign's own copy
                with open(self.path(name), "rb") as file:
                    self.assertEqual(file.read(3) == b"\xef\xbb\xbf", mark)
                self.run_ok("ask", "lab-" + pool, "--batch", 3, "-o", "again.csv", *quick[2:])
            os.remove(self.path("todo.csv"))
            os.remove(self.path("again.csv"))

    def test_columns_named_by_numbers(self):
        draw = random.Random(5)
        spectra = [[draw.uniform(0, 1) for _ in range(3)] for _ in range(30)]
        self.write("t.csv", ["400", "410", "420", "y"], [[*s, sum(s)] for s in spectra])
        self.write("new.csv", ["400", "410", "420"], spectra)
        self.run_ok("fit", "t.csv", "-t", "y", "-o", "m.model", "--model", "gp", "--threads", 1)
        self.run_ok("predict", "m.model", "new.csv", "-o", "p.csv", "--threads", 1)
        self.assertLess(rmse(read(self.path("p.csv")), read(self.path("t.csv")), "y"), 0.1)

    def test_an_oracle_is_asked_by_the_columns_of_the_table(self):
        rows = self.rows()
        self.write("l.csv", self.HEADER, rows[:15])
        self.write("p.csv", self.HEADER[:5], [row[:5] for row in rows[15:]])
        oracle = ("python3 -c \"import csv, sys; rows = list(csv.DictReader(sys.stdin)); print('y'); "
                  "[print('abc'.index(row['kind']) + len(row['name'])) for row in rows]\"")
        self.run_ok("learn", "out", "--labelled", "l.csv", "--pool", "p.csv", "-t", "y", "--id", "name", "--oracle",
                    oracle, "--rounds", 2, "--batch", 2, "--model", "gp", "--threads", 1, "-q")
        for row in read(self.path("out/chosen.csv")):
            self.assertEqual(float(row["y"]), "abc".index(row["kind"]) + len(row["name"]))

    def test_reasons_and_conditions_speak_of_the_tables_columns(self):
        rows = self.rows()
        self.write("l.csv", self.HEADER, [row for row in rows if row[1] != "c"])
        self.write("p.csv", self.HEADER[:5], [row[:5] for row in self.rows(seed=2)])
        base = ["suggest", "--labelled", "l.csv", "--pool", "p.csv", "-t", "y", "--once", "--model", "gp", "--threads", 1,
                "-q", "--batch", 3, "--ignore", "name", "-o"]
        self.run_ok(*base, "s.csv", "--require", "kind=c")
        for row in read(self.path("s.csv")):
            self.assertEqual(row["kind"], "c")
            self.assertIn("kind c, in no labelled row", row["why"])


if __name__ == "__main__":
    unittest.main()
