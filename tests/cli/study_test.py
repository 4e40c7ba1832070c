"""Studies: grids that run, what is written of them, and what is said of stores and grids that cannot be."""

import contextlib
import csv
import gzip
import json
import os
import re
import resource
import sqlite3
import stat
import subprocess
import sys
import unittest

from study_support import StudyTest
from support import PROGRAM, SANITIZED, dissent

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open("/proc/cpuinfo") as cpuinfo:
    CPU = cpuinfo.read()


class Study(StudyTest):
    def test_run_status_export(self):
        grid = self.grid()
        lines = self.run_ok("study", "run", grid, "--store", "sqlite:runs.db").splitlines()
        self.assertEqual(lines[0], "small: 4 campaigns, 0 done before; results in sqlite:runs.db")
        self.assertEqual(lines[-1], "    4 of 4  problem=hetero acquisition=kl seed=1")
        again = json.loads(self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "--json"))
        self.assertEqual((again["campaigns"], again["done"], again["ended"], again["failed"]), (4, 4, 0, 0))
        self.assertEqual(self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "--quiet"), "")
        self.assertIn("small: 4 campaigns: 4 done, 0 running, 0 waiting, 0 failed; 16 models recorded",
                      self.run_ok("study", "status", "sqlite:runs.db"))

        rounds = self.export("sqlite:runs.db")
        self.assertEqual(len(rounds), 4 * 4)  # three rounds, and the model after them
        for name, value in {"study": "small", "cell": "problem=hetero acquisition=random seed=0", "problem": "hetero",
                            "model": "pne", "acquisition": "random", "seed": "0", "data_seed": "0", "round": "1",
                            "labelled": "100"}.items():
            self.assertEqual(rounds[0][name], value)
        choices = self.export("sqlite:runs.db", "--choices")
        self.assertEqual(len(choices), 4 * 3 * 4)
        self.assertEqual({row["round"] for row in choices}, {"1", "2", "3"})
        self.assertTrue(all(float(row["epistemic"]) >= 0 for row in choices))

    def test_an_export_says_where_and_when(self):
        self.run_ok("study", "run", self.grid(rounds=1, last=0), "--store", "sqlite:runs.db", "-q")
        self.assertEqual(self.run_ok("study", "export", "sqlite:runs.db", "-o", "a.csv"), "a.csv: 2 campaigns\n")
        self.assertEqual(self.run_ok("study", "export", "sqlite:runs.db", "-o", "a.csv.gz", "--quiet"), "")
        with open(self.path("a.csv")) as plain, gzip.open(self.path("a.csv.gz"), "rt") as packed:
            text = plain.read()
            self.assertEqual(packed.read(), text)
        row = next(csv.DictReader(text.splitlines()))
        self.assertIn(os.uname().nodename, row["worker"])
        self.assertEqual(self.run_ok("--version").split()[1], row["version"])
        self.assertLess(1.7e9, float(row["started"]))
        self.assertLessEqual(float(row["started"]), float(row["changed"]))

    def test_an_export_keeps_the_rounds_that_all_have(self):
        self.run_ok("study", "run", self.grid(rounds=1, last=0), "--store", "sqlite:runs.db", "-q")
        lines = self.run_ok("study", "export", "sqlite:runs.db").splitlines(keepends=True)
        with open(self.path("some.csv"), "w") as file:
            file.writelines(lines[:-1])  # one of two campaigns has its first round alone
        self.assertEqual([row["round"] for row in self.export("some.csv")], ["1", "2", "1"])
        self.assertEqual([row["round"] for row in self.export("some.csv", "--common")], ["1", "1"])
        self.run_bad(2, "study", "export", "sqlite:runs.db", "--choices", "--common", says="--common cuts the table of rounds")

    def test_one_campaign_is_reproduced(self):
        grid = self.grid()
        name = "problem=hetero acquisition=kl seed=1"
        whole = self.unbroken(grid)
        self.run_ok("study", "run", grid, "--store", "sqlite:one.db", "--only", name, "-q")
        for rows, expected in zip(self.all_results("sqlite:one.db"), whole):
            expected = [row for row in expected if row["cell"] == name]
            self.assertEqual([row for row in rows if row["cell"] == name], expected)
        self.assertEqual([cell["name"] for cell in self.status("sqlite:one.db") if cell["state"] == "done"], [name])
        other_order = "seed=1 acquisition=kl problem=hetero"
        for typed in (name, other_order):
            self.assertIn("give another store",
                          self.run_ok("study", "run", grid, "--store", "sqlite:one.db", "--only", typed))
        self.run_bad(2, "study", "run", grid, "--store", "sqlite:one.db", "--only", name + "0", says="did you mean")

    def test_the_example_of_one_campaign_is_of_the_shipped_grid(self):
        name = re.search(r"quick\.toml --only '([^']+)'", self.run_ok("study", "run", "--help"))[1]
        with gzip.open(os.path.join(ROOT, "results", "quick.csv.gz"), "rt") as file:
            self.assertIn(name, {row["cell"] for row in csv.DictReader(file)})

    @unittest.skipIf(SANITIZED, "other code, other last bits")
    @unittest.skipUnless(" avx512f " in CPU, "the rows were made with AVX-512")
    def test_a_campaign_of_the_results_is_reproduced(self):
        name = "problem=hetero model=pne acquisition=kl seed=0"
        self.run_ok("study", "run", os.path.join(ROOT, "studies", "quick.toml"), "--store", "sqlite:one.db", "--only", name, "-q")
        with gzip.open(os.path.join(ROOT, "results", "quick.csv.gz"), "rt") as file:
            expected = [self.lasting(row) for row in csv.DictReader(file) if row["cell"] == name]
        self.assertEqual(len(expected), 11)
        found = [{column: row[column] for column in expected[0]} for row in self.export("sqlite:one.db") if row["cell"] == name]
        self.assertEqual(found, expected)

    @unittest.skipIf(SANITIZED, "other code, other last bits")
    @unittest.skipUnless(" avx512f " in CPU, "the rows were made with AVX-512")
    def test_the_first_rounds_of_the_papers_experiment_are_reproduced(self):
        check = [sys.executable, os.path.join(ROOT, "results", "check_cell.py"), "--program", PROGRAM, "--rounds", "2"]
        name = "problem=hetero acquisition=badge seed=0"
        rows = os.path.join(ROOT, "results", "paper-pne-cpu.csv.gz")
        said = subprocess.run([*check, rows, name], text=True, capture_output=True)
        made = "these rows were made on cpu by commit ce4fce6"
        self.assertEqual((said.returncode, said.stdout), (0, f"{name}: 2 rounds\n{made}\n12 values, 0 differ\n"), said.stderr)
        said = subprocess.run([*check, os.path.join(ROOT, "results", "paper-nflows.csv.gz"), name], text=True, capture_output=True)
        self.assertEqual((said.returncode, "give --device cuda" in said.stderr), (2, True), said.stderr)
        with gzip.open(rows, "rt") as file, open(self.path("other.csv"), "w") as other:
            other.write(file.read().replace(",1,100,", ",1,101,"))
        said = subprocess.run([*check, self.path("other.csv"), name], text=True, capture_output=True)
        self.assertEqual(said.returncode, 1)
        self.assertIn("round 1, labelled: 101 in the file, 100 here", said.stdout)

    def test_jobs_and_threads_change_nothing(self):
        grid = self.grid()
        expected = self.unbroken(grid)
        self.run_ok("study", "run", grid, "--store", "sqlite:jobs.db", "--jobs", 3, "--threads", 2, "--quiet")
        self.check_complete("sqlite:jobs.db", expected)

    def test_a_variant_is_a_problem_of_a_grid(self):
        with open(self.path("v.toml"), "w") as file:
            file.write('name = "v"\nrounds = 1\n[settings]\nmodel = "pne"\nepochs = 5\ncandidates = 50\n[grid]\n'
                       'problem = ["pendulum", "pendulum:swing"]\npool_policy = ["mixed", "random"]\n'
                       'acquisition = "random"\n')
        cache = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        run = ["study", "run", "v.toml", "--store", "sqlite:runs.db", "-q"]
        result = subprocess.run([PROGRAM, *run], cwd=self.dir, env=cache, text=True, capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(name.rpartition("-")[0] for name in os.listdir(self.path("cache/dissent/problems"))),
                         ["pendulum", "pendulum", "pendulum-swing", "pendulum-swing"])

    def test_a_campaign_that_fails_says_why(self):
        with open(self.path("t.toml"), "w") as file:
            file.write('name = "t"\nrounds = 1\n[settings]\nmodel = "pne"\nepochs = 5\ncandidates = 50\n[grid]\nproblem = "hetero"\n'
                       'acquisition = ["kl", "kl-aim"]\n[[where]]\nacquisition = "kl-aim"\nset = { aim = "aim.csv" }\n')
        with open(self.path("aim.csv"), "w") as file:
            file.write("other\n1\n")
        result = dissent("study", "run", "t.toml", "--store", "sqlite:runs.db", "-q", cwd=self.dir)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 campaign failed", result.stderr)
        self.assertRegex(self.run_ok("study", "status", "sqlite:runs.db"), r"failed   problem=hetero .*: aim\.csv: ")
        # Again: nothing is left to run, and it is no success.
        again = dissent("study", "run", "t.toml", "--store", "sqlite:runs.db", cwd=self.dir)
        self.assertEqual(again.returncode, 1)
        self.assertEqual(again.stdout, "t: 2 campaigns, 1 done, 1 failed before (--retry runs them again); results in "
                                       "sqlite:runs.db\n")
        again = dissent("study", "run", "t.toml", "--store", "sqlite:runs.db", "--json", cwd=self.dir)
        self.assertEqual(again.returncode, 1)
        said = json.loads(again.stdout)
        self.assertEqual((said["done"], said["ended"], said["failed"]), (2, 0, 1))
        self.assertEqual([failure["name"] for failure in said["failures"]], ["problem=hetero acquisition=kl-aim"])
        self.assertIn("aim.csv", said["failures"][0]["error"])
        one = ("study", "run", "t.toml", "--store", "sqlite:runs.db", "--only")
        self.run_ok(*one, "problem=hetero acquisition=kl")
        self.run_bad(1, *one, "problem=hetero acquisition=kl-aim", says="1 campaign failed")
        with open(self.path("aim.csv"), "w") as file:
            file.write("x\n1\n2\n")
        self.run_ok("study", "run", "t.toml", "--store", "sqlite:runs.db", "--retry", "-q")
        self.assertEqual({cell["state"] for cell in self.status("sqlite:runs.db")}, {"done"})

    def test_a_table_is_checked_before_anything_runs(self):
        with open(self.path("t.toml"), "w") as file:
            file.write('name = "t"\n[grid]\nproblem = ["hetero", "t"]\nseed = 0\nrounds = 1\nmodel = "pne"\nepochs = 5\n'
                       '[table.t]\nfile = "t.csv"\ntargets = "y"\nlabelled = 5\ntest = 5\n')
        run = ("study", "run", "t.toml", "--store", "sqlite:runs.db", "-q")
        self.run_bad(2, *run, says="t.toml:9:8: t.csv: ")
        for rows, says in (("x,z\n0,1\n", ["t.toml:10:11: t.csv: ", "'y'"]), ("x,y\n0,1\n", ["t.toml:11:12: t.csv: ", "1 rows"])):
            with open(self.path("t.csv"), "w") as file:
                file.write(rows)
            self.run_bad(2, *run, says=says)
        with open(self.path("t.csv"), "w") as file:
            file.write("x,y\n" + "".join(f"{k},{k % 7}\n" for k in range(40)))
        self.run_ok(*run)
        with open(self.path("t.csv"), "a") as file:
            file.write("40,99\n")
        self.run_bad(2, *run, says=["with other settings: the content of its file; give the grid another name"])

    def test_a_worker_that_is_silent_is_told_of(self):
        self.run_ok("study", "run", self.grid(rounds=1, last=0), "--store", "sqlite:runs.db", "-q")

        def claimed_until(end):
            with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as database:
                database.execute("UPDATE cell SET state = 1, lease_end = ? WHERE id = 1", (end,))
                database.commit()
            return self.run_ok("study", "status", "sqlite:runs.db"), self.status("sqlite:runs.db")[0]["lease_over"]

        text, over = claimed_until(1.0)
        self.assertRegex(text, r"running  .*, silent since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, lease over\n")
        self.assertTrue(over)
        text, over = claimed_until(1e11)
        self.assertNotIn("silent", text)
        self.assertFalse(over)

    def test_campaigns_that_never_began_have_no_times(self):
        name = "problem=hetero acquisition=kl seed=1"
        self.run_ok("study", "run", self.grid(rounds=1), "--store", "sqlite:runs.db", "--only", name, "-q")
        for cell in self.status("sqlite:runs.db"):
            self.assertEqual(cell["started"] is None, cell["name"] != name)
            self.assertEqual(cell["changed"] is None, cell["name"] != name)


