"""The commands of the guides run, in the order in which they are shown."""

import os
import unittest

from support import ROOT, ShellTest, indented, read


class Guides(ShellTest):
    def run_guide(self, name, verbs):
        lines = [line for block in indented(read(os.path.join(ROOT, "docs", name))) for line in block.splitlines()]
        commands = [line for line in lines if line.startswith("dissent ")]
        self.assertEqual({command.split()[1] for command in commands}, verbs)
        for command in commands:
            self.run_line(command)

    def test_ensembles(self):
        self.run_guide("ensembles.md", {"fit", "evaluate", "predict"})

    def test_active_learning(self):
        self.run_guide("active_learning.md", {"suggest", "learn", "ask", "tell", "status", "rounds"})


if __name__ == "__main__":
    unittest.main()
