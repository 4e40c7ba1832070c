"""Tables of a few rows and models fitted in milliseconds, for the tests of campaigns."""

import csv
import io
import subprocess

import numpy as np

from support import PROGRAM, CliTest, dissent

QUICK = ("--model", "pne", "--epochs", 20, "--hidden", 8, "--components", 3)
LABEL = """awk -F, 'NR == 1 { print "y"; next } { print $1 * 3 + $2 }'"""


def rows(count, seed):
    generator = np.random.default_rng(seed)
    x = generator.uniform(-2, 2, (count, 2))
    return np.column_stack([x, 3 * x[:, 0] + x[:, 1]])


class CampaignTest(CliTest):
    def table(self, name, count, seed, header="a,b,y"):
        data = rows(count, seed)[:, : header.count(",") + 1]
        np.savetxt(self.path(name), data, delimiter=",", header=header, comments="", fmt="%r")
        return name

    def tables(self):
        return ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("p.csv", 60, 2), "--test",
                self.table("t.csv", 40, 3), "--targets", "y")

    def learn(self, directory, *arguments, tables=None, batch=4, quick=QUICK):
        tables = self.tables() if tables is None else tables
        return ("learn", directory, *tables, "--batch", batch, *quick, *arguments)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def result(self, directory):
        """All that must be the same however a campaign was disturbed: everything but the seconds."""
        rounds = [line.split(",")[:6] for line in self.read(f"{directory}/rounds.csv").decode().splitlines()]
        return rounds, self.read(f"{directory}/chosen.csv"), self.read(f"{directory}/model.safetensors")

    def start(self, *arguments, **options):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def refuse(self, *arguments, says, code=2, **options):
        self.run_bad(code, *arguments, says=says, **options)


class ConditionsTest(CampaignTest):
    """With a pool of 40 rows at the sites A, B and C that take an hour or two."""

    def setUp(self):
        super().setUp()
        self.table("l.csv", 15, 1)
        with open(self.path("p.csv"), "w") as file:
            file.write("a,b,y,site,hours\n")
            for k, (a, b, y) in enumerate(rows(40, 2).tolist()):
                file.write(f"{a!r},{b!r},{y!r},{'ABC'[k % 3]},{1 + k % 2}\n")
        self.begin = ("--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", *QUICK)

    def asked(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.run_ok("ask", "lab", *arguments, "-q"))))

    def says(self, *arguments):
        result = dissent(*arguments, cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr


class AskTest(CampaignTest):
    """Asking and telling in the directory lab, with a pool of 40 rows."""

    def setUp(self):
        super().setUp()
        self.table("l.csv", 15, 1)
        self.pool_table("p.csv", 40, 2)
        self.begin = ("--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", "--inputs", "a,b", *QUICK)

    def pool_table(self, name, count, seed):
        """With a name for people, and a note that is missing here and there."""
        with open(self.path(name), "w") as file:
            file.write("sample,a,b,note\n")
            for k, row in enumerate(rows(count, seed)):
                note = "" if k % 3 else '"old, cold"'
                file.write(f"S{k},{float(row[0])!r},{float(row[1])!r},{note}\n")

    def ask(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.run_ok("ask", "lab", *arguments))))

    def answers(self, name, questions, value=lambda q: 3 * float(q["a"]) + float(q["b"])):
        with open(self.path(name), "w") as file:
            file.write("y,row\n" + "".join(f"{value(q)!r},{q['row']}\n" for q in questions))
        return name

    def state(self):
        return self.read("lab/state.safetensors")

    def refuse(self, *arguments, says, **options):
        before = self.state()
        self.run_bad(2, *arguments, says=says, **options)
        self.assertEqual(self.state(), before)
