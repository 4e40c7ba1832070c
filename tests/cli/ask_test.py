"""dissent ask and tell: campaigns with people, over several commands."""

import csv
import io
import json
import os
import resource
import subprocess

import numpy as np

from campaign_support import AskTest, rows
from support import dissent


class AskTell(AskTest):
    def test_days_in_a_laboratory(self):
        first = self.ask(*self.begin, "--batch", 5)
        self.assertEqual(list(first[0]), ["row", "sample", "a", "b", "note", "why", "y"])
        self.assertTrue(all("components say" in q["why"] for q in first))
        self.assertEqual([q["sample"] for q in first], [f"S{q['row']}" for q in first])
        self.assertEqual({q["y"] for q in first}, {""})
        os.remove(self.path("l.csv"))  # copies are kept
        os.remove(self.path("p.csv"))
        self.assertEqual(self.ask("--batch", 5), first)  # remembered
        self.assertEqual(self.ask("--batch", 3), first)
        text = self.run_ok("tell", "lab", self.answers("d.csv", [first[3], first[1]]), "--no-refit")
        self.assertEqual(text, "2 answers; 17 rows labelled, 3 wait\n")
        second = self.ask("--batch", 5)
        waiting = [first[0], first[2], first[4]]
        same = lambda rows: [{name: value for name, value in q.items() if name != "why"} for q in rows]
        self.assertEqual(same(second[:3]), same(waiting))
        self.assertNotEqual(second[:3], waiting)  # described by the new model
        self.assertEqual(len({q["row"] for q in first + second}), 7)
        self.run_ok("tell", "lab", self.answers("d.csv", second[::-1]), "-q")
        report = json.loads(self.run_ok("ask", "lab", "--batch", 4, "--json"))
        self.assertEqual((report["labelled"], report["new"], len(report["pending"])), (22, 4, 4))
        self.assertEqual(set(report["pending"][0]), {"row", "round", "score", "epistemic", "aleatoric", "inputs", "why"})
        chosen = self.read_csv("lab/chosen.csv")
        self.assertEqual(list(np.isnan(chosen["y"])), [False] * 7 + [True] * 4)
        self.assertEqual(list(self.read_csv("lab/rounds.csv")["labelled"]), [15, 17, 22])

    def test_the_table_itself_can_be_filled_in_bit_by_bit(self):
        self.run_ok("ask", "lab", *self.begin, "--batch", 3, "-o", "todo.csv")
        with open(self.path("todo.csv")) as file:
            lines = file.read().splitlines()
        lines[2] += "1.5"
        with open(self.path("todo.csv"), "w") as file:
            file.write("\n".join(lines) + "\n")
        report = json.loads(self.run_ok("tell", "lab", "todo.csv", "--json"))
        self.assertEqual((report["told"], report["pending"], report["labelled"]), (1, 2, 16))
        self.assertEqual(report["fitted"]["rmse"], None)
        self.refuse("tell", "lab", "todo.csv", says="has its answer already")

    def test_an_output_that_would_replace_something_needed(self):
        def read(name):
            with open(self.path(name), "rb") as file:
                return file.read()

        for name in ("l.csv", "p.csv"):
            before = read(name)
            self.run_bad(2, "ask", "lab", *self.begin, "-o", name, says=f"'{name}' is read as well and would be overwritten")
            self.assertEqual(read(name), before)
        self.run_ok("ask", "lab", *self.begin, "--batch", 2, "-o", "todo.csv", "-q")
        for name in ("rounds.csv", "chosen.csv", "labelled.csv", "pool.csv", "test.csv", "aim.csv"):
            self.refuse("ask", "lab", "-o", f"lab/../lab/{name}", says="is a file of the campaign and would be overwritten")
        lines = read("todo.csv").decode().splitlines()
        with open(self.path("todo.csv"), "w") as file:
            file.write("\n".join([lines[0], lines[1] + "1.5", lines[2]]) + "\n")
        before = read("todo.csv")
        self.refuse("ask", "lab", "--batch", 2, "-o", "todo.csv", says=["was not told yet", "'dissent tell lab todo.csv' first"])
        self.assertEqual(read("todo.csv"), before)
        self.run_ok("tell", "lab", "todo.csv", "-q", "--no-refit")
        self.run_ok("ask", "lab", "--batch", 2, "-o", "todo.csv", "-q")

    def test_files_of_others_in_the_directory(self):
        os.mkdir(self.path("lab"))
        for name in ("labelled.csv", "pool.csv"):
            with open(self.path(f"lab/{name}"), "w") as file:
                file.write("theirs\n")
            self.run_bad(2, "ask", "lab", *self.begin, says=f"lab/{name}: is there and would be replaced")
            with open(self.path(f"lab/{name}")) as file:
                self.assertEqual(file.read(), "theirs\n")
            os.remove(self.path(f"lab/{name}"))
        self.ask(*self.begin, "--batch", 2)
        os.remove(self.path("lab/state.safetensors"))  # as if killed before the first state
        for name in ("model.safetensors", "rounds.csv", "chosen.csv"):
            os.remove(self.path(f"lab/{name}"))
        self.ask(*self.begin, "--batch", 2)

    def test_the_order_of_answers_does_not_matter(self):
        for directory, order in (("one", 1), ("two", -1)):
            asked = list(csv.DictReader(io.StringIO(self.run_ok("ask", directory, *self.begin, "--batch", 6))))
            for part in (asked[:2], asked[2:])[::order]:
                self.run_ok("tell", directory, self.answers("d.csv", part[::order]), "--no-refit", "-q")
        self.assertEqual(self.run_ok("ask", "one", "--batch", 6), self.run_ok("ask", "two", "--batch", 6))

    def test_mistakes(self):
        self.run_bad(2, "ask", "lab", says="lab: no campaign was begun here; asking with --labelled, --pool and --targets begins one")
        self.run_bad(2, "tell", "lab", "d.csv", says="no campaign was begun here")
        self.run_bad(2, "ask", "lab", *self.begin, "--batch", 41, says="--batch = 41; more rows than the pool has, which are 40")
        asked = self.ask(*self.begin, "--batch", 3)
        self.run_ok("tell", "lab", self.answers("d.csv", asked[:1]), "--no-refit", "-q")
        self.refuse("tell", "lab", "d.csv", says=f"d.csv: row {asked[0]['row']} has its answer already; a row is told once")
        twice = self.answers("twice.csv", [asked[1], asked[1]])
        self.refuse("tell", "lab", twice, says=f"lines 2 and 3 of the file both answer row {asked[1]['row']} of the pool")
        unknown = {**asked[1], "row": next(k for k in range(40) if str(k) not in [q["row"] for q in asked])}
        self.refuse("tell", "lab", self.answers("u.csv", [asked[1], unknown]), says=f"row {unknown['row']} was never asked")
        self.refuse("tell", "lab", self.answers("u.csv", [{**asked[1], "row": "1.5"}]), says="row 1.5 was never asked")
        self.refuse("tell", "lab", self.answers("u.csv", [{**asked[1], "row": ""}]), says="line 2 of the file has its targets, but")
        self.refuse("ask", "lab", "--inputs", "a", says="lab: the campaign keeps its tables and columns")
        nan = self.answers("n.csv", asked[1:], lambda q: float("nan"))
        self.refuse("tell", "lab", nan, says=f"row {asked[1]['row']} is told nan; answers must be finite")
        for name, text, says in (("c.csv", "row,z\n1,2\n", "has no column 'y'"), ("r.csv", "y\n2\n", "no column 'row'"),
                                 ("t.csv", f"row,y\n{asked[1]['row']},many\n", "'many' is text"),
                                 ("e.csv", f"row,y\n{asked[1]['row']},\n", "no row has its targets filled in")):
            with open(self.path(name), "w") as file:
                file.write(text)
            self.refuse("tell", "lab", name, says=says)
        self.refuse("learn", "lab", "--problem", "hetero", says="lab: the campaign was begun")
        with open(self.path("p.csv"), "a") as file:
            file.write("S40,1,1,\n")
        self.refuse("ask", "lab", *self.begin, says="begun with other data")
        self.refuse("ask", "lab", "--candidates", 9, says="--candidates = 9; fewer than the --batch of 10")
        self.refuse("ask", "lab", "-o", "todo.txt", says="--output: 'todo.txt' must end in .csv")
        self.refuse("ask", "lab", "--acquisition", "lk", says="acquisition 'lk' is not known")

    def test_names_that_clash(self):
        with open(self.path("p.csv"), "w") as file:
            file.write("row,a,b\n1,2,3\n")
        self.assertEqual(list(self.ask(*self.begin, "--batch", 1)[0]), ["row_", "row", "a", "b", "why", "y"])

    def test_what_may_be_chosen_is_kept(self):
        conditions = ("--require", "a<1", "--exclude", "sample=S3", "--exclude", "note=\"old, cold\"", "--skip-outliers")
        first = self.ask(*self.begin, *conditions, "--batch", 4)
        second = self.ask("--batch", 8)
        self.assertEqual(second[:4], first)
        for q in second:
            self.assertTrue(float(q["a"]) < 1 and q["sample"] != "S3" and q["note"] == "", q)
        last = self.ask("--batch", 40, "-q")
        self.assertEqual(len(last), sum(r[0] < 1 and k % 3 > 0 for k, r in enumerate(rows(40, 2))))
        self.run_ok("tell", "lab", self.answers("d.csv", last), "-q", "--no-refit")
        self.refuse("ask", "lab", says="no row may be chosen: none of the ")
        self.refuse("ask", "lab", "--exclude", "simple=S3", says="has no column 'simple'; did you mean 'sample'?")
        more = self.ask("--require", "", "--batch", 40, "-q")  # lifts it
        self.assertTrue(more and all(float(q["a"]) >= 1 for q in more))
        self.assertEqual(self.ask(*self.begin, "--batch", 40, "-q"), more)  # the same tables
        self.run_bad(2, "ask", "other", *self.begin, "--require", "a<-9", says="p.csv: no row meets --require a<-9: column 'a' has ")
        self.run_bad(2, "ask", "other", *self.begin, "--require", "a<0,a>0", says="--batch = 10; more rows than may be "
                     "chosen, which are 0 of the pool's 40")

    def test_an_aim_and_costs_are_kept(self):
        np.savetxt(self.path("aim.csv"), rows(5, 3), delimiter=",", header="b,a,z", comments="", fmt="%r")
        begin = (*self.begin, "-a", "aim", "--aim", "aim.csv", "--cost", "c")
        with open(self.path("p.csv")) as file:
            lines = file.read().splitlines()
        with open(self.path("p.csv"), "w") as file:
            file.write("".join(f"{line},{'c' if k == 0 else 1 + k % 3}\n" for k, line in enumerate(lines)))
        first = self.ask(*begin, "--batch", 3)
        for q in first:
            self.assertRegex(q["why"], rf"; adds \S+ nats about the aim; costs {q['c']}, \S+ nats per unit of cost\Z")
        with open(self.path("lab/aim.csv")) as file:
            self.assertEqual(file.readline(), "a,b\n")
        os.remove(self.path("aim.csv"))
        self.assertEqual(len(self.ask("--batch", 5)), 5)
        np.savetxt(self.path("aim.csv"), rows(5, 4), delimiter=",", header="b,a,z", comments="", fmt="%r")
        self.refuse("ask", "lab", *begin, says="the campaign was begun with other data")
        self.refuse("ask", "lab", "--aim", "aim.csv", says="the campaign keeps its tables and columns; leave out")
        self.run_bad(2, "ask", "other", *self.begin, "-a", "kl", "--aim", "aim.csv", says="'kl' does not look at an aim")

    def test_a_column_that_the_table_to_fill_in_needs(self):
        with open(self.path("p.csv"), "w") as file:
            file.write("a,b,why\n1,2,so\n3,4,so\n")
        self.assertEqual(list(self.ask(*self.begin, "--batch", 1)[0]), ["row", "a", "b", "why", "why_", "y"])

    def test_the_pool_ends(self):
        asked = self.ask(*self.begin, "--batch", 38)
        self.run_ok("tell", "lab", self.answers("d.csv", asked), "-q")
        result = dissent("ask", "lab", "--batch", 10, cwd=self.dir)
        self.assertEqual(result.stderr, "the pool ends: only 2 of the 10 rows wanted are left to label\n")
        asked = self.ask("--batch", 10, "-q")
        self.assertEqual(len(asked), 2)
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.run_ok("tell", "lab", self.answers("d.csv", asked), "-q", "--no-refit")
        self.refuse("ask", "lab", says="lab: the pool is empty: every row of it has its answer")

    def test_given_options_replace_those_of_the_campaign(self):
        asked = self.ask(*self.begin, "--batch", 2)
        self.run_ok("tell", "lab", self.answers("d.csv", asked), "-q", "--components", 4)
        self.assertEqual(json.loads(self.run_ok("show", "lab/model.safetensors", "--json"))["components"], 4)
        self.ask("--batch", 2, "--acquisition", "random")
        self.assertEqual(json.loads(self.run_ok("show", "lab/model.safetensors", "--json"))["components"], 4)
        self.ask("--batch", 4, "--components", 2)
        self.assertEqual(json.loads(self.run_ok("show", "lab/model.safetensors", "--json"))["components"], 2)

    def test_the_same_value_written_otherwise_fits_nothing_again(self):
        asked = self.ask(*self.begin, "--batch", 2, "--learning-rate", "0.010")
        before = os.stat(self.path("lab/model.safetensors")).st_ino  # a fit replaces the file
        self.ask("--batch", 4, "--learning-rate", "1e-2", "--hidden", "8")
        self.assertEqual(os.stat(self.path("lab/model.safetensors")).st_ino, before)
        self.ask("--batch", 6, "--learning-rate", "2e-2")
        self.assertNotEqual(os.stat(self.path("lab/model.safetensors")).st_ino, before)
        self.assertEqual(len(asked), 2)

    def test_a_pool_with_a_value_too_far_to_compute_with(self):
        with open(self.path("p.csv"), "a") as file:
            file.write("S40,1,1e200,\n")
        os.mkdir(self.path("lab"))
        self.run_bad(2, "ask", "lab", *self.begin, says="p.csv: column 'b' row 41: '1e+200' is too far")

    def test_answers_and_options_that_cannot_be_are_not_kept(self):
        asked = self.ask(*self.begin, "--batch", 2)
        huge = self.answers("h.csv", asked, lambda q: 1e308)
        self.refuse("tell", "lab", huge, "--no-refit", says=[f"h.csv: row {asked[0]['row']} of ", "its label 'y' is 1e+308"])
        good = self.answers("d.csv", asked)
        self.refuse("tell", "lab", good, "--no-refit", "--weights", "0.5,0.5", says="weights")
        self.run_ok("tell", "lab", good, "-q")

    def test_a_diverging_loss_is_reported(self):
        result = dissent("ask", "lab", *self.begin, "--batch", 2, "--learning-rate", 1e9, "-q", cwd=self.dir)
        diverged = r"\Athe loss of components? [^\n]* diverged; [^\n]*\n\Z"
        self.assertRegex(result.stderr, diverged)
        asked = list(csv.DictReader(io.StringIO(result.stdout)))
        result = dissent("tell", "lab", self.answers("d.csv", asked), "-q", cwd=self.dir)
        self.assertRegex(result.stderr, diverged)

    def test_other_candidates_leave_the_acquisition(self):
        self.ask(*self.begin, "--batch", 2, "--acquisition", "random")
        self.ask("--batch", 4, "--candidates", 20)
        self.assertIn(b"random", self.state())

    def test_a_full_disk_keeps_what_was_there(self):
        asked = self.ask(*self.begin, "--batch", 2)
        answers = self.answers("d.csv", asked)
        before = self.state()
        limit = (resource.RLIMIT_FSIZE, 300)
        result = dissent("tell", "lab", answers, cwd=self.dir, limit=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertEqual(self.state(), before)
        self.run_ok("tell", "lab", answers, "-q")

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "w") as full:
            result = dissent("ask", "lab", *self.begin, "--batch", 2, cwd=self.dir, stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output: write failed", result.stderr)
        self.assertEqual(len(self.ask("--batch", 2)), 2)

    def test_two_at_a_time(self):
        self.ask(*self.begin, "--batch", 2)
        os.mkfifo(self.path("slow.csv"))
        lock = subprocess.Popen(["flock", self.path("lab/lock"), "cat", self.path("slow.csv")], stdout=subprocess.PIPE)
        with open(self.path("slow.csv"), "w"):  # opens when the lock is held
            self.refuse("ask", "lab", says="lab: another process is at work on this campaign")
        lock.communicate()
