"""Nothing is lost or mixed up: an output is never an input, a campaign at work keeps to its own directory, and no
file is opened that was not given."""

import os
import re
import signal
import unittest

import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

from campaign_support import LABEL, QUICK, CampaignTest
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
    "export": (["export", "lab", "-o", "OUTPUT"], ["lab/pool.csv"], ".csv"),
    "report": (["report", "m.model", "--table", "t.csv", "-o", "OUTPUT"], ["m.model", "t.csv"], ".html"),
    "collect": (["collect", "pendulum", "-n", 5, "--policy", "./policy.txt", "--model", "robot.xml", "-o", "OUTPUT"],
                ["policy.txt", "robot.xml"], ".csv"),
    "policy train": (["policy", "train", "pendulum", "--start", "policy.txt", "-o", "OUTPUT"], ["policy.txt"], ".txt"),
    "study export": (["study", "export", "sqlite:runs.db", "-o", "OUTPUT"], ["runs.db"], ".csv"),
    "policy draw": (["policy", "draw", "pendulum", "--policy", "./policy.txt", "-o", "OUTPUT"], ["policy.txt"], ".svg"),
    "study show": (["study", "show", "r.csv", "-o", "OUTPUT"], ["r.csv"], ".csv"),
}
# Others that write: more than one output, or more than one way to read.
MORE = [
    (["predict", "m.model", "d.csv", "--mixture", "OUTPUT"], ["m.model", "d.csv"], ".npz"),
    (["suggest", "--pool", "p.csv", "--fitted", "m.model", "-o", "OUTPUT"], ["p.csv", "m.model"], ".csv"),
    (["suggest", "--mixture", "mean.npy,stddev.npy", "-o", "OUTPUT"], ["mean.npy", "stddev.npy"], ".csv"),
    (["suggest", "--mixture", "e.npz", "-o", "OUTPUT"], ["e.npz"], ".csv"),
    (["score", "mean.npy,stddev.npy", "-o", "OUTPUT"], ["mean.npy", "stddev.npy"], ".npy"),
    (["report", "d.csv", "-o", "OUTPUT"], ["d.csv"], ".html"),
    (["report", "sqlite:d.csv", "-o", "OUTPUT"], ["d.csv"], ".html"),
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
        for name, text in {"w.csv": "w\n0.25\n0.25\n0.5\n", "policy.txt": "no policy", "robot.xml": "no robot",
                           "runs.db": "no store", "r.csv": "no rounds"}.items():
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
        self.run_ok("ask", "lab", "--labelled", "d.csv", "--pool", "p.csv", "--targets", "y", *QUICK, "-o", "a.csv", "-q")
        for command, reads, ending in [*COMMANDS.values(), *MORE]:
            with self.subTest(command=command):
                self.check(command, reads, ending)

    def test_every_command_that_writes_is_tried(self):
        found = set()
        listed = self.run_ok("--help").split("Commands:")[1].split("Exit codes")[0]
        commands = [[name] for name in re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)]
        for command in [*commands, ["policy", "train"], ["policy", "evaluate"], ["policy", "draw"],
                        ["study", "export"], ["study", "show"]]:
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