class Refusals(StudyTest):
    def refuse_grid(self, text, says):
        with open(self.path("g.toml"), "w") as file:
            file.write(text)
        self.run_bad(2, "study", "run", "g.toml", says=says)

    def test_grids(self):
        head = 'name = "g"\n'
        self.refuse_grid(head + '[grid]\nproblem = "hetero"\nacquisiton = "kl"\n',
                         "g.toml:4:1: 'acquisiton' is not known; did you mean 'acquisition'?")
        self.refuse_grid(head + '[grid]\nproblem = "hetero"\nacquisition = ["random", "kll"]\n',
                         ["g.toml:4:26: ", "did you mean 'kl'?"])
        self.refuse_grid(head + '[grid]\nproblem = ["hetreo"]\n', ["g.toml:3:12: ", "did you mean 'hetero'?"])
        self.refuse_grid(head + '[settings]\nmodel = "pnee"\n[grid]\nproblem = "hetero"\n',
                         ["g.toml:3:9: ", "did you mean 'pne'?"])
        self.refuse_grid(head + "[grid]\nseed = [1, 2\n", "g.toml:")
        self.refuse_grid(head + '[grid]\nproblem = "hetero"\nepochs = 0\n', ["g.toml:4:10: ", ">= 1"])
        self.run_bad(2, "study", "run", "none.toml", says="none.toml")
        with open(self.path("data.csv"), "w") as file:
            file.write("x,y\n1,2\n")
        self.run_bad(2, "study", "run", "data.csv", says=["data.csv:1:", "a grid is a file in TOML"])

    def test_stores(self):
        grid = self.grid()
        self.run_bad(2, "study", "status", "sqlite:none.db", says="no such file")
        self.run_bad(2, "study", "run", grid, "--store", "runs.db",
                     says=["sqlite:FILE or postgresql://", "did you mean 'sqlite:runs.db'?"])
        self.run_bad(2, "study", "run", grid, "--store", "sqlite:none/runs.db", says="there is no folder 'none'")
        self.run_bad(2, "study", "run", grid, "--store", "sqlite:.", says="is a folder")
        self.run_bad(2, "study", "run", grid, "--store", "sqlite://x2.db", says="did you mean 'sqlite:x2.db'?")
        with open(self.path("text.db"), "w") as file:
            file.write("some notes that are no database\n" * 40)
        self.run_bad(1, "study", "run", grid, "--store", "sqlite:text.db", says="another kind of file")
        with open(self.path("text.db")) as file:
            self.assertTrue(file.read().startswith("some notes"))
        self.run_bad(2, "study", "status", "sqlite:text.db", says="it looks like text; give a store of studies")

    def test_a_store_may_be_named_by_its_file(self):
        grid = self.grid(rounds=1, epochs=2, last=0)
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "--quiet")
        self.assertEqual(self.status("runs.db"), self.status("sqlite:runs.db"))
        self.assertEqual(self.export("runs.db", "--choices"), self.export("sqlite:runs.db", "--choices"))
        self.assertIn("2 done", self.run_ok("study", "run", grid, "--store", "runs.db"))

    def test_a_file_of_an_aim_that_is_not_there(self):
        """Once, with its place, and nothing begins."""
        self.refuse_grid('name = "a"\naim = "none.csv"\n[grid]\nproblem = "hetero"\nacquisition = "aim"\nseed = "0-9"\n',
                         "g.toml:2:7: none.csv: there is no such file")

    def test_a_store_may_stand_beside_its_own_export(self):
        self.run_ok("study", "run", self.grid(), "--store", "sqlite:runs.db", "-q")
        self.run_ok("study", "export", "sqlite:runs.db", "--output", "own.csv")
        for sources in (["sqlite:runs.db", "own.csv"], ["own.csv", "sqlite:runs.db"]):
            self.run_ok("study", "export", *sources, "--output", "both.csv")
            with open(self.path("own.csv")) as own, open(self.path("both.csv")) as both:
                self.assertEqual(sorted(both.readlines()), sorted(own.readlines()))
        self.run_bad(2, "study", "status", "own.csv", says="there is 'dissent study show'")

    def test_another_grid_of_the_same_name(self):
        self.run_ok("study", "run", self.grid(rounds=1, last=1), "--store", "sqlite:runs.db", "-q")
        self.run_bad(2, "study", "run", self.grid(rounds=2, epochs=30, last=1), "--store", "sqlite:runs.db",
                     says="with other settings: epochs is 20 there, 30 in the grid, rounds is 1 there, 2 in the grid; give")
        self.run_bad(2, "study", "run", self.grid(rounds=1, last=0), "--store", "sqlite:runs.db",
                     says="2 campaigns that the grid has not, such as '")
        self.run_ok("study", "run", self.grid(rounds=1, last=2), "--store", "sqlite:runs.db", "-q")  # more of them
        self.assertEqual(len(self.status("sqlite:runs.db")), 6)

    def test_a_file_that_may_not_be_written(self):
        grid = self.grid(rounds=1, last=0)
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "-q")
        expected = self.all_results("sqlite:runs.db")
        self.grid(rounds=1, last=1)
        os.chmod(self.path("runs.db"), stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        os.chmod(self.dir, 0o555)
        self.addCleanup(os.chmod, self.dir, 0o755)
        user = 65534 if os.geteuid() == 0 else None  # root may write to anything
        try:
            run = subprocess.run([PROGRAM, "study", "run", grid, "--store", "sqlite:runs.db"], cwd=self.dir, text=True,
                                 capture_output=True, user=user)
        except PermissionError:
            self.skipTest("others may not run the program")
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertIn("must be writable", run.stderr)
        # Reading needs no more than to read.
        reads = lambda: subprocess.run([PROGRAM, "study", "export", "sqlite:runs.db"], cwd=self.dir, text=True,
                                       capture_output=True, user=user)
        read = reads()
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        os.chmod(self.dir, 0o755)
        self.assertEqual(self.all_results("sqlite:runs.db"), expected)
        self.assertEqual(read.stdout, self.run_ok("study", "export", "sqlite:runs.db"))
        # Rounds that a worker has left beside the file would be passed over.
        with open(self.path("runs.db-wal"), "wb") as file:
            file.write(b"rounds")
        os.chmod(self.dir, 0o555)
        read = reads()
        self.assertEqual((read.returncode, read.stdout), (1, ""))
        self.assertIn("copy both files to a folder of yours and read the copy", read.stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer writes files of its own")
    def test_a_full_disk_loses_nothing(self):
        grid = self.grid()

        def run_within(limit):
            """In a new store, whose files may grow to so many bytes."""
            for name in os.listdir(self.dir):
                if name.startswith("runs.db"):
                    os.remove(self.path(name))
            return dissent("study", "run", grid, "--store", "sqlite:runs.db", "--lease", 1, cwd=self.dir,
                           limit=(resource.RLIMIT_FSIZE, limit))

        # The least room in which a round is recorded: how large a store is to begin with is its own affair.
        for limit in range(32_000, 1_000_000, 16_000):
            run = run_within(limit)
            self.assertEqual(run.returncode, 1, f"{limit} bytes are enough for all")
            self.assertRegex(run.stderr, r"disk.*make room and run the same command again: what was recorded is whole")
            if self.has_begun("sqlite:runs.db"):
                break
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "--quiet")
        self.check_complete("sqlite:runs.db", self.unbroken(grid))


class Versions(StudyTest):
    """Stores that other versions of the program have made."""

    def change(self, *statements):
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()
            return list(database.iterdump())

    def test_an_earlier_one_is_read_and_brought_up(self):
        grid = self.grid(rounds=1, last=0)
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "-q")
        before = self.change("DROP TABLE measurement", "ALTER TABLE round DROP COLUMN score_seconds",
                             "UPDATE dissent SET version = 1")
        rows = self.export("sqlite:runs.db")
        self.assertEqual(self.change(), before)  # reading changes nothing
        self.grid(rounds=1, last=1)
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "-q")
        after = "\n".join(self.change())
        self.assertIn('INSERT INTO "dissent" VALUES(2)', after)
        self.assertIn("CREATE TABLE measurement", after)
        self.assertIn("score_seconds", after)
        self.assertEqual(self.export("sqlite:runs.db")[:len(rows)], rows)
        self.assertEqual({cell["state"] for cell in self.status("sqlite:runs.db")}, {"done"})

    def test_a_later_one_is_left_alone(self):
        grid = self.grid(rounds=1, last=0)
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "-q")
        before = self.change("UPDATE dissent SET version = 99")
        says = "it has version 99 of the store, this program knows 2: a later program made it"
        self.run_bad(2, "study", "run", grid, "--store", "sqlite:runs.db", says=says)
        self.run_bad(2, "study", "status", "sqlite:runs.db", says=says)
        self.run_bad(2, "study", "export", "sqlite:runs.db", says=says)
        self.assertEqual(self.change(), before)


if __name__ == "__main__":
    unittest.main()
