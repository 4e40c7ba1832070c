"""An output is never an input: one rule for every command that writes a file."""

import os
import re

import numpy as np

from campaign_support import QUICK, CampaignTest
from support import mixture

# For each command that has an output: how it is run, with the place of the output, and what it reads. Names that end
# as the output must are tried as they are; for the others the ending is refused first, and a link has the right one.
COMMANDS = {
    "fit": (["fit", "d.csv", "--targets", "y", *QUICK, "-o", "OUTPUT"], ["d.csv"], ".model"),
    "predict": (["predict", "m.model", "d.csv", "-o", "OUTPUT"], ["m.model", "d.csv"], ".csv"),
    "recalibrate": (["recalibrate", "m.model", "d.csv", "-o", "OUTPUT"], ["m.model", "d.csv"], ".model"),
    "suggest": (["suggest", "--labelled", "d.csv", "--pool", "p.csv", "--aim", "t.csv", "--targets", "y", *QUICK, "-o",
                 "OUTPUT"], ["d.csv", "p.csv", "t.csv"], ".csv"),
    "score": (["score", "e.npz", "--weights", "w.csv", "-o", "OUTPUT"], ["e.npz", "w.csv"], ".csv"),
    "ask": (["ask", "lab", "--labelled", "d.csv", "--pool", "p.csv", "--test", "t.csv", "--aim", "t.csv", "--targets",
             "y", *QUICK, "-o", "OUTPUT"], ["d.csv", "p.csv", "t.csv"], ".csv"),
    "collect": (["collect", "pendulum", "-n", 5, "--policy", "./policy.txt", "--model", "robot.xml", "-o", "OUTPUT"],
                ["policy.txt", "robot.xml"], ".csv"),
    "policy train": (["policy", "train", "pendulum", "--start", "policy.txt", "-o", "OUTPUT"], ["policy.txt"], ".txt"),
    "policy draw": (["policy", "draw", "pendulum", "--policy", "./policy.txt", "-o", "OUTPUT"], ["policy.txt"], ".svg"),
}
# Others that write: more than one output, or more than one way to read.
MORE = [
    (["predict", "m.model", "d.csv", "--mixture", "OUTPUT"], ["m.model", "d.csv"], ".npz"),
    (["suggest", "--pool", "p.csv", "--fitted", "m.model", "-o", "OUTPUT"], ["p.csv", "m.model"], ".csv"),
    (["suggest", "--mixture", "mean.npy,stddev.npy", "-o", "OUTPUT"], ["mean.npy", "stddev.npy"], ".csv"),
    (["suggest", "--mixture", "e.npz", "-o", "OUTPUT"], ["e.npz"], ".csv"),
    (["score", "mean.npy,stddev.npy", "-o", "OUTPUT"], ["mean.npy", "stddev.npy"], ".npy"),
    (["fit", "d.csv", "--targets", "y", *QUICK, "-o", "new", "--checkpoint", "OUTPUT"], ["d.csv"], ".state"),
    (["fit", "d.csv", "--targets", "y", *QUICK, "-o", "m.model", "--checkpoint", "OUTPUT"], ["m.model"], ".state"),
    (["policy", "train", "pendulum", "--start", "policy.txt", "-o", "new", "--checkpoint", "OUTPUT"], ["policy.txt"],
     ".state"),
]


