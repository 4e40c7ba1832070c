"""The tutorial's commands run, and print what it shows: words to the letter; numbers are the machine's."""

import os
import re
import unittest

from support import ROOT, DocsTest, fenced, read

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")


def words(output):
    """Lines without numbers, and of a chart only its frame."""
    lines = [re.sub(r" +", " ", NUMBER.sub("0", line)).strip() for line in output.splitlines()]
    return [re.sub(r"^0 \|.*", "0 |", line) for line in lines]


class Tutorial(DocsTest):
    def test_every_command_prints_what_is_shown(self):
        blocks = fenced(read(os.path.join(ROOT, "docs", "tutorial.md")), "console")
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, shown = step.partition("\n")
                with self.subTest(command):
                    self.assertEqual(words(self.shell(command)), words(shown))


if __name__ == "__main__":
    unittest.main()
