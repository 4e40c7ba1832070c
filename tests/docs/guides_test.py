"""The commands of the guides run, in the order in which they are shown."""

import os
import subprocess
import unittest

from support import PROGRAM, ROOT, ShellTest, fenced, indented, read


class Guides(ShellTest):
    def run_guide(self, name, verbs):
        lines = [line for block in indented(read(os.path.join(ROOT, "docs", name))) for line in block.splitlines()]
        commands = [line for line in lines if line.startswith("dissent ")]
        self.assertEqual({command.split()[1] for command in commands}, verbs)
        for command in commands:
            if self.has_pages() or not command.endswith(".html"):
                self.run_line(command)

    def has_pages(self):
        """Whether the program was built with them; without, it says so before it reads anything."""
        run = subprocess.run([PROGRAM, "report", "none", "--output", self.path("none.html")], text=True, capture_output=True)
        return "built without pages" not in run.stderr

    def test_ensembles(self):
        self.run_guide("ensembles.md", {"fit", "evaluate", "predict"})

    def test_report(self):
        self.run_guide("report.md", {"fit", "learn", "report"})

    def test_active_learning(self):
        self.run_guide("active_learning.md", {"suggest", "learn", "ask", "tell", "status", "rounds"})

    def test_studies(self):
        with open(self.path("small.toml"), "w") as file:
            file.write(fenced(read(os.path.join(ROOT, "docs", "studies.md")), "toml")[0])
        self.run_guide("studies.md", {"study"})


if __name__ == "__main__":
    unittest.main()
