"""Grids of small campaigns, and workers to kill."""

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
    def grid(self, name="small.toml", rounds=3, epochs=20, last=1):
        with open(self.path(name), "w") as file:
            file.write(GRID.format(rounds=rounds, epochs=epochs, last=last))
        return name

    def status(self, store):
        return json.loads(self.run_ok("study", "status", store, "--json"))["studies"][0]["campaigns"]

    def export(self, store, *options):
        """The rows, without what changes from run to run."""
        rows = csv.DictReader(io.StringIO(self.run_ok("study", "export", store, *options)))
        return [{name: value for name, value in row.items() if name not in CHANGING} for row in rows]

    def all_results(self, store):
        return self.export(store), self.export(store, "--choices")

    def unbroken(self, grid):
        """What one process that nobody disturbs finds."""
        self.run_ok("study", "run", grid, "--store", "sqlite:unbroken.db", "--quiet")
        return self.all_results("sqlite:unbroken.db")

    def worker(self, grid, store, *options, lease=1, launcher=()):
        command = [*launcher, PROGRAM, "study", "run", grid, "--store", store, "--lease", str(lease), *options]
        child = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def kill_amid_a_campaign(self, store, processes):
        """Kills one of the processes when it has recorded a round of a campaign and not the last; the campaign."""

        def held():
            for cell in self.status(store):
                process = int(cell["worker"].split(":")[-3]) if cell["worker"] else 0
                if cell["state"] == "running" and cell["rounds"] > 0 and (not processes or process in processes):
                    return cell["name"], process
            return None

        def stopped():
            found = held()
            if found is None:
                return None
            os.kill(found[1], signal.SIGSTOP)
            if held() == found:
                return found
            os.kill(found[1], signal.SIGCONT)
            return None

        name, process = wait_for(stopped, "a campaign that has begun")
        os.kill(process, signal.SIGKILL)
        return name, process

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
