"""dissent learn: campaigns from end to end, what can go wrong with them, and kill -9 at any moment."""

import json
import os
import pty
import random
import resource
import signal
import stat
import subprocess
import time
import unittest

import numpy as np

from campaign_support import LABEL, QUICK, CampaignTest, rows
from support import PROGRAM, dissent

KILLS = 25  # of learn, and as many of ask and tell


class Learn(CampaignTest):
    def test_an_aim(self):
        aimed = lambda directory, aim, *more: self.learn(directory, "-a", "kl-aim", "--rounds", 2, "--aim", aim, "-q", *more)
        self.run_ok(*aimed("word", "test"))
        self.run_ok(*aimed("file", "t.csv"))
        self.assertEqual(self.result("word"), self.result("file"))
        self.run_ok(*self.learn("none", "-a", "kl-aim", "--rounds", 2, "-q"))
        self.assertNotEqual(self.result("word")[1], self.result("none")[1])
        self.refuse(*self.learn("word", "-a", "kl-aim", "--rounds", 3, "-q"), says="was begun with other data")
        self.refuse(*self.learn("new", "--aim", "test", "-a", "mc:5"),
                    says="acquisition 'mc:5' does not look at an aim; use one that does: ")
        self.run_ok("learn", "hetero", "--problem", "hetero", "-a", "aim", "--aim", "test", "--rounds", 1, "-q", *QUICK)
        self.refuse("learn", "other", "--problem", "hetero", "-a", "aim", "--aim", self.table("h.csv", 5, 1), "-q", *QUICK,
                    says="h.csv: has no column 'x'")

    def test_conditions(self):
        self.run_ok(*self.learn("out", "--rounds", 2, "--require", "a>0", "--exclude", "b>1", "-q"))
        chosen = self.read_csv("out/chosen.csv")
        self.assertEqual(len(chosen["a"]), 8)
        self.assertTrue((chosen["a"] > 0).all() and (chosen["b"] <= 1).all())
        self.refuse(*self.learn("out", "--rounds", 3, "--require", "a>1"),
                    says="the campaign was begun with --require = a>0 and cannot go on with --require = a>1")
        self.run_ok("learn", "hetero", "--problem", "hetero", "--require", "x>1", "--rounds", 1, "-a", "kl", "-q", *QUICK)
        self.assertTrue((self.read_csv("hetero/chosen.csv")["x"] > 1).all())

    def test_a_problem_with_other_data(self):
        quick = ("--acquisition", "random", "--model", "pne", "--rounds", 1, "--epochs", 2, "--batch", 3, "-q")
        for seed in (0, 1):
            self.run_ok("learn", f"s{seed}", "--problem", "hetero", "--data-seed", seed, *quick)
        first, other = (self.read_csv(f"s{seed}/chosen.csv") for seed in (0, 1))
        np.testing.assert_array_equal(first["row"], other["row"])  # of the same seed, from another pool
        self.assertFalse((first["x"] == other["x"]).any())
        self.refuse("learn", "s0", "--problem", "hetero", "--data-seed", 1, *quick, says="begun with other data")
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        for policy, share in (("random", 0), ("expert", 1)):
            self.run_ok("learn", policy, "--problem", "pendulum", "--pool-policy", policy, *quick, env=environment)
            self.assertEqual(self.read_csv(f"{policy}/rounds.csv")["expert_share"][0], share)
        self.refuse("learn", "x", "--problem", "hetero", "--pool-policy", "expert", says="no policy made the pool of 'hetero'")
        self.refuse(*self.learn("x", "--data-seed", 1), says="--data-seed and --pool-policy are for --problem")

    def test_a_campaign_on_tables(self):
        text = self.run_ok(*self.learn("out", "--rounds", 3))
        self.assertRegex(text, r"\A +round +labelled +rmse +log-likelihood +chosen epistemic +seconds\n +1 +15 ")
        self.assertIn("out: 3 rounds, 27 labelled rows", text)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["chosen.csv", "lock", "model.safetensors", "rounds.csv", "state.safetensors"])
        rounds = self.read_csv("out/rounds.csv")
        self.assertEqual(rounds.dtype.names, ("round", "labelled", "rmse", "rmse_paper", "log_likelihood",
                                              "chosen_epistemic", "fit_seconds", "score_seconds", "scoring_seconds",
                                              "expert_share"))
        np.testing.assert_array_equal(rounds["labelled"], [15, 19, 23, 27])  # the last model knows all labels
        np.testing.assert_array_equal(np.isnan(rounds["chosen_epistemic"]), [False, False, False, True])
        self.assertRegex(text, r"\n +4 +27 +[\d.]+ +[-\d.]+ +- +[\d.]+\nout: 3 rounds")
        chosen = self.read_csv("out/chosen.csv")
        np.testing.assert_array_equal(chosen["round"], np.repeat([1, 2, 3], 4))
        self.assertEqual(len(set(chosen["row"])), 12)
        pool = rows(60, 2)[chosen["row"].astype(int)]
        np.testing.assert_array_equal(np.column_stack([chosen["a"], chosen["b"], chosen["y"]]), pool)
        metrics = json.loads(self.run_ok("evaluate", "out/model.safetensors", "t.csv", "--json"))
        for name in ("rmse", "rmse_paper", "log_likelihood"):
            self.assertAlmostEqual(metrics[name], rounds[name][-1], places=9)

    def test_more_rounds_other_threads_and_json(self):
        self.run_ok(*self.learn("once", "--rounds", 4, "-q"))
        self.assertEqual(self.run_ok(*self.learn("twice", "--rounds", 2, "-q")), "")
        text = self.run_ok(*self.learn("twice", "--rounds", 4, "--threads", 2))
        self.assertIn("twice: going on with round 3\n", text)
        self.assertIn("twice: 4 rounds done before; more --rounds prolong it\n", self.run_ok(*self.learn("twice", "--rounds", 4)))
        self.assertEqual(self.result("once"), self.result("twice"))
        report = json.loads(self.run_ok(*self.learn("twice", "--rounds", 4, "--json")))
        self.assertEqual((report["labelled"], report["pool_left"], len(report["rounds"])), (31, 44, 5))
        self.assertEqual(report["rounds"][3]["labelled"], 27)
        self.assertEqual((report["rounds"][4]["labelled"], report["rounds"][4]["chosen_epistemic"]), (31, None))

    def test_problems(self):
        for problem in ("hetero", "bimodal"):
            self.run_ok("learn", problem, "--problem", problem, "--rounds", 2, "--seed", 3, "-q", *QUICK)
            rounds = self.read_csv(f"{problem}/rounds.csv")
            np.testing.assert_array_equal(rounds["labelled"], [100, 110, 120])
        collect = ("collect", "pendulum", "--policy", "random", "--rows", 400, "-q", "--output", "p.npz")
        self.run_ok(*collect)
        self.run_ok("learn", "pendulum", "--problem", "./p.npz", "--rounds", 1, "-q", *QUICK)
        self.assertEqual(list(self.read_csv("pendulum/rounds.csv")["labelled"]), [200, 210])
        self.refuse("learn", "x", "--problem", "heteros", says="did you mean 'hetero'?")

    def test_the_pool_ends(self):
        text = self.run_ok(*self.learn("out", "--rounds", 50, batch=25))
        self.assertIn("the pool is empty: the campaign ends after round 3 of 50", text)
        self.assertIn("75 labelled rows", text)

    def test_without_test_rows(self):
        tables = self.tables()
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", tables=tables[:4] + tables[6:]))
        self.assertEqual(self.read("out/rounds.csv").decode().splitlines()[1].split(",")[2:5], ["", "", ""])
        self.refuse("rounds", "out", says="log_likelihood is empty in every round, as in campaigns without test rows")
        self.assertIn("2 models", self.run_ok("rounds", "out", "--metric", "chosen_epistemic"))

    def test_an_oracle(self):
        tables = ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("q.csv", 60, 2, "a,b"), "--targets", "y")
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", "--oracle", LABEL, tables=tables))
        chosen = self.read_csv("out/chosen.csv")
        np.testing.assert_allclose(chosen["y"], 3 * chosen["a"] + chosen["b"], rtol=1e-4)
        self.refuse(*self.learn("new", tables=tables), says=["q.csv: has no column 'y'", "--oracle"])

    def test_oracles_that_fail_lose_nothing(self):
        tables = ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("q.csv", 60, 2, "a,b"), "--targets", "y")
        command = self.learn("out", "--rounds", 2, "-q", tables=tables)
        self.run_ok(*self.learn("whole", "--rounds", 2, "-q", "--oracle", LABEL, tables=tables))
        os.mkdir(self.path("out"))
        lost = "nothing is lost: 4 rows wait for labels, and the same command goes on"
        self.refuse(*command, "--oracle", "exit 7", says=["'exit 7': ended with exit code 7", lost])
        self.refuse(*command, "--oracle", "kill -9 $$", says=["killed by signal 9", lost])
        self.refuse(*command, "--oracle", "sleep 1000", "--oracle-timeout", 0.1, says=["did not end within 0.1 s", lost])
        self.refuse(*command, "--oracle", "echo y; echo 1", says=["has 1 row; it was asked for 4", lost])
        self.refuse(*command, "--oracle", "echo hello world", says=["has no column 'y'", lost])
        self.refuse(*command, "--oracle", "echo y; printf 'nan\\n1\\n2\\n3\\n'", says=["column 'y' row 1: 'nan' is not a finite number", lost])
        self.refuse(*command, "--oracle", "cat", says=["has no column 'y'", lost])
        self.run_ok(*command, "--oracle", LABEL)
        self.assertEqual(self.result("whole"), self.result("out"))

    def test_bad_input(self):
        tables = self.tables()
        learn = lambda *more, **replaced: self.learn("out", *more, tables=[replaced.get(str(t), t) for t in tables])
        self.refuse("learn", "out", says="there is no data: give --labelled, --pool and --targets, or --problem")
        self.refuse("learn", "out", "--labelled", "l.csv", "-t", "y", says="--pool is needed")
        self.refuse(*learn("--problem", "hetero"), says="--problem brings its own tables")
        self.refuse("learn", "out", "--problem", "hetero", "--inputs", "x", says="--problem brings its own tables")
        self.refuse(*self.learn("out", tables=tables, batch=61), says="--batch = 61; more rows than the pool has, which are 60")
        self.refuse(*learn("--acquisition", "lk"), says="acquisition 'lk' is not known")
        self.refuse(*learn("--candidates", "0"), says="--candidates = 0; it must be a whole number from 1")
        self.refuse(*learn("--oracle-timeout", "-1"), says="--oracle-timeout = -1; it must be a finite number >= 0")
        self.refuse(*learn("--oracle-timeout", "1"), says="--oracle-timeout is for --oracle, which is not given")
        self.refuse(*learn("--candidates", "3"), says="--candidates = 3; fewer than the --batch of 4")
        self.table("empty.csv", 0, 1)
        self.refuse(*learn(**{"p.csv": "empty.csv"}), says="empty.csv: has no rows")
        with open(self.path("inf.csv"), "w") as file:
            file.write("a,b,y\n1,2,3\n4,5,inf\n")
        self.refuse(*learn(**{"p.csv": "inf.csv"}), says="inf.csv: column 'y' row 2: 'inf' is not a finite number")
        self.table("other.csv", 60, 2, "a,c,y")
        self.refuse(*learn(**{"p.csv": "other.csv"}), says="other.csv: has no column 'b'")
        self.refuse(*learn(**{"t.csv": "other.csv"}), says="other.csv: has no column 'b'")
        self.table("one.csv", 1, 1)
        with self.subTest("a fit that cannot be"):
            os.mkdir(self.path("out"))
            self.refuse(*learn(**{"l.csv": "one.csv"}), says="one.csv: 1 row; at least 2 are needed")

    def test_only_the_same_campaign_goes_on(self):
        self.run_ok(*self.learn("out", "--rounds", 1, "-q"))
        self.refuse(*self.learn("out", "--seed", 1), says="begun with --seed = 0 and cannot go on with --seed = 1")
        self.refuse(*self.learn("out", "--acquisition", "random"),
                    says="begun with --acquisition = aim and cannot go on with --acquisition = random")
        # The flag says the opposite of what it switches, so that the switch goes by its own name.
        self.refuse(*self.learn("out", "--no-bootstrap"), says="begun with bootstrap on and cannot go on with bootstrap off")
        self.run_ok(*self.learn("rate", "--rounds", 1, "-q", "--learning-rate", "0.020"))
        self.run_ok(*self.learn("rate", "--rounds", 2, "-q", "--learning-rate", "2e-2", "--seed", "0"))  # the same
        before = self.read("out/state.safetensors")
        tables = self.tables()
        self.table("p.csv", 61, 2)
        self.refuse(*self.learn("out", tables=tables), says="begun with other data")
        self.assertEqual(self.read("out/state.safetensors"), before)

    def test_options_left_out_are_the_campaigns(self):
        self.run_ok(*self.learn("whole", "--rounds", 2, "-q", "--acquisition", "bhattacharyya", "--seed", 4))
        self.run_ok(*self.learn("out", "--rounds", 1, "-q", "--acquisition", "bhattacharyya", "--seed", 4))
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", quick=()))
        self.assertEqual(self.result("whole"), self.result("out"))
        report = json.loads(self.run_ok(*self.learn("out", "--rounds", 2, "--json", quick=())))
        self.assertEqual((report["acquisition"], report["seed"]), ("bhattacharyya", 4))

    def test_the_preset_of_the_paper(self):
        paper = ("--preset", "paper", "--epochs", 20, "--hidden", 8)
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", "--acquisition", "bait", quick=paper))
        self.run_ok(*self.learn("same", "--rounds", 2, "-q", "--acquisition", "bait", "--candidates", "paper", "--ranking",
                                "value", "--validation", 0, "--flow-hidden", 20, quick=paper))
        self.assertEqual(self.result("out"), self.result("same"))
        self.refuse(*self.learn("out", "--ranking", "deficit", quick=paper),
                    says="begun with --ranking = value and cannot go on with --ranking = deficit")
        self.refuse(*self.learn("new", "--ranking", "worth"), says="--ranking = worth; there are: deficit, value")
        self.refuse(*self.learn("new", "--bins", 5), says=["--bins = 5; --model pne has no flow", "leave it out"])

    def test_the_same_number_of_candidates_written_otherwise(self):
        self.run_ok(*self.learn("out", "--rounds", 1, "-q", "--candidates", "020"))
        self.run_ok(*self.learn("out", "--rounds", 2, "-q", "--candidates", "20"))

    def test_huge_numbers_keep_the_columns(self):
        tables = self.tables()
        for name in ("l.csv", "p.csv", "t.csv"):
            data = np.genfromtxt(self.path(name), delimiter=",", skip_header=1) * [1, 1, 1e12]
            np.savetxt(self.path(name), data, delimiter=",", header="a,b,y", comments="", fmt="%r")
        lines = self.run_ok(*self.learn("out", "--rounds", 1, tables=tables)).splitlines()
        self.assertEqual(len(lines[0]), len(lines[1]), lines)

    def test_directories_that_cannot_be_used(self):
        with open(self.path("file"), "w"):
            pass
        self.refuse(*self.learn("file"), says="file: cannot be used as a directory")
        os.mkdir(self.path("theirs"))
        with open(self.path("theirs/model.safetensors"), "w") as file:
            file.write("x")
        self.refuse(*self.learn("theirs"), says="has a file model.safetensors, but no campaign")
        if os.geteuid() != 0:
            os.mkdir(self.path("closed"), stat.S_IRUSR | stat.S_IXUSR)
            self.refuse(*self.learn("closed"), says="closed/lock: cannot be created", code=1)
        self.refuse(*self.learn("/proc/here"), says="/proc/here: cannot be used as a directory", code=1)

    def test_a_full_disk(self):
        self.run_ok(*self.learn("whole", "--rounds", 4, "-q"))
        self.run_ok(*self.learn("out", "--rounds", 1, "-q"))
        limit = os.path.getsize(self.path("out/state.safetensors")) + 20
        self.refuse(*self.learn("out", "--rounds", 4, "-q"), code=1, says=["safetensors", "File too large"],
                    limit=(resource.RLIMIT_FSIZE, limit))
        self.run_ok(*self.learn("out", "--rounds", 4, "-q"))
        self.assertEqual(self.result("whole"), self.result("out"))

    def test_two_at_a_time(self):
        tables = ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("q.csv", 60, 2, "a,b"), "--targets", "y")
        # The oracle waits until the test has tried its luck.
        gate = self.path("gate")
        os.mkfifo(gate)
        learn = self.learn("out", "--rounds", 1, "-q", "--oracle", f"cat {gate} >/dev/null; {LABEL}", tables=tables)
        first = self.start(*learn)
        with open(gate, "w"):  # opens when the oracle reads
            self.refuse(*learn, says="out: another process is at work on this campaign")
        self.assertEqual(first.communicate(), ("", ""))
        self.assertEqual(first.returncode, 0)

    def test_ctrl_c_saves_and_says_how_to_go_on(self):
        tables = ("--labelled", self.table("l.csv", 15, 1), "--pool", self.table("q.csv", 60, 2, "a,b"), "--targets", "y")
        self.run_ok(*self.learn("whole", "--rounds", 3, "-q", "--oracle", LABEL, tables=tables))
        gate = self.path("gate")
        os.mkfifo(gate)
        command = self.learn("out", "--rounds", 3, tables=tables)
        # A grandchild of the shell would hold the pipe open for long; it ends with the oracle.
        child = self.start(*command, "--oracle", f"(echo here; sleep 1000) > {gate} & sleep 1000")
        with open(gate) as pipe:
            self.assertEqual(pipe.readline(), "here\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(pipe.read(), "")  # ends when its last writer is gone
        _, error = child.communicate()
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertEqual(error, "stopped in round 1 of 3: the oracle was ended before it answered, and 4 rows wait for "
                                "labels; all else is saved, and the same command asks for them again\n")
        chosen = self.read("out/chosen.csv").decode().splitlines()
        self.assertEqual([line.split(",")[-1] for line in chosen], ["y"] + [""] * 4)
        self.assertIn("out: going on in round 1, in which 4 rows wait for labels\n",
                      self.run_ok(*command, "--oracle", LABEL))
        self.assertEqual(self.result("whole"), self.result("out"))

    def test_a_value_too_far_to_compute_with(self):
        tables = self.tables()
        os.mkdir(self.path("out"))
        for name, says in (("p.csv", "p.csv: column 'b' row 31: '1e+200'"), ("t.csv", "t.csv: column 'b' row 31: '1e+200'")):
            with open(self.path(name)) as file:
                text = file.read()
            lines = text.splitlines()
            lines[31] = "0.5,1e200,1"
            with open(self.path(name), "w") as file:
                file.write("\n".join(lines) + "\n")
            command = self.learn("out", "-q", tables=tables)
            self.refuse(*command, says=f"dissent learn: {says} is too far from the rows of the fit")
            with open(self.path(name), "w") as file:
                file.write(text)
            for left in os.listdir(self.path("out")):
                os.remove(self.path(f"out/{left}"))

    def test_a_diverging_loss_is_reported(self):
        result = dissent(*self.learn("out", "--rounds", 2, "-q", "--learning-rate", 1e9), cwd=self.dir)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertRegex(result.stderr, r"\Around 1: the loss of components? [^\n]* diverged; [^\n]*\nround 2: [^\n]*\nlast model: [^\n]*\n\Z")

    def test_progress_on_a_terminal(self):
        terminal, other = pty.openpty()
        command = self.learn("out", "--rounds", 3, quick=("--epochs", 400))
        child = subprocess.Popen([PROGRAM, *map(str, command)], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=other,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(other)
        seen = b""
        try:
            while data := os.read(terminal, 4096):
                seen += data
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        self.assertEqual(child.wait(), 0)
        self.assertRegex(seen.decode(), r"learn \[#*-+\] +\d+ %.*round \d/3")
        self.assertTrue(seen.endswith(b"\r\x1b[K"))


class Kills(CampaignTest):
    """kill -9 at any moment: the same command goes on, and the end is the same."""

    def kill_until_done(self, command, generator, seconds, kills):
        """Runs a command again and again, killed after a random time, at most `kills` times; then to its end."""
        for _ in range(kills):
            child = self.start(*command)
            try:
                output = child.communicate(timeout=generator.uniform(0, seconds))
                return child.returncode, output
            except subprocess.TimeoutExpired:
                child.kill()
                output = child.communicate()
                if child.returncode != -signal.SIGKILL:  # it ended just before
                    return child.returncode, output
                self.killed += 1
        child = self.start(*command)
        output = child.communicate()
        return child.returncode, output

    def setUp(self):
        super().setUp()
        self.killed = 0

    def test_learn(self):
        start = time.monotonic()
        rounds = 12
        self.run_ok(*self.learn("whole", "--rounds", rounds, "-q"))
        seconds = time.monotonic() - start
        generator = random.Random(1)
        campaign = 0
        while self.killed < KILLS:
            code, (_, error) = self.kill_until_done(self.learn(f"out{campaign}", "--rounds", rounds, "-q"), generator,
                                                    0.5 * seconds, KILLS - self.killed)
            self.assertEqual((code, error), (0, ""))
            self.assertEqual(self.result("whole"), self.result(f"out{campaign}"))
            self.assertEqual([f for f in os.listdir(self.path(f"out{campaign}")) if f.endswith(".tmp")], [])
            campaign += 1

    def answer(self, questions, name):
        """Fills in what was asked, in reverse order, all but the last row."""
        lines = questions.splitlines()
        table = [line.split(",") for line in lines[1:]]
        filled = [f"{r[0]},{3 * float(r[1]) + float(r[2])!r}" for r in table[:-1][::-1]]
        with open(self.path(name), "w") as file:
            file.write("row,y\n" + "".join(line + "\n" for line in filled))

    def laboratory(self, directory, run):
        """Three times ask and tell; `run` runs a command and returns what it printed."""
        questions = []
        for step in range(3):
            tables = self.tables() if step == 0 else ()
            questions.append(run("ask", directory, *tables, "--batch", 5, *QUICK))
            self.answer(questions[-1], "done.csv")
            run("tell", directory, "done.csv", "-q", *(["--no-refit"] if step == 1 else []))
        return questions

    def test_ask_and_tell(self):
        start = time.monotonic()
        whole = self.laboratory("whole", lambda *command: self.run_ok(*command))
        seconds = (time.monotonic() - start) / 6
        generator = random.Random(2)
        campaign = 0

        def run(*command):
            code, (output, error) = self.kill_until_done(command, generator, 1.2 * seconds, 3)
            if command[0] == "tell" and code == 2:  # killed after its last step: nothing was left to do
                self.assertIn("has its answer already", error)
            else:
                self.assertEqual((code, error), (0, ""))
            return output

        while self.killed < KILLS:
            directory = f"out{campaign}"
            self.assertEqual(self.laboratory(directory, run), whole)
            self.assertEqual(self.result("whole"), self.result(directory))
            campaign += 1


if __name__ == "__main__":
    unittest.main()
