"""Several workers on one store: one is killed, a server goes away, and the results are those of one unbroken process."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from postgresql_server import Server, server_programs
from study_support import LONG, StudyTest, wait_for
from support import PROGRAM, SANITIZED


class FileWorkers(StudyTest):
    def test_one_of_three_is_killed(self):
        self.lose_one_of_three("sqlite:runs.db")

    def test_a_break_releases_the_campaign(self):
        grid = self.grid(**LONG)
        worker = self.worker(grid, "sqlite:runs.db", "--quiet", lease=600)
        wait_for(lambda: self.has_begun("sqlite:runs.db"), "a round")
        worker.send_signal(signal.SIGINT)
        self.assertEqual(worker.wait(60), -signal.SIGINT)
        self.assertIn("the same command goes on from there", worker.stderr.read())
        self.assertNotIn("running", {cell["state"] for cell in self.status("sqlite:runs.db")})
        self.run_ok("study", "run", grid, "--store", "sqlite:runs.db", "--lease", 600, "--quiet")
        self.check_complete("sqlite:runs.db", self.unbroken(grid))

    def test_waiting_for_a_lost_worker_is_said(self):
        grid = self.grid(**LONG)
        lost = self.worker(grid, "sqlite:runs.db", lease=600)
        wait_for(lambda: self.has_begun("sqlite:runs.db"), "a round")
        name, process = self.kill_amid_a_campaign("sqlite:runs.db", [lost.pid])
        heir = self.worker(grid, "sqlite:runs.db", "--only", name)
        self.assertIn("results in sqlite:runs.db", heir.stdout.readline())
        self.assertRegex(heir.stdout.readline(), rf"\Awaiting for '{name}' of worker \S+:{process}: it is taken over at "
                                                 r"\d\d:\d\d:\d\d if that worker stays silent\n\Z")
        with contextlib.closing(sqlite3.connect(self.path("runs.db"), timeout=60)) as database, database:
            database.execute("UPDATE cell SET lease_end = 0 WHERE name = ?", (name,))
        output, errors = heir.communicate(timeout=120)
        self.assertEqual((heir.returncode, errors), (0, ""))
        self.assertRegex(output, rf"\A +\d of 8  {name}\n\Z")


@unittest.skipIf(server_programs() is None, "PostgreSQL is not installed")
@unittest.skipIf(SANITIZED, "what is sanitized is tested with a file")
class ServerWorkers(StudyTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def stop_server_amid(self, store, workers):
        """When a round has been recorded; workers hold still until the server is gone, lest they end before."""
        wait_for(lambda: self.has_begun(store), "a round")
        for worker in workers:
            worker.send_signal(signal.SIGSTOP)
        self.server.stop()
        for worker in workers:
            worker.send_signal(signal.SIGCONT)

    def test_one_of_three_is_killed(self):
        self.lose_one_of_three(self.server.make_database("killed"))

    def test_a_server_that_goes_away_is_waited_for(self):
        store = self.server.make_database("away")
        grid = self.grid(**LONG)
        workers = [self.worker(grid, store, "--quiet", lease=60) for _ in range(2)]
        self.stop_server_amid(store, workers)
        time.sleep(2)
        self.assertEqual([worker.poll() for worker in workers], [None, None])
        self.server.start()
        for worker in workers:
            self.assertEqual(worker.wait(120), 0, worker.stderr.read())
        self.check_complete(store, self.unbroken(grid))

    def test_a_break_while_the_server_is_away(self):
        store = self.server.make_database("broken")
        grid = self.grid(**LONG)
        worker = self.worker(grid, store, "--quiet")
        self.stop_server_amid(store, [worker])
        try:
            time.sleep(1)  # it may be at work; what it has found it cannot record
            worker.send_signal(signal.SIGINT)
            self.assertEqual(worker.wait(60), -signal.SIGINT)  # long before its patience ends
        finally:
            self.server.start()
        self.assertRegex(worker.stderr.read(), r"\Astopped; the step at hand is not recorded \(postgresql://dissent@/broken: "
                                               r"[^\n]*\), and the same command goes on from there\n\Z")
        self.run_ok("study", "run", grid, "--store", store, "--lease", 1, "--quiet")
        self.check_complete(store, self.unbroken(grid))

    def test_patience_ends(self):
        store = self.server.make_database("patience")
        grid = self.grid(**LONG)
        worker = self.worker(grid, store, "--quiet", "--patience", "0.5")
        self.stop_server_amid(store, [worker])
        try:
            self.assertEqual(worker.wait(60), 1)
        finally:
            self.server.start()
        self.assertRegex(worker.stderr.read(), r"\Adissent study run: postgresql://dissent@/patience.*server[^\n]*\n\Z")
        self.run_ok("study", "run", grid, "--store", store, "--lease", 1, "--quiet")
        self.check_complete(store, self.unbroken(grid))

    def test_refusals_do_not_tell_the_password(self):
        grid = self.grid()
        for store, says in ((self.server.url(password="wrong"), "check user and password"),
                            (self.server.url(database="none"), '"none" does not exist'),
                            (self.server.url().replace("host=/", "host=/none/"), "is the server running")):
            run = self.run_bad(1, "study", "run", grid, "--store", store, says=says)
            self.assertNotIn("wrong", run.stderr)
            self.assertNotIn(Server.PASSWORD, run.stderr)


@unittest.skipIf(shutil.which("mpirun") is None, "Open MPI is not installed")
@unittest.skipIf(SANITIZED, "what is sanitized is tested without a launcher")
class RankWorkers(StudyTest):
    LAUNCHER = ("mpirun", "-n", "3", "--oversubscribe", "--allow-run-as-root")

    def test_ranks_share_a_grid_and_one_talks(self):
        grid = self.grid(**LONG)
        ranks = self.worker(grid, "sqlite:runs.db", launcher=self.LAUNCHER, lease=600)
        wait_for(lambda: self.has_begun("sqlite:runs.db"), "a round")
        first = next(iter(wait_for(lambda: self.processes("sqlite:runs.db"), "a rank at work")))
        os.kill(first, signal.SIGSTOP)  # however slowly the others begin, there is work left for them
        wait_for(lambda: set(self.processes("sqlite:runs.db")) - {first}, "another rank at work")
        os.kill(first, signal.SIGCONT)
        output, errors = ranks.communicate(timeout=120)
        self.assertEqual(ranks.returncode, 0, errors)
        self.assertEqual(output.count("results in sqlite:runs.db"), 1)
        self.check_complete("sqlite:runs.db", self.unbroken(grid))

    def test_one_of_three_is_killed_and_all_are_started_again(self):
        grid = self.grid(**LONG)
        ranks = self.worker(grid, "sqlite:runs.db", launcher=self.LAUNCHER)
        wait_for(lambda: self.has_begun("sqlite:runs.db"), "a round")
        self.kill_amid_a_campaign("sqlite:runs.db")
        ranks.wait(60)  # mpirun ends the others
        again = self.worker(grid, "sqlite:runs.db", "--quiet", launcher=self.LAUNCHER)
        self.assertEqual(again.wait(120), 0)
        self.check_complete("sqlite:runs.db", self.unbroken(grid))

    def test_a_file_is_no_store_for_several_machines(self):
        environment = dict(os.environ, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4",
                           OMPI_COMM_WORLD_LOCAL_SIZE="2")
        run = subprocess.run([PROGRAM, "study", "run", self.grid()], cwd=self.dir, text=True, capture_output=True,
                             env=environment)
        self.assertEqual(run.returncode, 2)
        self.assertIn("several machines need a server", run.stderr)


if __name__ == "__main__":
    unittest.main()
