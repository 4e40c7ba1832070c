"""dissent suggest, rounds and acquisitions."""

import csv
import io
import json
import os
import subprocess
import unittest

import numpy as np

from campaign_support import QUICK, rows
from support import PROGRAM, SANITIZED, CliTest, dissent


class Suggest(CliTest):
    def setUp(self):
        super().setUp()
        near = rows(40, 1)
        near = near[np.abs(near[:, 0]) < 1]
        np.savetxt(self.path("l.csv"), near, delimiter=",", header="a,b,y", comments="", fmt="%r")
        with open(self.path("p.csv"), "w") as file:
            file.write("sample,a,b\n" + "".join(f"S{k},{float(r[0])!r},{float(r[1])!r}\n" for k, r in enumerate(rows(50, 2))))
        self.tables = ("--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", "--inputs", "a,b")

    def suggest(self, *arguments):
        return self.run_ok("suggest", *self.tables, *QUICK, "--batch", 6, *arguments)

    def test_rows_with_scores_and_a_reason(self):
        text = self.suggest("-o", "next.csv")
        self.assertRegex(text, r"\Anext.csv: 6 of 50 rows\n[^\n]*components disagree about these rows [^\n]*nats on average "
                               r"where the pool has [^\n]*outside the labelled range of 'a'\.\n"
                               r"Another fit would choose \d of these 6 rows\.\n\Z")
        with open(self.path("next.csv")) as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines[0], ["row", "sample", "a", "b", "score", "epistemic", "aleatoric", "why"])
        self.assertEqual([line[1] for line in lines[1:]], [f"S{line[0]}" for line in lines[1:]])
        scores = [float(line[4]) for line in lines[1:]]
        self.assertEqual(scores, sorted(scores, reverse=True))
        report = json.loads(self.suggest("-o", "again.csv", "--json"))
        self.assertEqual([str(row["row"]) for row in report["rows"]], [line[0] for line in lines[1:]])
        self.assertEqual([row["why"] for row in report["rows"]], [line[-1] for line in lines[1:]])
        for why in (line[-1] for line in lines[1:]):
            self.assertRegex(why, r"(labelled rows (begin|end) at|nearest labelled row differs most in) .*; "
                                  r"components say \S+ to \S+; noise \S+\Z")
        self.assertIn("components disagree", report["reason"])
        self.assertIn(report["stable_rows"], range(7))
        self.assertIn("Drawn at random", self.suggest("-o", "r.csv", "--acquisition", "random"))

    def test_every_method_works(self):
        for row in json.loads(self.run_ok("acquisitions", "--json"))["acquisitions"]:
            name = row["name"].replace(":K", ":20").replace(":A", ":0.3")
            with self.subTest(name):
                report = json.loads(self.suggest("-o", "n.csv", "--acquisition", name, "--json"))
                self.assertEqual(len({r["row"] for r in report["rows"]}), 6)
        names = [line.split()[0] for line in self.run_ok("acquisitions").splitlines()]
        self.assertEqual(names[0], "name")
        self.assertIn("kl", names)

    def test_a_reason_that_fits_the_method(self):
        def reason(method):
            return json.loads(self.suggest("-o", "n.csv", "-a", method, "--json"))["reason"]

        for method in ("lcmd", "bait", "badge", "variance"):
            self.assertRegex(reason(method), rf"\AChosen by {method} \(.*\); the components disagree about these rows ")
        self.assertRegex(reason("random"), r"\ADrawn at random; ")

    def test_one_component(self):
        for method in ("kl", "chernoff:0.3", "kl-joint", "mc:10", "batchbald:10", "variance"):
            self.run_bad(2, "suggest", *self.tables, "-o", "n.csv", "-a", method, "--components", 1,
                         says=f"'{method}' needs at least two components")
        self.run_ok("suggest", *self.tables, *QUICK[:-1], 1, "-o", "n.csv", "-a", "random", "-q")

    def test_a_choice_that_does_not_know_the_labelled_rows(self):
        self.run_ok("fit", "l.csv", "-t", "y", "-o", "y.model", "-q", *QUICK)
        for method, known in (("lcmd", False), ("bait", False), ("kl", True)):
            command = ("suggest", "--fitted", "y.model", "--pool", "p.csv", "-o", "n.csv", "-a", method, "--batch", 3)
            result = dissent(*command, cwd=self.dir)
            self.assertEqual("chose without knowing the labelled rows" in result.stderr, not known)
            self.assertEqual(dissent(*command, "--labelled", "l.csv", cwd=self.dir).stderr, "")

    def test_a_model_fitted_before(self):
        self.run_ok("fit", "l.csv", "-t", "y", "-o", "y.model", "-q", *QUICK)
        again = ("suggest", "--fitted", "y.model", "--batch", 6, "-o", "-")
        ours = self.run_ok(*again, *self.tables[:4], "-q")
        result = dissent(*again, "--pool", "p.csv", cwd=self.dir)
        self.assertEqual(result.returncode, 0)
        without = [row[:-1] for row in csv.reader(io.StringIO(result.stdout))]
        self.assertEqual(without, [row[:-1] for row in csv.reader(io.StringIO(ours))])
        self.assertNotIn("labelled row", result.stdout)  # it does not know them
        self.assertRegex(result.stderr, r"\A[^\n]*components disagree about these rows [^\n]*\n\Z")
        self.run_bad(2, *again, "--pool", "p.csv", "--epochs", 3, says="fitted already, so --epochs would do nothing")
        self.assertEqual(self.run_ok(*again, *self.tables, "-q"), ours)
        self.run_bad(2, *again, "--pool", "p.csv", "-t", "a", says="--targets: y.model predicts y; leave it out")
        self.run_bad(2, *again, "--pool", "p.csv", "-i", "b,a", says="--inputs: y.model has the inputs a,b; leave it out")
        self.run_ok(*again, "--pool", "p.csv", "-q", "--seed", 3)

    def test_a_value_too_far_to_compute_with(self):
        self.run_ok("fit", "l.csv", "-t", "y", "-o", "y.model", "-q", *QUICK)
        pool = rows(3000, 3)[:, :2]
        pool[2345, 1] = -1e200
        np.savetxt(self.path("far.csv"), pool, delimiter=",", header="a,b", comments="", fmt="%r")
        self.save("far.npz", a=pool[:, 0], b=pool[:, 1])
        for name in ("far.csv", "far.npz"):
            for method in ("kl", "kl-joint", "badge", "mc:5", "variance", "random"):
                self.run_bad(2, "suggest", "--fitted", "y.model", "--pool", name, "-o", "n.csv", "-a", method,
                             "--candidates", "all", says=f"{name}: column 'b' row 2346: '-1e+200' is too far from")

    def test_a_diverging_loss_is_reported(self):
        result = dissent("suggest", *self.tables, *QUICK, "--learning-rate", 1e9, "-o", "n.csv", "-q", cwd=self.dir)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertRegex(result.stderr, r"\Athe loss of components? [^\n]* diverged; [^\n]*\n\Z")

    def test_archives_are_streamed_to_the_same_choice(self):
        self.run_ok("fit", "l.csv", "-t", "y", "-o", "y.model", "-q", *QUICK)
        pool = rows(20000, 3)[:, :2]
        np.savetxt(self.path("p.csv"), pool, delimiter=",", header="a,b", comments="", fmt="%r")
        self.save("one.npz", a=pool[:, 0], b=pool[:, 1])
        np.savez_compressed(self.path("two.npz"), b=pool[:, 1], z=np.arange(20000), a=np.asfortranarray(pool[:, :1])[:, 0])
        suggest = lambda name, *more: self.run_ok("suggest", "--fitted", "y.model", "--pool", name, "-o", "-", "-q", *more)
        for method in ("kl", "random", "kl-joint"):
            csv = suggest("p.csv", "-a", method)
            self.assertEqual(suggest("one.npz", "-a", method, "--threads", 1), csv)
            picked = [line.split(",")[0] for line in suggest("two.npz", "-a", method).splitlines()]
            self.assertEqual(picked, [line.split(",")[0] for line in csv.splitlines()])
        self.save("p.npz", x=pool)
        self.run_bad(2, "suggest", "--fitted", "y.model", "--pool", "p.npz", "-o", "n.csv",
                     says="p.npz: has no column 'a'; it has: x0, x1")
        pool[17000, 1] = np.nan
        self.save("p.npz", a=pool[:, 0], b=pool[:, 1])
        self.run_bad(2, "suggest", "--fitted", "y.model", "--pool", "p.npz", "-o", "n.csv",
                     says="p.npz: column 'b' row 17001: 'nan' is not a finite number")

    def peak(self, *arguments):
        """KiB resident at the most, of the program or, where that is more, of this process, which it is forked from."""
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.dir)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss

    @unittest.skipIf(SANITIZED, "sanitizers keep freed memory for a while, and shadows of all of it")
    def test_memory_does_not_grow_with_the_pool(self):
        self.run_ok("fit", "l.csv", "-t", "y", "-o", "y.model", "-q", *QUICK)
        suggest = ("suggest", "--fitted", "y.model", "--candidates", "all", "-b", 1, "-o", "n.csv", "-q", "--pool")
        half = np.broadcast_to(0.5, 4_000_000)  # takes no memory here; in rows with their scores it would be 192 MB
        self.save("p.npz", a=half, b=half)
        for method in ("kl", "variance", "random"):
            self.assertLess(self.peak(*suggest, "p.npz", "--acquisition", method), 80 * 1024, method)
        # Of CSV only the numbers stay: 3 MB of 80.
        rows_text = ("0." + "5" * 198 + ",-0." + "5" * 197 + "\n") * 1000
        with open(self.path("p.csv"), "w") as file:
            file.write("a,b\n")
            for _ in range(200):
                file.write(rows_text)
        self.assertLess(self.peak(*suggest, "p.csv", "--acquisition", "kl"), 80 * 1024)

    def test_mistakes(self):
        suggest = lambda *more: ("suggest", *self.tables, *QUICK, "-o", "n.csv", *more)
        self.run_bad(2, *suggest("--batch", 51), says="--batch: 51 rows are wanted; p.csv has 50")
        self.run_bad(2, *suggest("--batch", 7, "--candidates", 6), says="--candidates = 6; fewer than the --batch of 7")
        self.run_bad(2, *suggest()[:-1], "n.txt", says="--output: 'n.txt' must end in .csv")
        self.run_bad(2, "suggest", "--pool", "p.csv", "-o", "n.csv", says="give --labelled and --targets to fit a model")
        self.run_bad(2, "suggest", "--labelled", "l.csv", "-t", "y", "-o", "n.csv", says="--pool is needed")
        self.run_bad(2, *suggest("--json")[:-3], "-o", "-", "--json", says="both write to standard output")
        self.run_bad(2, "suggest", *self.tables, *QUICK, "-o", "p.csv", says="'p.csv' is read as well and would be")
        with open(self.path("p.csv"), "w") as file:
            file.write("a,b\n1,inf\n")
        self.run_bad(2, *suggest("--batch", 1), says="p.csv: column 'b' row 1: 'inf' is not a finite number")


