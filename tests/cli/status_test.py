"""dissent status and export: where a campaign stands, and all of it in one file."""

import csv
import fcntl
import json
import os
import random
import shutil
import time

import numpy as np

from campaign_support import AskTest, CampaignTest, LABEL, QUICK
from support import dissent


class Status(AskTest):
    def setUp(self):
        super().setUp()
        self.asked = self.ask(*self.begin, "--batch", 5)

    def test_what_waits_and_why(self):
        self.run_ok("tell", "lab", self.answers("d.csv", self.asked[:2]), "--drop", self.asked[4]["row"], "-q")
        text = self.run_ok("status", "lab")
        self.assertIn("lab: 17 rows labelled (15 given, 2 told), 2 wait, 1 dropped\npool: 35 of 40 rows left\n", text)
        for q in self.asked[2:4]:
            self.assertRegex(text, rf"  row {q['row']} of round 1 waits since \d{{4}}-\d\d-\d\d \d\d:\d\d \(\d+ s\): .*components say")
        self.assertIn(f"  row {self.asked[4]['row']} was dropped on ", text)
        self.assertRegex(text, r"chosen_epistemic 0\.\d+ at 15 rows labelled")  # there are no test rows
        self.assertIn("1 round; one takes", text)
        report = json.loads(self.run_ok("status", "lab", "--json"))
        self.assertEqual((report["labelled"], report["given"], report["told"], report["extra"]), (17, 15, 2, 0))
        self.assertEqual([row["row"] for row in report["pending"]], [int(q["row"]) for q in self.asked[2:4]])
        self.assertRegex(report["pending"][0]["asked"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
        self.assertEqual(report["pending"][0]["why"], self.asked[2]["why"])
        self.assertEqual((report["pool"], report["pool_left"], len(report["rounds"])), (40, 35, 1))
        self.assertEqual(report["fitted"]["labelled"], 17)

    def test_the_model_after_the_last_answers_is_shown(self):
        self.run_ok("ask", "tested", *self.begin, "--test", self.table("t.csv", 40, 3), "--batch", 5, "-o", "tested.csv", "-q")
        with open(self.path("tested.csv")) as file:
            asked = list(csv.DictReader(file))
        told = json.loads(self.run_ok("tell", "tested", self.answers("d.csv", asked), "--json"))
        fitted = json.loads(self.run_ok("status", "tested", "--json"))["fitted"]
        self.assertEqual(fitted["labelled"], told["labelled"])
        text = self.run_ok("status", "tested")
        self.assertRegex(text, rf"(?m)^ .*15 .*{fitted['labelled']}")

    def test_it_changes_nothing_and_waits_for_nobody(self):
        before = {name: self.read(f"lab/{name}") for name in ("state.safetensors", "chosen.csv", "rounds.csv", "lock")}
        with open(self.path("lab/lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.run_ok("status", "lab")
            self.run_ok("export", "lab")
        self.assertEqual({name: self.read(f"lab/{name}") for name in before}, before)

    def test_mistakes(self):
        self.run_bad(2, "status", "nowhere", says="nowhere: no campaign was begun here")
        self.run_bad(2, "export", "nowhere", says="nowhere: no campaign was begun here")
        self.run_bad(2, "status", "lab", "--metric", "rsme", says="did you mean 'rmse'?")
        self.run_bad(2, "export", "lab", "-o", "all.txt", says="must end in .csv or .json")
        for name, text in (("mine.csv", "source,round,row,x,asked,told,why\nme,,,1,,,\n"), ("mine.json", "{}")):
            with open(self.path(name), "w") as file:
                file.write(text)
            self.run_bad(2, "export", "lab", "-o", name, says=f"{name}: is there and is no export of a campaign")
            self.assertEqual(self.read(name).decode(), text)
        self.run_bad(2, "export", "lab", "-o", "lab/chosen.csv", says="is a file of the campaign and would be overwritten")

    def test_what_is_no_campaign_is_not_replaced_by_reading(self):
        os.remove(self.path("lab/state.safetensors"))
        for command in ("status", "export"):
            self.run_bad(2, command, "lab", says="lab: no campaign was begun here")
        self.run_bad(2, "ask", "lab", *self.begin, says="it would be replaced, so give another directory")

    def test_a_copy_that_was_changed(self):
        text = self.read("lab/pool.csv").decode()
        with open(self.path("lab/pool.csv"), "w") as file:
            file.write(text.replace("S7,", "S8,"))
        for command in (("status",), ("export",), ("report", "-o", "r.md", "--format", "md")):
            self.run_bad(2, *command, "lab", says="lab/pool.csv: was changed after the campaign was begun")

    def test_a_whole_campaign(self):
        self.run_ok("tell", "lab", self.answers("d.csv", self.asked[:3]), "--drop", self.asked[3]["row"], "-q")
        with open(self.path("e.csv"), "w") as file:
            file.write("a,b,y\n0.125,0.25,0.625\n")
        self.run_ok("tell", "lab", "e.csv", "--extra", "-q")
        self.assertEqual(self.run_ok("export", "lab", "-o", "rows.csv"), "rows.csv: 19 labelled rows, 1 round\n")
        with open(self.path("rows.csv")) as file:
            exported = list(csv.DictReader(file))
        self.assertEqual([row["source"] for row in exported], ["given"] * 15 + ["chosen"] * 3 + ["extra"])
        self.assertEqual(list(exported[0]), ["source", "round", "row", "a", "b", "y", "sample", "note", "score", "epistemic",
                                             "aleatoric", "asked", "told", "why"])
        for row, q in zip(exported[15:18], self.asked):
            self.assertEqual([row[name] for name in ("row", "a", "b", "sample", "note", "why")],
                             [q[name] for name in ("row", "a", "b", "sample", "note", "why")])
            self.assertEqual(float(row["y"]), 3 * float(q["a"]) + float(q["b"]))
        self.assertEqual([exported[18][name] for name in ("row", "round", "a", "b", "y")], ["", "", "0.125", "0.25", "0.625"])
        self.run_ok("fit", "rows.csv", "--targets", "y", "--inputs", "a,b", "-o", "m.safetensors", "--model", "pne", "--epochs", 5, "-q")
        self.run_ok("export", "lab", "-o", "whole.json", "-q")
        whole = json.loads(self.read("whole.json"))
        self.assertEqual((len(whole["rows"]), len(whole["rounds"]), whole["dropped"], whole["pending"]),
                         (19, 1, [int(self.asked[3]["row"])], [int(self.asked[4]["row"])]))
        self.assertEqual(whole["settings"]["epochs"], 20)
        self.assertEqual(self.run_ok("export", "lab"), self.read("rows.csv").decode())
        for name in ("rows.csv", "whole.json"):  # an export may be replaced
            self.run_ok("export", "lab", "-o", name, "-q")


class Killed(AskTest):
    def test_tell_is_one_step(self):
        """Killed at any moment, the same command again ends with the same bits."""
        asked = self.ask(*self.begin, "--batch", 4)
        with open(self.path("e.csv"), "w") as file:
            file.write(f"row,a,b,y\n,0.125,0.25,0.625\n{asked[0]['row']},,,1.5\n")
        shutil.copytree(self.path("lab"), self.path("begun"))
        command = ("tell", "lab", "e.csv", "--extra", "--drop", asked[3]["row"])
        start = time.monotonic()
        self.run_ok(*command, "-q")
        seconds = time.monotonic() - start
        shutil.move(self.path("lab"), self.path("calm"))
        generator = random.Random(1)
        for _ in range(8):
            shutil.copytree(self.path("begun"), self.path("lab"))
            process = self.start(*command)
            time.sleep(generator.uniform(0, seconds))
            process.kill()
            process.communicate()
            again = dissent(*command, cwd=self.dir)
            if again.returncode != 0:  # it was done
                self.assertIn("has its answer already", again.stderr)
                self.run_ok("ask", "lab", "--batch", 1, "-q")
            for name in ("model.safetensors", "chosen.csv"):
                self.assertEqual(self.read(f"lab/{name}"), self.read(f"calm/{name}"))
            shutil.rmtree(self.path("lab"))


class Learned(CampaignTest):
    def test_one_round_is_a_number(self):
        self.run_ok("ask", "one", *self.tables(), *QUICK, "--batch", 2, "-q")
        text = self.run_ok("status", "one")
        self.assertRegex(text, r"\nlog_likelihood -?[0-9.e+-]+ at 15 rows labelled\n")
        self.assertNotIn("over the number of labelled rows", text)

    def test_a_campaign_with_an_oracle(self):
        self.run_ok(*self.learn("out", "--oracle", LABEL, "--rounds", 2, "-q"))
        text = self.run_ok("status", "out")
        self.assertIn("out: 23 rows labelled (15 given, 8 told), 0 wait, 0 dropped\n", text)
        self.assertIn("log_likelihood over the number of labelled rows", text)
        report = json.loads(self.run_ok("status", "out", "--json"))
        self.assertEqual((report["command"], report["pool"], len(report["rounds"])), ("learn", None, 3))
        self.assertTrue(np.isfinite(report["rounds"][0]["rmse"]))
        self.run_bad(2, "export", "out", says="begun by learn, which keeps no copies of its tables")
