"""dissent collect and dissent policy: files that others read, the same bytes again, and what is refused."""

import json
import os
import resource
import signal
import subprocess
import unittest

import numpy as np

from campaign_support import QUICK
from support import PROGRAM, CliTest, dissent

MODELS = os.path.join(os.path.dirname(__file__), "../../data/models")

try:
    import h5py
except ImportError:
    h5py = None

NO_MUJOCO = "libmujoco-dev" in dissent("policy", "evaluate", "hopper", "--policy", "random", "--episodes", 1).stderr
NO_HDF5 = "libhdf5-dev" in dissent("collect", "pendulum", "--rows", 1, "--output", "none/x.h5").stderr


class Collect(CliTest):
    @unittest.skipIf(NO_MUJOCO or NO_HDF5, "built without MuJoCo or HDF5")
    @unittest.skipIf(h5py is None, "needs python3-h5py")
    def test_h5py_reads_what_was_promised(self):
        rows = 20000
        text = self.run_ok("collect", "hopper", "--policy", "mixed:0.1", "--rows", rows, "--output", "hopper.h5")
        self.assertRegex(text, r"\Ahopper: 20000 rows in \d+ episodes of mixed:0\.1, .*\nwrote hopper\.h5\n\Z")
        with h5py.File(self.path("hopper.h5")) as file:
            shapes = {"observations": (rows, 11), "actions": (rows, 3), "rewards": (rows,),
                      "next_observations": (rows, 11), "terminals": (rows,), "timeouts": (rows,)}
            self.assertEqual(set(file), {*shapes, "infos"})
            data = {name: file[name][()] for name in shapes}
            expert = file["infos/expert"][()]
            attributes = dict(file.attrs)
        for name, shape in shapes.items():
            self.assertEqual(data[name].shape, shape)
            self.assertEqual(data[name].dtype, bool if name in ("terminals", "timeouts") else np.float32)
            self.assertTrue(np.isfinite(data[name]).all())
        self.assertEqual((expert.dtype, expert.sum()), (bool, rows // 10))
        self.assertFalse(expert[: rows - rows // 10].any(), "random rows come first")
        self.assertLessEqual(np.abs(data["actions"]).max(), 1)
        self.assertEqual((attributes["problem"], attributes["policy"]), ("hopper", "mixed:0.1"))
        self.assertEqual((attributes["rows"], attributes["seed"]), (rows, 0))
        self.assertEqual((attributes["model"], attributes["mujoco_version"]), ("built-in", "2.2.2"))
        self.assertRegex(attributes["policy_digest"], r"\A[0-9a-f]{16}\Z")
        # Within an episode the next observation is that of the next row; between episodes it is not.
        ends = (data["terminals"] | data["timeouts"])[:-1]
        follows = (data["next_observations"][:-1] == data["observations"][1:]).all(1)
        np.testing.assert_array_equal(follows, ~ends)
        self.assertEqual(attributes["episodes"], ends.sum() + 1)
        self.assertGreater(data["rewards"][expert].mean(), data["rewards"][~expert].mean() + 1)

    def same_on_any_number_of_threads(self, problem, rows, ending):
        files = []
        for threads in (1, 2):
            name = f"{threads}{ending}"
            self.run_ok("collect", problem, "-p", "mixed:0.3", "-n", rows, "--threads", threads, "-o", name, "-q")
            with open(self.path(name), "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.run_ok("collect", problem, "-p", "mixed:0.3", "-n", rows, "--seed", 1, "-o", "other" + ending, "-q")
        with open(self.path("other" + ending), "rb") as file:
            self.assertNotEqual(files[0], file.read())

    def test_threads(self):
        self.same_on_any_number_of_threads("pendulum", 1000, ".csv")
        self.same_on_any_number_of_threads("pendulum", 1000, ".npz")

    @unittest.skipIf(NO_MUJOCO or NO_HDF5, "built without MuJoCo or HDF5")
    def test_threads_hopper(self):
        self.same_on_any_number_of_threads("hopper", 3000, ".h5")

    def test_formats_agree(self):
        for ending in (".csv", ".npz"):
            self.run_ok("collect", "pendulum", "-p", "mixed:0.5", "-n", 500, "-o", "p" + ending, "--quiet")
        arrays = np.load(self.path("p.npz"))
        table = self.read_csv("p.csv")
        self.assertEqual(arrays["observations"].shape, (500, 3))
        self.assertEqual(arrays["expert"].sum(), 250)
        for k in range(3):
            for name in ("observation", "next_observation"):
                np.testing.assert_array_equal(table[f"{name}_{k}"].astype("f4"), arrays[name + "s"][:, k])
        np.testing.assert_array_equal(table["action_0"].astype("f4"), arrays["actions"][:, 0])
        np.testing.assert_array_equal(table["expert"], arrays["expert"])

    def test_one_dimensional(self):
        self.run_ok("collect", "hetero", "--rows", 400, "--output", "h.npz")
        self.run_ok("collect", "hetero", "--rows", 400, "--output", "h.csv")
        arrays = np.load(self.path("h.npz"))
        self.assertEqual(arrays.files, ["x", "y"])
        np.testing.assert_array_equal(self.read_csv("h.csv")["y"], arrays["y"])
        self.assertEqual(arrays["x"].shape, (400,))

    def test_json_and_quiet(self):
        out = json.loads(self.run_ok("collect", "pendulum", "-n", 450, "--seed", 3, "-o", "p.npz", "--json"))
        self.assertEqual(list(out), ["version", "problem", "policy", "rows", "episodes", "unstable", "statistics",
                                     "seed", "rows_per_second", "output"])
        self.assertEqual((out["rows"], out["episodes"], out["unstable"], out["seed"]), (450, 3, 0, 3))
        self.assertEqual((out["statistics"]["mean_steps"], out["statistics"]["expert_share"]), (150, 0))
        out = json.loads(self.run_ok("collect", "bimodal", "-n", 5, "-o", "b.csv", "--json"))
        self.assertIsNone(out["statistics"])
        self.assertEqual((out["policy"], out["episodes"], out["output"]), (None, None, "b.csv"))
        self.assertEqual(self.run_ok("collect", "pendulum", "-n", 5, "-o", "p.npz", "--quiet"), "")

    def test_a_variants_expert_swings(self):
        found = {}
        for name in ("pendulum", "pendulum:swing"):
            out = json.loads(self.run_ok("collect", name, "-p", "mixed:0.5", "-n", 4000, "-o", "p.npz", "--json"))
            found[name] = dict(np.load(self.path("p.npz")), **out["statistics"])
        plain, swing = found["pendulum"], found["pendulum:swing"]
        np.testing.assert_array_equal(plain["observations"][:2000], swing["observations"][:2000])
        self.assertEqual((plain["expert_share"], swing["expert_share"]), (0.5, 0.5))
        self.assertEqual(np.diff(np.flatnonzero(swing["timeouts"][2000:])).tolist(), [20] * 99)
        self.assertGreater(np.abs(swing["observations"][2000::20, 2]).max(), 7)
        self.assertLess(swing["upright"], plain["upright"] / 3)

    def refuse(self, *arguments, says, code=2):
        self.run_bad(code, "collect", *arguments, says=says)

    def test_refused(self):
        for arguments, says in (
            (["hoper", "-n", 5, "-o", "x.npz"], "problem 'hoper' is not known; did you mean 'hopper'?"),
            (["walker", "-n", 5, "-o", "x.npz"], "problem 'walker' is not known (known: hetero"),
            (["pendulum", "-n", 5, "-o", "x.txt"], ["x.txt", "must be .h5, .hdf5, .npz or .csv"]),
            (["hetero", "-n", 5, "-o", "x.h5"], ["x.h5", ".csv or .npz"]),
            (["hetero", "-n", 5, "-o", "x.csv", "-p", "expert"], "neither --policy nor --model"),
            (["pendulum", "-n", 5, "-o", ""], "empty"),
            (["pendulum", "-n", 5], "--output is required"),
            (["pendulum", "-o", "x.npz"], "--rows is required"),
            (["pendulum", "-n", 0, "-o", "x.npz"], "= 0; it must be a whole number"),
            (["pendulum", "-n", "1e3", "-o", "x.npz"], "--rows = 1e3; it must be a whole number"),
            (["pendulum", "-n", 5, "-o", "x.npz", "-p", "expret"], "did you mean 'expert'?"),
            (["pendulum", "-n", 5, "-o", "x.npz", "-p", "mixed:1.5"], "not a share of expert rows in [0, 1]"),
            (["pendulum", "-n", 5, "-o", "x.npz", "-p", "none.txt"], "none.txt"),
            (["pendulum", "-n", 5, "-o", "x.npz", "-p", "./"], "./: cannot be read: is a directory"),
            (["pendulum", "-n", 5, "-o", "x.npz", "--model", "none.xml"], "closed form"),
            (["pendulum", "-n", 5, "-o", "x.npz", "-p", "./x.npz"], "'x.npz' is read as well"),
            (["hopper", "-n", 5, "-o", "x.npz", "--model", "../{}/x.npz"], "'x.npz' is read as well"),
        ):
            with self.subTest(arguments):
                self.refuse(*(str(a).format(os.path.basename(self.dir)) for a in arguments), says=says)
        self.refuse("pendulum", "-n", 5, "-o", "none/x.npz", says=["none/x.npz", "create it first"], code=1)

    def test_an_output_that_cannot_be_written_is_found_before_the_work(self):
        # At this number of rows the work would take hours and far more memory than there is.
        os.mkdir(self.path("folder.npz"))
        self.refuse("pendulum", "-n", 10**9, "-o", "folder.npz", says="folder.npz")
        self.refuse("pendulum", "-n", 10**9, "-o", "none/x.npz", says="none/x.npz", code=1)

    def model(self, name, old, new):
        with open(os.path.join(MODELS, "hopper.xml")) as source, open(self.path(name), "w") as file:
            text = source.read()
            self.assertIn(old, text)
            file.write(text.replace(old, new, 1))
        return name

    @unittest.skipIf(NO_MUJOCO, "built without MuJoCo")
    def test_diverged_episodes_are_told_also_when_quiet(self):
        strong = self.model("strong.xml", 'gear="200"', 'gear="2e7"')
        command = ("collect", "hopper", "-n", 200, "--model", strong, "-o", "x.npz")
        for quiet in ([], ["-q"]):
            result = dissent(*command, *quiet, cwd=self.dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"\A\d+ episodes ended because the simulation diverged; .*\n\Z")
            self.assertEqual(result.stdout == "", bool(quiet))
        self.assertGreater(json.loads(self.run_ok(*command, "--json"))["unstable"], 10)

    @unittest.skipIf(NO_MUJOCO, "built without MuJoCo")
    def test_a_model_that_fails_when_run_is_bad_input(self):
        self.model("small.xml", "<worldbody>", '<size nstack="300"/><worldbody>')
        self.refuse("hopper", "-n", 1000, "--model", "small.xml", "-o", "x.npz", says=["small.xml: ", "MuJoCo"])

    def test_an_interrupt_while_writing_leaves_no_file(self):
        child = subprocess.Popen([PROGRAM, "collect", "pendulum", "-n", "1000000", "-q", "-o", "x.csv"], cwd=self.dir)
        def written():
            with os.scandir(self.dir) as entries:
                return sum(entry.stat().st_size for entry in entries)
        while child.poll() is None:
            try:
                if written() > 0:
                    break
            except FileNotFoundError:
                pass  # the first temporary only proves that one can be made
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(), -signal.SIGINT)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_full_disk_leaves_no_file(self):
        limit = (resource.RLIMIT_FSIZE, 4096)
        self.run_bad(1, "collect", "pendulum", "-n", 5000, "-o", "x.npz", says="x.npz", limit=limit)


class Cache(CliTest):
    def learn(self, directory, problem):
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        return ("learn", directory, "--problem", problem, "--rounds", 1, "-q", *QUICK), {"env": environment}

    def test_a_problem_is_collected_once(self):
        files = []
        for directory in ("a", "b"):
            command, options = self.learn(directory, "pendulum")
            self.run_ok(*command, **options)
            self.assertEqual(list(self.read_csv(f"{directory}/rounds.csv")["labelled"]), [200, 210])
            files.append([(entry.name, entry.inode()) for entry in os.scandir(self.path("cache/dissent/problems"))])
        self.assertEqual(len(files[0]), 1)
        self.assertRegex(files[0][0][0], r"\Apendulum-[0-9a-f]{16}\.npz\Z")
        self.assertEqual(files[0], files[1])

    def test_a_cache_that_cannot_be_written(self):
        with open(self.path("cache"), "w") as file:
            file.write("in the way")
        command, options = self.learn("out", "pendulum")
        self.run_bad(1, *command, says=["cache/dissent", "set XDG_CACHE_HOME"], **options)

    def test_what_is_in_the_way_of_the_campaign_is_found_before_collecting(self):
        with open(self.path("file"), "w") as file:
            file.write("in the way")
        command, options = self.learn("file", "pendulum")
        self.run_bad(2, *command, says="file: cannot be used as a directory: it is a file", **options)
        self.assertFalse(os.path.exists(self.path("cache")))

    @unittest.skipIf(NO_HDF5, "built without HDF5")
    def test_a_truncated_file(self):
        self.run_ok("collect", "pendulum", "-n", 300, "-q", "-o", "p.h5")
        size = os.path.getsize(self.path("p.h5"))
        os.truncate(self.path("p.h5"), size // 2)
        command, options = self.learn("out", "./p.h5")
        self.run_bad(2, *command, says="p.h5: the HDF5 file is cut short or damaged", **options)


class Policy(CliTest):
    def test_evaluate(self):
        text = self.run_ok("policy", "evaluate", "pendulum", "--json")
        out = json.loads(text)
        self.assertEqual(list(out), ["version", "environment", "policy", "episodes", "mean_return", "standard_error",
                                     "lowest_return", "highest_return", "mean_steps", "full_episodes", "unstable",
                                     "seed"])
        self.assertEqual((out["episodes"], out["full_episodes"], out["mean_steps"]), (20, 20, 200))
        self.assertTrue(-400 < out["lowest_return"] <= out["mean_return"] <= out["highest_return"] <= 0)
        self.assertEqual(text, self.run_ok("policy", "evaluate", "pendulum", "--json", "--threads", 1))
        random = json.loads(self.run_ok("policy", "evaluate", "pendulum", "--policy", "random", "--json"))
        self.assertLess(random["mean_return"], out["mean_return"] - 500)
        self.assertRegex(self.run_ok("policy", "evaluate", "pendulum", "-n", 3), r"over 3 episodes\n3 lasted the full")
        self.assertEqual(float(self.run_ok("policy", "evaluate", "pendulum", "-q")), out["mean_return"])

    def test_draw(self):
        self.assertEqual(self.run_ok("policy", "draw", "pendulum", "-o", "p.svg"), "wrote p.svg\n")
        with open(self.path("p.svg")) as file:
            self.assertIn("<svg", file.read(200))
        out = json.loads(self.run_ok("policy", "draw", "pendulum", "-o", "p.svg", "--json"))
        self.assertEqual(list(out), ["version", "environment", "policy", "seed", "output"])
        self.assertEqual(self.run_ok("policy", "draw", "pendulum", "-o", "p.svg", "-q"), "")

    def test_refused(self):
        for arguments, says in (
            ([], "a command is needed: train, evaluate, draw"),
            (["trian"], ["did you mean 'train'?", "dissent policy --help"]),
            (["--jsno"], "'--jsno' is not an option"),
            (["evaluate"], "ENVIRONMENT is required"),
            (["evaluate", "hoper"], "did you mean 'hopper'?"),
            (["evaluate", "hetero"], "environment 'hetero' is not known"),
            (["evaluate", "pendulum", "-p", "none.txt"], "none.txt"),
            (["evaluate", "pendulum", "-n", 0], "= 0; it must be a whole number"),
            (["evaluate", "pendulum", "-p", "mixed:0.1"], ["'mixed:0.1'", "random, expert or a policy's file"]),
            (["draw", "pendulum", "-o", "p.svg", "--first", 201], "ended before step 201"),
            (["draw", "pendulum", "-o", "p.png"], ["p.png", ".svg"]),
            (["draw", "pendulum", "-o", "p.svg", "-p", "./p.svg"], "'p.svg' is read as well"),
            (["draw", "pendulum", "-o", "p.svg", "--azimuth", "x"], "--azimuth = x; it must be a finite number"),
            (["train", "hoper", "-o", "p.txt"], "did you mean 'hopper'?"),
            (["train", "pendulum", "-o", "p.txt", "--top", 9], "--top: 9 directions are more than the 8"),
            (["train", "pendulum", "-o", "p.txt", "--observe", 4], "--observe: 4 entries are more than the 3"),
            (["train", "pendulum", "-o", "p.txt", "--directions", 1, "--step-size", "1e308"], "no longer finite"),
            (["train", "pendulum", "-o", "p.txt", "--noise", 0], "must be > 0"),
            (["train", "pendulum", "-o", "p.txt", "--noise", "nan"], "--noise = nan; it must be a finite number"),
            (["train", "pendulum", "-o", "p.txt", "--start", "none.txt"], "none.txt"),
            (["train", "pendulum", "-o", "p.txt", "--start", "."], ".: cannot be read: is a directory"),
            (["train", "pendulum", "-o", "p.txt", "--checkpoint", "./p.txt"], "'p.txt' is written as well"),
            (["train", "pendulum", "-o", "p.txt", "--start", "./p.txt"], "'p.txt' is read as well"),
            (["train", "pendulum", "-o", "p.txt", "--start", "p.txt.state"], "'p.txt.state' is read as well"),
        ):
            with self.subTest(arguments):
                self.run_bad(2, "policy", *arguments, says=says)
        self.run_bad(1, "policy", "train", "pendulum", "-o", "none/p.txt", says="none/p.txt")


class Train(CliTest):
    settings = ["--directions", 2, "--top", 1, "--evaluate-every", 1, "--evaluation-episodes", 1,
                "--checkpoint-every", 1, "--seed", 4]

    def train(self, folder, iterations, *more):
        os.makedirs(self.path(folder), exist_ok=True)
        return self.run_ok("policy", "train", "pendulum", "-n", iterations, *self.settings,
                           "-o", f"{folder}/p.txt", *more)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def stop(self, sent):
        """Stops a training without end by a signal after its first iteration; returns how far its state got."""
        os.mkdir(self.path("stopped"))
        command = ["policy", "train", "pendulum", "-n", 10**9, *self.settings, "-o", "stopped/p.txt"]
        child = subprocess.Popen([PROGRAM, *map(str, command)], cwd=self.dir, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.assertRegex(child.stdout.readline(), r"\Aiteration +1 ")
        child.send_signal(sent)
        _, errors = child.communicate()
        self.assertEqual(child.returncode, -sent)
        self.assertFalse(os.path.exists(self.path("stopped/p.txt")))
        return int(self.read("stopped/p.txt.state").splitlines()[2].split()[0]), errors

    def resumes(self, iterations):
        out = json.loads(self.train("stopped", iterations, "--json"))
        self.assertEqual(list(out), ["version", "environment", "mean_return", "iterations", "steps", "resumed", "seed",
                                     "output"])
        self.assertEqual((out["iterations"], out["resumed"]), (iterations, True))
        whole = json.loads(self.train("whole", iterations, "--json", "--threads", 1))
        self.assertEqual((whole["resumed"], whole["mean_return"]), (False, out["mean_return"]))
        self.assertEqual(self.read("stopped/p.txt"), self.read("whole/p.txt"))

    def test_killed_and_resumed_it_ends_with_the_same_bytes(self):
        iterations, _ = self.stop(signal.SIGKILL)
        self.resumes(iterations + 2)

    def test_interrupted_it_saves_its_state_and_says_how_to_go_on(self):
        iterations, errors = self.stop(signal.SIGINT)
        self.assertEqual(errors, f"stopped after iteration {iterations}; the same command goes on from "
                                 "stopped/p.txt.state\n")
        self.resumes(iterations + 2)

    def test_other_settings_do_not_resume(self):
        self.train("a", 1, "--quiet")
        self.run_bad(2, "policy", "train", "pendulum", "-n", 2, *self.settings, "--noise", 0.5, "-o", "a/p.txt",
                     says="a/p.txt.state")

    def test_fewer_iterations_do_not_relabel_a_longer_training(self):
        self.train("a", 3, "--quiet")
        before = self.read("a/p.txt")
        self.run_bad(2, "policy", "train", "pendulum", "-n", 2, *self.settings, "-o", "a/p.txt",
                     says=["a/p.txt.state", "at iteration 3 already"])
        self.assertEqual(self.read("a/p.txt"), before)
        self.assertTrue(self.train("a", 4).startswith("a/p.txt.state: going on after iteration 3\niteration     4 "))

    def test_few_directions_are_all_followed(self):
        self.run_ok("policy", "train", "pendulum", "-n", 1, "--directions", 3, "-o", "p.txt", "-q")
        self.assertIn("--directions 3 --top 3 ", self.read("p.txt"))

    def test_the_policy_is_a_policy(self):
        text = self.train("a", 2)
        self.assertRegex(text, r"\Aiteration +1 .*\niteration +2 .* steps/s\nbest mean return .*\nwrote a/p.txt\n\Z")
        self.assertIn("# dissent policy train pendulum --iterations 2 --directions 2 ", self.read("a/p.txt"))
        self.run_ok("policy", "evaluate", "pendulum", "--policy", "a/p.txt", "-n", 2)
        self.run_ok("collect", "pendulum", "--policy", "a/p.txt", "-n", 100, "-o", "p.npz")
        self.assertEqual(np.load(self.path("p.npz"))["expert"].sum(), 100)

    @unittest.skipIf(NO_MUJOCO, "built without MuJoCo")
    def test_hopper(self):
        text = self.run_ok("policy", "train", "hopper", "--euler", "-n", 2, *self.settings, "-o", "p.txt")
        self.assertIn("after 2 iterations", text)
        self.run_ok("policy", "evaluate", "hopper", "--policy", "p.txt", "-n", 2)


if __name__ == "__main__":
    unittest.main()