def diamonds(count, seed):
    """Carat, width and price; two decimals."""
    random = np.random.default_rng(seed)
    width = np.round(np.exp(1.74 + 0.15 * random.normal(size=count)), 2)
    carat = np.round(width**3 / 200, 2)
    return np.column_stack([carat, width, np.round(3000 * carat**1.5)])


class Candidates(CliTest):
    """What may be chosen, and what it costs."""

    def setUp(self):
        super().setUp()
        np.savetxt(self.path("l.csv"), diamonds(40, 1), delimiter=",", header="carat,width,price", comments="", fmt="%r")
        pool = diamonds(400, 2)[:, :2]
        pool[[17, 170], 1] = 58.9, 31.8  # typing errors
        with open(self.path("p.csv"), "w") as file:
            file.write("carat,width,site,hours\n")
            for k, (carat, width) in enumerate(pool):
                file.write(f"{float(carat)!r},{float(width)!r},{'ABC'[k % 3]},{1 + k % 7}\n")
        self.tables = ("--labelled", "l.csv", "--pool", "p.csv", "--targets", "price")

    def suggest(self, *arguments, method="kl"):
        report = json.loads(self.run_ok("suggest", *self.tables, *QUICK, "-a", method, "--batch", 8, "-o", "n.csv", "--once",
                                        "--json", *arguments))
        with open(self.path("n.csv")) as file:
            return report, list(csv.DictReader(file))

    def test_conditions(self):
        _, rows = self.suggest("--require", "site=A", "--require", "hours<=3,carat>0.4", "--exclude", "hours=2", "--exclude",
                               "width<5")
        self.assertEqual({row["site"] for row in rows}, {"A"})
        self.assertLessEqual({row["hours"] for row in rows}, {"1", "3"})
        self.assertTrue(all(float(row["carat"]) > 0.4 and float(row["width"]) >= 5 for row in rows))
        suggest = ("suggest", *self.tables, *QUICK, "-o", "n.csv")
        self.run_bad(2, *suggest, "--require", "sites=A", says="p.csv: has no column 'sites'; did you mean 'site'?")
        self.run_bad(2, *suggest, "--exclude", "site<B", says="which is compared by = and != only: site<B")
        self.run_bad(2, *suggest, "--require", "hours", says="--require = hours; a condition is a column")
        self.run_bad(2, *suggest, "--require", "hours=2", "--batch", 60, says="--batch: 60 rows are wanted; 57 of 400 in p.csv")

    def test_rows_that_look_like_errors(self):
        report, rows = self.suggest()
        errors = [row for row in rows if row["width"] in ("58.9", "31.8")]
        self.assertEqual(len(errors), 2)
        for row in errors:
            self.assertRegex(row["why"], rf"\Awidth {row['width']} looks like an error: other rows end at ")
        for row in rows:
            self.assertEqual("error" in row["why"], row in errors)
        report, rows = self.suggest("--skip-outliers")
        self.assertFalse([row for row in rows if row["width"] in ("58.9", "31.8")])
        self.assertEqual(report["candidates"], 398)

    def test_costs(self):
        for method in ("kl", "aim"):
            _, rows = self.suggest("--skip-outliers", method=method)
            _, cheap = self.suggest("--skip-outliers", "--cost", "hours", method=method)
            for row in cheap:
                self.assertRegex(row["why"], rf"; costs {row['hours']}, \S+ nats per unit of cost\Z")
                nats = float(row["why"].split(", ")[-1].split()[0])
                self.assertAlmostEqual(nats, float(row["score"]), delta=0.006 * float(row["score"]))
                self.assertNotIn("about the aim", row["why"])  # none was given
            hours = lambda rows: sum(int(row["hours"]) for row in rows)
            self.assertLess(hours(cheap), hours(rows))
        suggest = ("suggest", *self.tables, *QUICK, "-o", "n.csv")
        self.run_bad(2, *suggest, "-a", "random", "--cost", "hours",
                     says=["acquisition 'random' does not look at costs; use one that does: ", " kl, "])
        self.run_bad(2, *suggest, "-a", "kl", "--cost", "hour", says="p.csv: has no column 'hour'")
        with open(self.path("p.csv"), "a") as file:
            file.write("1,5,A,0\n")
        self.run_bad(2, *suggest, "-a", "kl", "--cost", "hours", says="p.csv: column 'hours' row 401: '0' is no cost")

    def test_an_aim(self):
        wide = diamonds(50, 3)
        wide = wide[wide[:, 1] > 6]
        np.savetxt(self.path("aim.csv"), wide[:, :2], delimiter=",", header="carat,width", comments="", fmt="%r")
        _, near = self.suggest("--aim", "aim.csv", "--skip-outliers", method="aim")
        _, pool = self.suggest("--skip-outliers", method="aim")
        self.assertNotEqual([row["score"] for row in near], [row["score"] for row in pool])
        suggest = ("suggest", *self.tables, *QUICK, "-o", "n.csv", "--aim")
        self.run_bad(2, *suggest, "aim.csv", "-a", "kl",
                     says=["acquisition 'kl' does not look at an aim; use one that does: ", " aim, ", "kl-aim"])
        self.run_bad(2, *suggest, "p.npz", "-a", "aim", says="p.npz: cannot be read")

    def test_an_archive_gives_the_same_rows(self):
        pool = diamonds(9000, 2)[:, :2]
        pool[17, 1] = 58.9
        hours = 1.0 + np.arange(9000) % 7
        np.savetxt(self.path("p.csv"), np.column_stack([pool, hours]), delimiter=",", header="carat,width,hours", comments="",
                   fmt="%r")
        self.save("p.npz", x=pool, carat=pool[:, 0], width=pool[:, 1], hours=hours)
        options = ("--require", "hours<=4", "--skip-outliers", "--candidates", "all")
        _, of_csv = self.suggest(*options)
        self.tables = ("--labelled", "l.csv", "--pool", "p.npz", "--targets", "price")
        report, of_npz = self.suggest(*options)
        self.assertEqual([row["row"] for row in of_npz], [row["row"] for row in of_csv])
        self.assertEqual([row["why"] for row in of_npz], [row["why"] for row in of_csv])
        self.assertTrue(all(float(row["hours"]) <= 4 for row in of_npz))
        self.assertLess(report["candidates"], 9000 * 4 / 7 + 5)

    def test_the_first_ask_chooses_the_same_rows(self):
        for number, options in enumerate((
            ("-a", "kl"), ("-a", "kl", "--seed", 5, "--candidates", 60), ("-a", "kl-joint", "--skip-outliers"),
            ("-a", "aim", "--require", "site!=B", "--cost", "hours"), ("-a", "random"),
        )):
            with self.subTest(options):
                command = (*self.tables, *QUICK, *options, "--batch", 8)
                suggested = json.loads(self.run_ok("suggest", *command, "-o", "n.csv", "--once", "--json"))["rows"]
                asked = json.loads(self.run_ok("ask", f"lab{number}", *command, "-o", "todo.csv", "--json"))["pending"]
                for name in ("row", "score", "epistemic", "why"):
                    self.assertEqual([row[name] for row in suggested], [row[name] for row in asked])
                os.remove(self.path("todo.csv"))

    def test_how_stable_the_choice_is(self):
        suggest = ("suggest", *self.tables, *QUICK, "--batch", 8, "-o", "n.csv")
        stable = lambda *more: json.loads(self.run_ok(*suggest, "--json", *more))["stable_rows"]
        self.assertGreaterEqual(stable("-a", "kl"), 2)  # the errors, whatever the fit
        self.assertIsNone(stable("-a", "kl", "--once"))
        self.assertIsNone(stable("-a", "random"))
        self.run_ok("fit", "l.csv", "-t", "price", "-o", "y.model", "-q", *QUICK)
        fitted = ("suggest", "--fitted", "y.model", "--pool", "p.csv", "-a", "kl", "-o", "n.csv", "--json")
        self.assertIsNone(json.loads(self.run_ok(*fitted))["stable_rows"])


