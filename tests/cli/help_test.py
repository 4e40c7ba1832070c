"""Help, version, lists, pipes and terminals."""

import json
import os
import pty
import subprocess
import unittest

import numpy as np

from support import PROGRAM, CliTest, dissent, mixture


def commands(*path):
    """Every command, and those below it: ("score",), ..., ("policy", "train")."""
    text = dissent(*path, "--help").stdout
    if "Commands:\n" not in text:
        return []
    names = [line.split()[0] for line in text.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    return [found for name in names for found in [(*path, name), *commands(*path, name)]]


class Help(CliTest):
    def test_every_command_has_help_with_an_example(self):
        for command in (("score",), ("estimators",), ("collect",), ("policy",), ("policy", "train")):
            self.assertIn(command, commands())
        self.assertIn("dissent score", self.run_ok("--help"))
        self.assertEqual(self.run_ok("help"), self.run_ok("--help"))
        self.run_bad(2, "help", "scor", says="'scor' is not a command; did you mean 'score'?")
        for command in commands():
            for asked in ((*command, "--help"), (*command, "-h"), ("help", *command)):
                text = self.run_ok(*asked)
                name = " ".join(command)
                self.assertIn(f"Usage: dissent {name}", text)
                self.assertIn(f"Examples:\n  dissent {name}", text)
                self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_version(self):
        self.assertRegex(self.run_ok("--version"), r"\Adissent \d+\.\d+\.\d+\n\Z")

    def test_estimators(self):
        rows = json.loads(self.run_ok("estimators", "--json"))["estimators"]
        names = [row["name"] for row in rows]
        for name in ("kl", "bhattacharyya", "chernoff:A", "epkl", "mc:K", "quadrature", "bounds", "refine:K"):
            self.assertIn(name, names)
        self.assertEqual(set(rows[0]), {"name", "bound", "cost", "formula"})
        self.assertEqual({row["name"]: row["bound"] for row in rows}["kl"], "upper")
        lines = self.run_ok("estimators").splitlines()
        self.assertEqual([line.split()[0] for line in lines[: len(names) + 1]], ["name"] + names)
        column = lines[0].index("formula")
        for row, line in zip(rows, lines[1:]):
            self.assertEqual(line[column:], row["formula"])


class Pipes(CliTest):
    def test_a_closed_pipe_is_quiet(self):
        mean, stddev = mixture(50000, m=2, d=1)
        self.save(mean=mean, stddev=stddev)
        child = subprocess.Popen([PROGRAM, "score", "in.npz", "-o", "-"], cwd=self.dir, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), b"index,epistemic,aleatoric,total,log_deficit\n")
        child.stdout.close()
        self.assertEqual(child.stderr.read(), b"")
        child.stderr.close()
        self.assertEqual(child.wait(), -13)  # SIGPIPE

    def run_on_terminal(self, *arguments):
        """What appears on standard error when that is a terminal."""
        terminal, other = pty.openpty()
        child = subprocess.Popen([PROGRAM, *arguments], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=other,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(other)
        seen = b""
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            seen += data
        os.close(terminal)
        self.assertEqual(child.wait(), 0)
        return seen.decode()

    def test_progress_is_drawn_on_a_terminal_only_and_wiped(self):
        mean, stddev = mixture(3000)  # three steps of 1024 inputs, the most that mc takes at a time
        self.save(mean=mean, stddev=stddev)
        arguments = ["score", "in.npz", "-e", "mc:20"]
        seen = self.run_on_terminal(*arguments)
        self.assertRegex(seen, r"score \[#*-+\] +\d+ %, \d+ s left")
        self.assertTrue(seen.endswith("\r\x1b[K"))
        self.assertEqual(self.run_on_terminal(*arguments, "--quiet"), "")


class Example(CliTest):
    """The shipped example is what its program makes, and the demonstration runs."""

    examples = os.environ["DISSENT_EXAMPLES"]

    def test_it_can_be_made_again(self):
        subprocess.run([os.environ["DISSENT_MAKE_ENSEMBLE"], self.dir], check=True)
        shipped = np.load(os.path.join(self.examples, "ensemble.npz"))
        made = np.load(self.path("ensemble.npz"))
        self.assertEqual(shipped.files, made.files)
        for name in shipped.files:
            np.testing.assert_allclose(made[name], shipped[name], rtol=1e-6, atol=1e-6)
        self.assertEqual(shipped["mean"].shape, (161, 5, 1))

    def test_demo(self):
        path = os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]
        result = subprocess.run(["bash", os.path.join(self.examples, "demo.sh")], text=True,
                                capture_output=True, env={**os.environ, "PATH": path, "DISSENT_DEMO_ROUNDS": "2",
                                                          "DISSENT_DEMO_PAGE": self.path("page.html")})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("b  random  3 models", result.stdout)
        self.assertIn("161 inputs, 5 components, 1 output", result.stdout)
        self.assertIn("o: measured", result.stdout)
        self.assertRegex(result.stdout, r"Measure next at x = -?\d\.\d\d \(input \d+, \d\.\d\d nats\)")
        last = result.stdout.splitlines()[-1]
        if os.path.exists(self.path("page.html")):
            self.assertEqual(last, "Look at it in a browser: " + self.path("page.html"))
            with open(self.path("page.html"), encoding="utf-8") as file:
                self.assertIn("<h1>Study demo</h1>", file.read())
        else:
            self.assertRegex(last, "There is no page to look at: .*built without")


if __name__ == "__main__":
    unittest.main()