class HeldTest(CampaignTest):
    """A campaign at work, whose oracle waits at a gate until the test has done its worst."""

    def setUp(self):
        super().setUp()
        self.unlabelled = ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("q.csv", 60, 2, "a,b"),
                           "--targets", "y")
        self.gate = self.path("gate")
        os.mkfifo(self.gate)

    def begin(self, oracle):
        return self.start(*self.learn("out", "--rounds", 2, "-q", "--oracle", oracle, tables=self.unlabelled))

    def at_work(self):
        return self.begin(f"cat {self.gate} >/dev/null; {LABEL}")

    def contents(self, directory):
        return {name: self.read(f"{directory}/{name}") for name in os.listdir(self.path(directory))}

    def ends(self, child, says):
        _, error = child.communicate()
        self.assertEqual(child.returncode, 1, error)
        self.assertRegex(error, r"\Adissent learn: [^\n]+\n\Z")
        self.assertIn(says, error)

    def test_a_directory_that_was_renamed(self):
        child = self.at_work()
        with open(self.gate, "w"):  # opens when the oracle reads
            os.rename(self.path("out"), self.path("old"))
            self.run_ok(*self.learn("out", "--rounds", 1, "-q", "--seed", 5))
            before = {name: self.contents(name) for name in ("old", "out")}
        self.ends(child, "out: the campaign's directory was moved, removed or replaced while a process was at work on it")
        self.assertEqual({name: self.contents(name) for name in ("old", "out")}, before)
        # Under its new name it goes on from what was saved.
        self.run_ok(*self.learn("old", "--rounds", 2, "-q", "--oracle", LABEL, tables=self.unlabelled))
        self.run_ok(*self.learn("whole", "--rounds", 2, "-q", "--oracle", LABEL, tables=self.unlabelled))
        self.assertEqual(self.result("old"), self.result("whole"))

    def test_a_directory_that_was_removed(self):
        child = self.at_work()
        with open(self.gate, "w"):
            for name in os.listdir(self.path("out")):
                os.remove(self.path(f"out/{name}"))
            os.rmdir(self.path("out"))
        self.ends(child, "was moved, removed or replaced")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_lock_that_was_removed(self):
        child = self.at_work()
        with open(self.gate, "w"):
            os.remove(self.path("out/lock"))
            second = self.learn("out", "--rounds", 2, "-q", "--oracle", LABEL, tables=self.unlabelled)
            self.refuse(*second, says="out: another process is at work on this campaign")
            before = self.contents("out")
        self.ends(child, "out/lock: was removed or replaced")
        self.assertEqual(self.contents("out"), before)
        self.run_ok(*second)

    def test_signals_end_what_the_oracle_started(self):
        for wanted in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            # A grandchild of the shell holds the pipe open until it ends.
            child = self.begin(f"(echo here; sleep 1000) > {self.gate} & sleep 1000")
            with open(self.gate) as pipe:
                self.assertEqual(pipe.readline(), "here\n")
                child.send_signal(wanted)
                self.assertEqual(pipe.read(), "")
            child.communicate()
            self.assertEqual(child.returncode, -wanted)
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", "--oracle", LABEL, tables=self.unlabelled))
        self.run_ok(*self.learn("whole", "--rounds", 2, "-q", "--oracle", LABEL, tables=self.unlabelled))
        self.assertEqual(self.result("out"), self.result("whole"))


@unittest.skipUnless(h5py, "python3-h5py is not installed")
class OtherFilesTest(CampaignTest):
    """HDF5 files whose columns lie in other files, among them a pipe at which a reader would wait for ever."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("pipe"))
        self.new("other.h5").close()

    def new(self, name):
        file = h5py.File(self.path(name), "w")
        for column, seed in (("a", 1), ("y", 2)):
            file[column] = np.random.default_rng(seed).normal(size=20)
        return file

    def refused(self, add, says='"b" is in another file, and no other file is opened; copy it into this one'):
        with self.new("in.h5") as file:
            add(file)
        self.refuse("fit", "in.h5", "--targets", "y", *QUICK, "-o", "m", says=f"in.h5: {says}", timeout=60)
        self.refuse("learn", "out", "--labelled", "in.h5", "--pool", "in.h5", "--targets", "y", *QUICK, says=says,
                    timeout=60)

    def test_a_link(self):
        for name in ("other.h5", "pipe", "/etc/passwd", "nothing.h5"):
            self.refused(lambda file, name=name: file.__setitem__("b", h5py.ExternalLink(name, "/a")))

    def test_a_link_behind_a_link(self):
        def add(file):
            file.create_group("group")["c"] = h5py.ExternalLink("pipe", "/a")
            file["b"] = h5py.SoftLink("/group/c")

        self.refused(add)

    def test_stored_elsewhere(self):
        for name in ("other.h5", "pipe", "/etc/passwd"):
            self.refused(lambda file, name=name: file.create_dataset("b", (20,), "u1", external=[(
                self.path(name), 0, 20)]))

    def test_composed_of_others(self):
        for name in ("other.h5", "pipe"):
            layout = h5py.VirtualLayout((20,), "f8")
            layout[:] = h5py.VirtualSource(self.path(name), "a", (20,))
            self.refused(lambda file, layout=layout: file.create_virtual_dataset("b", layout))

    def test_packed_by_a_library(self):
        def add(file):
            kind = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            kind.set_chunk((20,))
            kind.set_filter(32001, h5py.h5z.FLAG_OPTIONAL)
            h5py.h5d.create(file.id, b"b", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((20,)), kind)

        self.refused(add, says='"b" is packed by filter 32001, which is not part of HDF5')

    def test_links_within_the_file_are_followed(self):
        with self.new("in.h5") as file:
            file.create_group("group")["c"] = file["a"][:] ** 2
            file["b"] = h5py.SoftLink("/group/c")
            file["d"] = file["a"]
        self.assertIn('"inputs":["a","b","d"]',
                      self.run_ok("fit", "in.h5", "--targets", "y", *QUICK, "-o", "m", "--json").replace(" ", "")
                      .replace("\n", ""))
