"""What the commands say of the kind of model that `auto` took, and of rows and options that the fit could do without."""

import json
import unittest

import numpy as np

from campaign_support import CampaignTest
from support import dissent

AUTO = ("--components", 3, "--epochs", 20, "--hidden", 8)
CHOICE = r"(?m)^model (gp|pne|flow): .* rows? held out in turn"


class Choice(CampaignTest):
    def said(self, *arguments):
        result = dissent(*arguments, cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def suggest(self, *arguments, output="next.csv"):
        tables = ("--labelled", self.table("l.csv", 30, 1), "--pool", self.table("p.csv", 60, 2, "a,b"))
        return self.said("suggest", *tables, "--targets", "y", *AUTO, "-o", output, *arguments)

    def test_suggest(self):
        self.assertRegex(self.suggest().stdout, CHOICE)
        self.assertRegex(self.suggest(output="-").stderr, CHOICE)
        self.assertNotIn("model ", self.suggest("--quiet").stdout)
        self.assertIn(json.loads(self.suggest("--json").stdout)["model"], ("gp", "pne", "flow"))
        self.assertNotIn("model ", self.suggest("--model", "pne").stdout)

    def test_ask_and_learn(self):
        tables = ("--labelled", self.table("l.csv", 30, 1), "--pool", self.table("p.csv", 60, 2), "--targets", "y")
        ask = ("ask", "c", *tables, *AUTO, "--batch", 4)
        self.assertRegex(self.said(*ask, "-o", "q.csv").stdout, CHOICE)
        self.assertIn(json.loads(self.said("ask", "c", "--json", "-o", "q.csv").stdout)["model"], ("gp", "pne", "flow"))
        learn = ("learn", "d", *tables, *AUTO, "--batch", 4, "--rounds", 1)
        self.assertRegex(self.said(*learn).stdout, CHOICE)
        self.assertIn(json.loads(self.said(*learn, "--json").stdout)["model"], ("gp", "pne", "flow"))

    def test_options_without_effect(self):
        fit = ("fit", self.table("l.csv", 15, 1), "-t", "y", "-o", "m.model")
        self.assertIn("--hidden had no effect: gp was chosen, which has no networks; --model names another",
                      self.said(*fit, "--hidden", 8).stderr)
        self.assertNotIn("no effect", self.said(*fit, "--seed", 8).stderr)

    def test_rows_to_look_at(self):
        data = np.random.default_rng(1).normal(size=(30, 2))
        data[11, 1] = 1e12
        np.savetxt(self.path("far.csv"), data, delimiter=",", header="a,y", comments="")
        fit = ("fit", "far.csv", "-t", "y", "-m", "gp", "-o", "m.model")
        self.assertIn("'y' is 1e+12 in row 12, ", self.said(*fit).stderr)
        self.assertEqual(len(json.loads(self.said(*fit, "--json").stdout)["warnings"]), 1)


if __name__ == "__main__":
    unittest.main()
