"""Shows that check_layers.py catches what it should, on small trees made for the purpose."""

import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "base:\nmixture: base\ndivergence: mixture  # and base\nnetwork: base\n"


class CheckLayers(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / "dissent" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.check(folder, check_layers.read_layers(LAYERS))[1]

    def test_own_allowed_and_transitive_includes_pass(self):
        text = '#include "dissent/divergence/b.hpp"\n#include "dissent/mixture/m.hpp"\n#include "dissent/base/e.hpp"\n'
        self.assertEqual(self.violations({"divergence/a.cpp": text + "#include <vector>\n#include <hwy/highway.h>\n"}), [])

    def test_upward_include_is_caught_with_its_line(self):
        (found,) = self.violations({"base/a.hpp": '#pragma once\n  #  include "dissent/mixture/m.hpp"\n'})
        self.assertRegex(found, r"base/a\.hpp:2: base may not include mixture")

    def test_sideways_include_is_caught(self):
        self.assertEqual(len(self.violations({"network/a.cpp": '#include "dissent/mixture/m.hpp"\n'})), 1)

    def test_other_ways_to_write_it_are_caught(self):
        for line in ['"../mixture/m.hpp"', '"m.hpp"', "<dissent/mixture/m.hpp>", '"dissent/m.hpp"',
                     '"dissent/unknown/m.hpp"', '"apps/dissent/m.hpp"', '"hwy/highway.h"']:
            self.assertEqual(len(self.violations({"divergence/a.cpp": f"#include {line}\n"})), 1, line)

    def test_files_outside_the_layers_are_caught(self):
        self.assertEqual(len(self.violations({"utils/a.hpp": "", "loose.hpp": "", "base/fine.hpp": ""})), 2)

    def test_bad_tables_are_refused(self):
        for text in ["a: b\nb: a\n", "a: a\n", "a: missing\n", "a:\na:\n", "no colon\n"]:
            with self.assertRaises(ValueError, msg=text):
                check_layers.read_layers(text)


if __name__ == "__main__":
    unittest.main()
