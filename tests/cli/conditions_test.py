"""What may be chosen: conditions, costs and rows that look like errors, and what is said of them."""

import json

import numpy as np

from campaign_support import ConditionsTest, rows
from support import dissent

SOME = ("--require", "site=A", "--batch", 4)  # 14 rows of 40


class WhatIsLeft(ConditionsTest):
    def test_ask_says_what_ends_it(self):
        self.asked(*self.begin, *SOME)
        self.assertEqual(self.says("ask", "lab", "--batch", 20), "no further row of the 26 left meets the conditions: only "
                         "14 of the 20 rows wanted are left to label\n")
        state = self.read("lab/state.safetensors")
        self.refuse("ask", "lab", "--require", "site=Q", says="no row meets --require site=Q: column 'site' has A, B, C")
        self.assertEqual(self.read("lab/state.safetensors"), state)
        with open(self.path("d.csv"), "w") as file:
            file.write("row,y\n" + "".join(f"{q['row']},1\n" for q in self.asked("--batch", 20)))
        self.run_ok("tell", "lab", "d.csv", "--no-refit", "-q")
        self.refuse("ask", "lab", says="lab: no row may be chosen: none of the 26 rows left")

    def test_learn_says_what_ends_it(self):
        learn = ("learn", "out", *self.begin, *SOME, "--rounds", 9)
        self.assertIn("no further row of the 26 left meets the conditions: the campaign ends after round 4 of 9",
                      self.run_ok(*learn))
        report = json.loads(self.run_ok(*learn, "--json"))
        self.assertEqual([report[key] for key in ("pool_left", "pool_allowed", "pool_empty")], [26, 0, False])
        report = json.loads(self.run_ok("learn", "all", *self.begin, "--batch", 40, "--json"))
        self.assertEqual([report[key] for key in ("pool_left", "pool_allowed", "pool_empty")], [0, 0, True])


class Lifting(ConditionsTest):
    def settings(self):
        return self.read("lab/state.safetensors")

    def test_a_cost_is_lifted(self):
        first = self.asked(*self.begin, "-a", "kl", "--cost", "hours", "--batch", 2)
        self.assertTrue(all("; costs " in q["why"] for q in first))
        self.refuse("ask", "lab", "-a", "random", says="acquisition 'random' does not look at costs")
        second = self.asked("--cost", "", "--batch", 6)
        self.assertEqual(["costs" in q["why"] for q in second], [False] * 6)  # those that wait are described anew
        self.assertEqual(len(self.asked("-a", "random", "--batch", 8)), 8)  # which looks at none

    def test_an_aim_is_not_forgotten(self):
        self.table("aim.csv", 5, 3, header="a,b")
        self.asked(*self.begin, "--aim", "aim.csv", "--batch", 2)
        state = self.settings()
        self.refuse("ask", "lab", "-a", "kl", says="acquisition 'kl' does not look at an aim; use one that does: ")
        self.assertEqual(self.settings(), state)

    def test_switches(self):
        self.refuse("ask", "lab", *self.begin, "--skip-outliers", "--no-skip-outliers", says="are both given; leave one out")
        for typed in ("--skip-outliers=false", "--skip-outliers=no", "--no-skip-outliers=0"):
            self.refuse("ask", "lab", *self.begin, typed, says=f"{typed.split('=')[0]} takes no value; see 'dissent ask --help'")
        self.refuse("fit", "l.csv", "-t", "y", "--json=false", "-o", "y.model", says="--json takes no value")
        self.refuse("ask", "lab", *self.begin, "--batch", says="--batch needs a value")


