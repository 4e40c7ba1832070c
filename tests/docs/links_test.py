"""Links lead to files and headings that exist; the index lists every document; commands use options that exist."""

import os
import re
import subprocess
import unittest

from support import PROGRAM, ROOT, DocsTest, documents, fenced, indented, name_of, read

FOLDERS = "src|apps|python|tests|benchmarks|docs|cmake|fuzz|examples|data"
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def anchor(heading):
    """The address that a heading has on a page, by GitHub's rule."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    return {anchor(line) for line in re.findall(r"^#+ (.*)$", read(path), re.M)}


def links(path):
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]


class Links(DocsTest):
    def test_every_link_leads_somewhere(self):
        self.assertTrue(any(links(path) for path in documents()))
        for path in documents():
            for link in links(path):
                file, _, place = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                self.assertTrue(os.path.exists(target), f"{name_of(path)}: {link}")
                if place:
                    self.assertIn(place, anchors(target), f"{name_of(path)}: {link}")

    def test_the_index_lists_every_document(self):
        index = os.path.join(ROOT, "docs", "index.md")
        listed = {os.path.normpath(os.path.join(ROOT, "docs", link.partition("#")[0])) for link in links(index)}
        self.assertEqual(set(documents()) - listed - {index}, set())

    def test_files_that_are_named_exist(self):
        checked = 0
        for path in documents():
            for named in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", read(path)):
                if not re.search("[A-Z]{4}", named):  # FOLDER, NAME: to be put in
                    self.assertTrue(os.path.exists(os.path.join(ROOT, named)), f"{name_of(path)}: {named}")
                    checked += 1
        self.assertGreater(checked, 30)


class Words(DocsTest):
    """One word for one thing."""

    def test_other_words_are_not_used(self):
        for path in documents():
            for word, instead in (("members?", "component"), ("labeled", "labelled"), ("thread pool", "executor")):
                found = re.search(rf"\b{word}\b", read(path), re.I)
                self.assertIsNone(found, f"{name_of(path)}: say {instead}")


def command_lines(path):
    """The lines of a document that call the program, with what continues them."""
    text = read(path)
    blocks = indented(text) + fenced(text, r"(?:sh|bash|console)?")
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += [line.replace("\n", " ") for line in re.findall(r"`(dissent [^`]+)`", text)]
    calls = [call for line in lines for call in re.findall(r"(?:^|[$(|&] ?)(dissent [a-z]+\b(?![:/])[^|>#;&]*)", line)]
    return [re.sub(r"'[^']*'", "", call).strip() for call in calls]


class Commands(DocsTest):
    """Every `dissent COMMAND --option` of the documents is one that the program has."""

    def help(self, *command):
        return subprocess.run([PROGRAM, *command, "--help"], stdout=subprocess.PIPE, text=True).stdout

    def below(self, *command):
        """The commands below a command."""
        found = self.help(*command).partition("Commands:\n")[2].split("\n\n")[0]
        return [line.split()[0] for line in found.splitlines()]

    def options(self):
        """The options of each command, by its words: ("policy", "train") -> {"--seed", ...}."""
        found = {}
        for name in self.below():
            for command in [(name,), *((name, lower) for lower in self.below(name))]:
                found[command] = set(OPTION.findall(self.help(*command).partition("Examples:")[0]))
        return found

    def test_commands_and_options_exist(self):
        options, checked = self.options(), 0
        self.assertIn(("policy", "train"), options)
        for path in documents():
            for line in command_lines(path):
                words = tuple(line.split()[1:])
                command = words[:2] if words[:2] in options else words[:1]
                self.assertIn(command, set(options), f"{name_of(path)}: {line}")
                for option in OPTION.findall(line):
                    self.assertIn(option, options[command], f"{name_of(path)}: {line}")
                    checked += 1
        self.assertGreater(checked, 50)

    def test_the_reference_has_every_command_and_option(self):
        text = read(os.path.join(ROOT, "docs", "command_line.md"))
        for command, options in self.options().items():
            if self.below(*command):
                continue
            self.assertIn(f"## dissent {' '.join(command)}", text)
            for option in options:
                if option.startswith("--"):
                    self.assertRegex(text, rf"{option}(?![a-z-])", f"dissent {' '.join(command)} {option}")


if __name__ == "__main__":
    unittest.main()
