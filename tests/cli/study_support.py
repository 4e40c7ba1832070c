"""Grids of small campaigns, and workers to kill."""

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import time

from support import PROGRAM, CliTest, dissent

GRID = """name = "small"
rounds = {rounds}

[settings]
model = "pne"
epochs = {epochs}
hidden = [8]
components = 3
batch = 4
candidates = 200

[grid]
problem = "hetero"
acquisition = ["random", "kl"]
seed = "0-{last}"
"""
# Long enough for one of three workers to be caught in the middle.
LONG = {"rounds": 8, "epochs": 100, "last": 3}
# When and where a campaign ran, and how long it took: all that differs between two runs of a grid.
CHANGING = {"state", "worker", "version", "started", "changed", "fit_seconds", "score_seconds",
            "scoring_seconds", "asked", "told"}


def wait_for(condition, what, seconds=120):
    """Asks until the answer is true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s")


class StudyTest(CliTest):
    FOUND = {}  # results by the text of their grid

    def grid(self, name="small.toml", rounds=3, epochs=20, last=1):
        with open(self.path(name), "w") as file:
            file.write(GRID.format(rounds=rounds, epochs=epochs, last=last))
        return name

    def status(self, store):
        return json.loads(self.run_ok("study", "status", store, "--json"))["studies"][0]["campaigns"]

    def export(self, store, *options):
        """The rows, without what changes from run to run."""
        return [self.lasting(row) for row in csv.DictReader(io.StringIO(self.run_ok("study", "export", store, *options)))]

    def lasting(self, row):
        return {name: value for name, value in row.items() if name not in CHANGING}

    def all_results(self, store):
        return self.export(store), self.export(store, "--choices")

    def unbroken(self, grid):
        """What one process that nobody disturbs finds; run once for tests of the same grid."""
        with open(self.path(grid)) as file:
            text = file.read()
        if text not in self.FOUND:
            self.run_ok("study", "run", grid, "--store", "sqlite:unbroken.db", "--quiet")
            self.FOUND[text] = self.all_results("sqlite:unbroken.db")
        return self.FOUND[text]

    def worker(self, grid, store, *options, lease=1, launcher=()):
        command = [*launcher, PROGRAM, "study", "run", grid, "--store", store, "--lease", str(lease), *options]
        child = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def processes(self, store):
        """Of the campaigns that run: {process: (name, rounds)}."""
        return {int(cell["worker"].split(":")[-3]): (cell["name"], cell["rounds"])
                for cell in self.status(store) if cell["state"] == "running"}

    def kill_amid_a_campaign(self, store, processes=()):
        """Kills one of the processes, or of all that run, when it has recorded a round of a campaign and not the last;
        the campaign and the process. While it looks they hold still, so that none runs away."""

        def signal_all(number, those):
            for process in those:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)

        def caught():
            those = list(processes or self.processes(store))
            signal_all(signal.SIGSTOP, those)
            for process, (name, rounds) in self.processes(store).items():
                if process in those and rounds > 0:
                    os.kill(process, signal.SIGKILL)
                    signal_all(signal.SIGCONT, those)
                    return name, process
            signal_all(signal.SIGCONT, those)
            return None

        return wait_for(caught, "a campaign that has begun")

    def lose_one_of_three(self, store):
        """Kills one of three workers; the others complete the grid as one alone would have."""
        grid = self.grid(**LONG)
        expected = self.unbroken(grid)
        workers = [self.worker(grid, store, "--quiet") for _ in range(3)]
        wait_for(lambda: self.has_begun(store), "a store")
        name, process = self.kill_amid_a_campaign(store, [worker.pid for worker in workers])
        for worker in workers:
            self.assertEqual(worker.wait(120), -signal.SIGKILL if worker.pid == process else 0)
        heir = next(cell["worker"] for cell in self.status(store) if cell["name"] == name)
        self.assertNotEqual(int(heir.split(":")[-3]), process)
        self.check_complete(store, expected)

    def has_begun(self, store):
        """Whether a round of any campaign has been recorded."""
        run = dissent("study", "status", store, "--json", cwd=self.dir)  # fails while there is no store
        studies = json.loads(run.stdout)["studies"] if run.returncode == 0 else []
        return any(cell["rounds"] for study in studies for cell in study["campaigns"])

    def check_complete(self, store, expected):
        self.assertEqual({cell["state"] for cell in self.status(store)}, {"done"})
        self.assertEqual(self.all_results(store), expected)
