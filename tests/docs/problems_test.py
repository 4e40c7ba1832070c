"""The table of what the rows of problems look like is what the program prints."""

import json
import os
import subprocess
import unittest

from support import PROGRAM, ROOT, DocsTest, read, section

COLUMNS = {"mean_steps": 0, "mean_reward": 2, "mean_height": 2, "mean_speed": 2, "upright": 2, "target_stddev": 2}


class Statistics(DocsTest):
    def test_the_table_is_what_collect_prints(self):
        lines = [line for line in section(read(os.path.join(ROOT, "docs", "problems.md")), "Variants").splitlines()
                 if line.startswith("| `")]
        self.assertEqual(len(lines), 9)
        for line in lines:
            problem, policy, *shown = [cell.strip(" `") for cell in line.strip("|").split("|")]
            run = subprocess.run([PROGRAM, "collect", problem, "--policy", policy, "--rows", "5000", "--output", "r.npz",
                                  "--json"], cwd=self.dir, text=True, capture_output=True)
            if "libmujoco-dev" in run.stderr:
                continue
            found = json.loads(run.stdout)["statistics"]
            printed = [f"{found[name]:.{digits}f}" if name in found else "" for name, digits in COLUMNS.items()]
            self.assertEqual(shown, printed, line)


if __name__ == "__main__":
    unittest.main()
