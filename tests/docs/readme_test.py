"""The README's shell lines run, and it names the commands that `./do` has."""

import os
import re
import subprocess
import unittest

from support import README, ROOT, DocsTest, ShellTest, documents, indented, name_of, read, section


def shell_lines(text):
    """The commands of the indented blocks, and those of the running text that are whole: `dissent VERB ... FILE`."""
    lines = [line for block in indented(text) for line in block.splitlines()]
    lines += [line.replace("\n", " ") for line in re.findall(r"`(dissent \w+ [^`]+)`", text)]
    return [line for line in lines if not line.startswith("#")]


class Use(ShellTest):
    """Section "Use it"."""

    def lacks_robots(self):
        """A build without MuJoCo or HDF5 says so, and names the package."""
        return "-dev" in self.shell("dissent collect hopper --rows 1 --output one.h5 || true")

    def test_every_line_runs(self):
        lines = shell_lines(section(read(README), "Use it"))
        verbs = [line.split()[1] for line in lines if line.startswith("dissent")]
        for verb in ("score", "estimators", "fit", "suggest", "learn", "ask", "tell", "collect"):
            self.assertIn(verb, verbs)
        for line in lines:
            if not (line.startswith("dissent collect") and self.lacks_robots()):
                self.run_line(line)
        for name in ("scores.csv", "model.safetensors", "next.csv", "out/rounds.csv", "lab/state.safetensors"):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_columns_of_a_score(self):
        columns = re.search(r"Columns: `([^`]+)`", read(README)).group(1)
        self.assertEqual(self.shell("dissent score ensemble.npz --output -").splitlines()[0], columns)

    def test_estimators_of_the_table_exist(self):
        listed = {line.split()[0] for line in self.shell("dissent estimators").splitlines()[1:] if line.strip()}
        for cell in re.findall(r"^\| (`.*?) \|", section(read(README), "Which estimator?"), re.M):
            for name in re.findall(r"`([^`]+)`", cell):
                self.assertIn(name, listed)


class Front(DocsTest):
    """Documents name commands that `./do` has, and each of them has a line of help."""

    def commands(self):
        script = read(os.path.join(ROOT, "do"))
        return set(re.search(r'^  ([a-z |-]+)\) "cmd_\$1"', script, re.M).group(1).split(" | "))

    def test_documents_name_commands_that_exist(self):
        for path in documents():
            for command in re.findall(r"\./do ([a-z-]+)", read(path)):
                self.assertIn(command, self.commands() | {"help"}, name_of(path))

    def test_readme_begins_with_two_commands(self):
        tried = [line.split("#")[0].split() for block in indented(section(read(README), "Try it")) for line in block.splitlines()]
        self.assertEqual(tried, [["./do", "demo"], ["./do", "test"]])

    def test_help_lists_every_command(self):
        text = subprocess.run([os.path.join(ROOT, "do"), "help"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(set(re.findall(r"^  ([a-z-]+)  ?", text, re.M)) - {"help"}, self.commands())


if __name__ == "__main__":
    unittest.main()