class OutputTest(CampaignTest):
    def setUp(self):
        super().setUp()
        self.table("d.csv", 30, 1)
        self.table("p.csv", 30, 2)
        self.table("t.csv", 30, 3)
        mean, stddev = mixture(20, 3, 1)
        self.save("e.npz", mean=mean, stddev=stddev)
        self.save_array("mean.npy", mean)
        self.save_array("stddev.npy", stddev)
        for name, text in {"w.csv": "w\n0.25\n0.25\n0.5\n", "policy.txt": "no policy", "robot.xml": "no robot"}.items():
            with open(self.path(name), "w") as file:
                file.write(text)

    def save_array(self, name, array):
        np.save(self.path(name), array)

    def refused(self, command, name, output, says="would be overwritten"):
        before = self.read(name)
        self.refuse(*[output if word == "OUTPUT" else word for word in command], says=says)
        self.assertEqual(self.read(name), before)

    def check(self, command, reads, ending):
        for name in reads:
            if name.endswith(ending):
                self.refused(command, name, name)
                self.refused(command, name, f"./../{os.path.basename(self.dir)}/{name}")
            for link in (os.symlink, os.link):
                output = self.path(f"{link.__name__}{ending}")
                link(self.path(name), output)
                self.refused(command, name, output)
                os.remove(output)

    def test_is_never_an_input(self):
        self.run_ok("fit", "d.csv", "--targets", "y", *QUICK, "-o", "m.model", "-q")
        for command, reads, ending in [*COMMANDS.values(), *MORE]:
            with self.subTest(command=command):
                self.check(command, reads, ending)

    def test_every_command_that_writes_is_tried(self):
        found = set()
        listed = self.run_ok("--help").split("Commands:")[1].split("Exit codes")[0]
        commands = [[name] for name in re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)]
        for command in [*commands, ["policy", "train"], ["policy", "evaluate"], ["policy", "draw"]]:
            if "-o,--output" in self.run_ok(*command, "--help"):
                found.add(" ".join(command))
        self.assertEqual(found, set(COMMANDS))

    def test_of_two_outputs_is_two_files(self):
        self.refuse("fit", "d.csv", "--targets", "y", *QUICK, "-o", "m", "--checkpoint", "./m", says="would be overwritten")
        self.refuse("policy", "train", "pendulum", "-o", "p", "--checkpoint", "./p", says="would be overwritten")

    def test_an_old_output_is_replaced(self):
        for _ in range(2):
            self.run_ok("fit", "d.csv", "--targets", "y", *QUICK, "-o", "m.model", "-q")
            self.run_ok("predict", "m.model", "d.csv", "-o", "out.csv", "-q")
            self.run_ok("score", "e.npz", "-w", "w.csv", "-o", "scores.csv", "-q")


class CampaignFilesTest(CampaignTest):
    """What a campaign writes for itself is no output and no input of others."""

    OWN = ("state.safetensors", "model.safetensors", "rounds.csv", "chosen.csv", "lock")

    def test_are_no_inputs(self):
        self.run_ok(*self.learn("out", "--rounds", 1, "-q"))
        for name in self.OWN:
            os.link(self.path(f"out/{name}"), self.path("link"))
            for path in (f"out/{name}", f"./out/../out/{name}", "link"):
                for option in ("--labelled", "--pool", "--test", "--aim", "--problem"):
                    before = self.read(path)
                    self.refuse("learn", "out", option, path, says="is a file that the campaign writes for itself")
                    self.assertEqual(self.read(path), before)
                self.refuse("tell", "out", path, says="is a file that the campaign writes for itself")
            os.remove(self.path("link"))

    def test_are_no_outputs(self):
        begin = ("ask", "lab", *self.tables(), "--batch", 2, *QUICK)
        self.run_ok(*begin, "-q")
        for name in (*self.OWN, "labelled.csv", "pool.csv", "test.csv"):
            os.link(self.path(f"lab/{name}"), self.path("link.csv"))
            self.refuse("ask", "lab", "-o", "link.csv", says="is a file of the campaign and would be overwritten")
            os.remove(self.path("link.csv"))

    def test_own_tables_may_lie_in_its_directory(self):
        os.mkdir(self.path("out"))
        for name, seed in (("labelled.csv", 1), ("pool.csv", 2)):
            self.table(f"out/{name}", 20, seed)
        tables = ("--labelled", "out/labelled.csv", "--pool", "out/pool.csv", "--targets", "y")
        for _ in range(2):
            self.run_ok(*self.learn("out", "--rounds", 1, "-q", tables=tables))