class Errors(ConditionsTest):
    def setUp(self):
        super().setUp()
        with open(self.path("p.csv"), "a") as file:
            file.write("0.5,50000,1,A,1\n")
        self.warning = "1 row looks like an error (row 40: b 50000); --skip-outliers leaves "

    def test_suggest_tells_of_them(self):
        suggest = ("suggest", *self.begin, "-a", "kl", "--batch", 3, "--once", "-o", "n.csv")
        self.assertEqual(self.says(*suggest), self.warning + "it out\n")
        for more in ("-q", "--json", "--skip-outliers"):
            self.assertEqual(self.says(*suggest, more), "")

    def test_ask_tells_of_them_once(self):
        ask = ("ask", "lab", *self.begin, "-a", "kl", "--batch", 3)
        self.assertEqual(self.says(*ask), self.warning + "out others like that\n")
        self.assertEqual(self.says(*ask), "")

    def test_an_aim_may_have_them(self):
        data = rows(60, 6)[:, :2]
        data[7, 1] = -4e4
        np.savetxt(self.path("aim.csv"), data, delimiter=",", header="a,b", comments="", fmt="%r")
        aimed = (*self.begin, "-a", "kl-aim", "--aim", "aim.csv", "--skip-outliers", "--batch", 3)
        warning = "1 row of the aim looks like an error (row 8: b -40000); take it out unless predictions are needed there\n"
        self.assertEqual(self.says("suggest", *aimed, "--once", "-o", "n.csv"), warning)
        self.assertEqual(self.says("ask", "lab", *aimed), warning)
        self.assertEqual(self.says("ask", "lab", "--batch", 4), "")  # once
        self.assertEqual(self.says("learn", "out", *aimed, "--rounds", 1), warning)
        self.assertEqual(self.says("learn", "other", *aimed, "--rounds", 1, "-q"), "")
        data[:, 1] = 4e4 + data[:, 0]  # all of them are there
        np.savetxt(self.path("aim.csv"), data, delimiter=",", header="a,b", comments="", fmt="%r")
        self.assertEqual(self.says("suggest", *aimed, "--once", "-o", "n.csv"), "")

    def test_leaving_them_out_is_lifted(self):
        waiting = lambda *more: [int(q["row"]) for q in self.asked(*more)]
        self.assertNotIn(40, waiting(*self.begin, "-a", "kl", "--batch", 3, "--skip-outliers"))
        self.assertNotIn(40, waiting("--batch", 6))
        self.assertIn(40, waiting("--batch", 9, "--no-skip-outliers"))

    def test_labelled_rows_that_look_like_errors(self):
        data = rows(60, 4)
        data[7, 1] = 1e6
        np.savetxt(self.path("l.csv"), data, delimiter=",", header="a,b,y", comments="", fmt="%r")
        said = self.says("learn", "out", *self.begin, "--batch", 2, "--rounds", 2, "-q")
        self.assertRegex(said, r"\A'b' is 1e\+06 in row 8, [^\n]*check it, or leave the row out\n\Z")  # in one round alone
        self.assertEqual(self.says("ask", "lab", *self.begin, "--batch", 2, "-q"), said)


class Sentences(ConditionsTest):
    def sentence(self, *arguments):
        return self.run_ok("suggest", *self.begin, "--batch", 3, "--once", "-o", "n.csv", *arguments)

    def test_what_the_rows_are_compared_with(self):
        self.assertRegex(self.sentence(), r"\An.csv: 3 of 40 rows\nChosen because their labels tell most about predictions "
                                          r"for the pool; [^\n]* where the pool has ")
        self.assertRegex(self.sentence("--require", "site=A", "--cost", "hours"),
                         r"\An.csv: 3 of 14 rows that may be chosen\nChosen because their labels tell most per cost about "
                         r"predictions for the rows that may be chosen; [^\n]* where the rows that may be chosen have ")
        self.assertRegex(self.sentence("-a", "kl", "--cost", "hours"), r"\nChosen by kl per cost \(")

    def test_rows_drawn_to_choose_among(self):
        self.assertIn("n.csv: 3 of 40 rows (20 drawn to choose among)\n", self.sentence("--candidates", 20))
        self.table("p.csv", 3000, 5, header="a,b")
        self.assertIn("n.csv: 3 of 3,000 rows (1,500 drawn to choose among)\n", self.sentence("--candidates", 1500))

    def test_text_among_the_inputs(self):
        with open(self.path("l.csv"), "w") as file:
            file.write("a,note,y\n1,n0,1\n2,n1,2\n")
        says = ["p.csv: has no column 'note'; it has: a, b, ", "; --ignore leaves out what is no input"]
        self.refuse("suggest", *self.begin, "-o", "n.csv", says=says)
        self.refuse("ask", "lab", *self.begin, says=says)
        self.refuse("learn", "lab", *self.begin, says=says)
        self.run_ok("suggest", *self.begin, "-o", "n.csv", "--ignore", "note", "-q", "--once")
        said = dissent("fit", "l.csv", "-t", "y", "-o", "y.model", cwd=self.dir).stdout
        self.assertTrue(said.startswith("note: 2 categories, one-hot\n"), said)