class Rounds(CliTest):
    def test_curves(self):
        for method in ("kl", "random"):
            self.run_ok("learn", method, "--problem", "hetero", "--rounds", 3, "--acquisition", method, "-q", *QUICK)
        text = self.run_ok("rounds", "kl", "random")
        lines = text.splitlines()
        self.assertEqual(lines[0], "log_likelihood over the number of labelled rows")
        self.assertEqual(len(lines), 1 + 18 + 2 + 2)
        self.assertRegex(lines[-2], r"\Aa  kl      4 models, -?[\d.]+ -> -?[\d.]+\Z")
        self.assertRegex(lines[-1], r"\Ab  random  4 models, ")
        self.assertEqual(lines[-3].split(), ["100", "130"])
        picture = "".join(line[12:] for line in lines[1:19])
        self.assertTrue(set(picture) <= set("ab* "))
        self.assertIn("*", picture)  # both begin with the same model
        report = json.loads(self.run_ok("rounds", "kl", "--metric", "rmse", "--json"))
        self.assertEqual(repr(report["campaigns"][0]["labelled"]), "[100, 110, 120, 130]")

    def test_mistakes(self):
        self.run_bad(2, "rounds", "none", says="none/rounds.csv: cannot be read")
        self.run_bad(2, "rounds", "none", "--metric", "rmsd", says="did you mean 'rmse'?")

    def test_tables_with_odd_numbers(self):
        os.mkdir(self.path("out"))

        def write(*values, labelled=(10, 20, 30)):
            with open(self.path("out/rounds.csv"), "w") as file:
                file.write("labelled,rmse\n" + "".join(f"{n},{v}\n" for n, v in zip(labelled, values)))

        def refuse(says):
            self.run_bad(2, "rounds", "out", "--metric", "rmse", says=says)

        write("1", "many", "2")
        refuse("'many' is text")
        write("", "", "")
        refuse("rmse is empty in every round, as in campaigns without test rows")
        write("nan", "inf", "")
        refuse("no round has a finite rmse")
        write("1", "2", "3", labelled=(10, -5, "inf"))
        refuse("'labelled'")
        write("1", "2", "3", labelled=(10, 5, 20))  # answers were taken back
        curve = json.loads(self.run_ok("rounds", "out", "--metric", "rmse", "--json"))["campaigns"][0]
        self.assertEqual((curve["labelled"], curve["rmse"]), ([5, 20], [2, 3]))
        write("1", "inf", "")
        result = dissent("rounds", "out", "--metric", "rmse", "--json", cwd=self.dir)
        self.assertEqual(result.stderr, "out: 2 rounds without a finite rmse left out\n")
        self.assertEqual(json.loads(result.stdout)["campaigns"][0]["rmse"], [1])
        write("-1e308", "0", "1e308")
        picture = self.run_ok("rounds", "out", "--metric", "rmse").splitlines()[1:19]
        self.assertTrue(all("a" in line[12:] for line in picture), picture)


if __name__ == "__main__":
    unittest.main()
