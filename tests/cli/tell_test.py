"""dissent tell: answers as people bring them; experiments that failed, corrections, rows that nobody asked for."""

import csv
import io
import json
import os

import numpy as np

from campaign_support import LABEL, QUICK, AskTest, CampaignTest, rows
from support import dissent


class Hostile(AskTest):
    """Tables of answers that are wrong in one way each: nothing of them is taken."""

    def setUp(self):
        super().setUp()
        self.asked = self.ask(*self.begin, "--batch", 4)
        self.row = [q["row"] for q in self.asked]
        self.other = str(next(k for k in range(40) if str(k) not in self.row))  # never asked for

    def refused(self, content, says, *options):
        data = content if isinstance(content, bytes) else content.encode()
        with open(self.path("bad.csv"), "wb") as file:
            file.write(data)
        with self.subTest(content):
            self.refuse("tell", "lab", "bad.csv", "--no-refit", *options, says=says)

    def test_tables_that_are_wrong_in_one_way(self):
        r, s, other = self.row[0], self.row[1], self.other
        a, b = self.asked[0]["a"], self.asked[0]["b"]
        self.run_ok("tell", "lab", self.answers("d.csv", self.asked[2:3]), "--no-refit", "-q")
        self.run_ok("tell", "lab", "--drop", self.row[3], "--no-refit", "-q")
        told, dropped = self.row[2], self.row[3]
        for content, says in (
            # Nothing there.
            ("", "bad.csv"),
            ("\n\n\n", "bad.csv"),
            ("row,y\n", "no row has its targets filled in"),
            (f"row,y\n{r},\n{s},\n", "no row has its targets filled in"),
            # Columns.
            (f"y\n1\n", "no column 'row'"),
            (f"row\n{r}\n", "has no column 'y'"),
            (f"Row,y\n{r},1\n", "no column 'row'"),
            (f"row,Y\n{r},1\n", "has no column 'y'"),
            (f"row,y,y\n{r},1,2\n", "bad.csv"),
            (f"row,row,y\n{r},{s},2\n", "bad.csv"),
            (f"row|y\n{r}|1\n", "bad.csv"),
            (f"{r},1\n", "bad.csv"),  # no header
            # The number of the row.
            (f"row,y\n,1\n", "its 'row' is empty"),
            (f"row,y\n{other},1\n", f"row {other} was never asked for"),
            (f"row,y\n40,1\n", "row 40 was never asked for"),
            (f"row,y\n-1,1\n", "row -1 was never asked for"),
            (f"row,y\n{r}.5,1\n", "was never asked for"),
            (f"row,y\n1e300,1\n", "was never asked for"),
            (f"row,y\nnan,1\n", "was never asked for"),
            (f"row,y\ninf,1\n", "was never asked for"),
            (f"row,y\nS{r},1\n", "is text"),
            (f"row,y\n{r},failed\n", f"row 1: 'failed' is text; a number is required: leave it empty; --drop takes row {r} of the pool if"),
            (f"row;note;y\n{r};0,5;1.234\n", "row 1: '1.234' may be thousands or a fraction, beside columns with decimal commas; write"),
            (f"row,y\n{r},1\n{r},1\n", f"lines 2 and 3 of the file both answer row {r}"),
            (f"row,y\n{r},1\n{r}.0,2\n", f"both answer row {r}"),
            (f"row,y\n{told},1\n", f"row {told} has its answer already; a row is told once, unless --correct"),
            (f"row,y\n{dropped},1\n", f"row {dropped} was dropped; --correct takes it back"),
            (f"row,y\n{r},1\n{other},1\n", f"row {other} was never asked for; --extra takes"),
            # The answer.
            (f"row,y\n{r},nan\n", "is told nan; answers must be finite"),
            (f"row,y\n{r},inf\n", "is told inf"),
            (f"row,y\n{r},-Infinity\n", "is told -inf"),
            (f"row,y\n{r},1e999\n", "bad.csv"),
            (f"row,y\n{r},1e308\n", "too far from the labels"),
            (f"row,y\n{r},NA\n", "no row has its targets filled in"),
            (f"row,y\n{r},?\n", "no row has its targets filled in"),
            (f"row,y\n{r},<0.1\n", "'<0.1' is text"),
            (f"row,y\n{r},3 mm\n", "'3 mm' is text"),
            (f"row,y\n{r},1 2\n", "'1 2' is text"),
            (f"row,y\n{r},1,5\n", "bad.csv"),
            (f"row,y\n{r},0x1p3\n", "is text"),
            (f"row,y\n{r},#DIV/0!\n", "is text"),
            (f"row,y\n{r},1\nsum,1\n", "is text"),
            (f"row,y\n{r},1\nmeasured by Jo\n", "bad.csv"),
            (f'row,y\n{r},"1\n', "bad.csv"),
            # Not a table of text.
            (f"row,y\n{r},1\n".encode("utf-16"), "bad.csv"),
            (f"row,y\n{r},1\n".encode("utf-32"), "bad.csv"),
            (b"PK\x03\x04\x14\x00\x06\x00", "bad.csv"),
            (b"\x00" * 100, "bad.csv"),
            # The inputs of another row.
            (f"row,a,y\n{r},7.5,1\n", ["bad.csv: column 'a': it is 7.5 on line 2 of the file, but row", f"of the pool has {a}"]),
            (f"row,a,b,y\n{r},{a},-7.5,1\n", "column 'b': it is -7.5"),
            (f"row,a,b,y\n{s},{a},{b},1\n", f"but row {s} of the pool has"),
            (f"row,a,b,y\n{r},{b},{a},1\n", "the answers are of other rows, or of another campaign"),
            (f"row,a,y\n{r},{float(a) * 1.001!r},1\n", "on line 2 of the file, but row"),
            (f"row,a,y\n{r},{a}x,1\n", "column 'a': it is '"),
            (f"row,a,y\n{r},nan,1\n", "column 'a': it is nan"),
        ):
            self.refused(content, says)

    def test_inputs_that_a_spreadsheet_has_rounded(self):
        q = self.asked[0]
        with open(self.path("ok.csv"), "w") as file:
            file.write(f"row,b,a,note,y\n{q['row']},{float(q['b']):.6g},{float(q['a']):.9f},mine,1\n{q['row']},,,,\n"
                       f"{self.row[1]},,,no inputs,2\n")
        self.run_ok("tell", "lab", "ok.csv", "--no-refit", "-q")

    def test_the_answers_of_another_campaign(self):
        self.pool_table("p.csv", 40, 7)
        text = self.run_ok("ask", "other", *self.begin, "--batch", 40)
        lines = text.splitlines()
        with open(self.path("theirs.csv"), "w") as file:
            file.write("\n".join([lines[0], *(line + "1.5" for line in lines[1:] if line.split(",")[0] in self.row)]) + "\n")
        self.refuse("tell", "lab", "theirs.csv", "--no-refit", says="the answers are of other rows, or of another campaign")

    def test_rows_to_drop(self):
        for value, says in (("x", "--drop = x; it must be the number of a row"), ("-1", "--drop"), ("40", "row 40 is not in the pool"),
                            (f"{self.row[0]},{self.row[0]}", "was dropped already"), ("1.5", "--drop = 1.5"), ("", "--drop")):
            with self.subTest(value):
                self.refuse("tell", "lab", "--drop", value, says=says)
        told = self.answers("d.csv", self.asked[:1])
        self.refuse("tell", "lab", told, "--drop", self.row[0], says="is told and dropped at once")
        self.refuse("tell", "lab", says="there is nothing to tell")
        self.refuse("tell", "lab", "--extra", "--drop", self.row[0], says="--extra is about the rows of ANSWERS")

    def test_rows_that_nobody_asked_for(self):
        self.run_ok("tell", "lab", self.write("e.csv", "a,b,y\n9,9,36\n"), "--extra", "--no-refit", "-q")
        a, b = self.asked[0]["a"], self.asked[0]["b"]
        for content, says in (
            ("a,y\n1,2\n", "has no column 'b'"),
            ("a,b,y\n1,,2\n", "column 'b' row 1"),
            ("a,b,y\n1,x,2\n", "'x' is text"),
            ("a,b,y\n1,inf,2\n", "'inf' is not"),
            ("a,b,y\n1,1e300,2\n", "too far from the labelled rows"),
            ("a,b,y\n1,1,nan\n", "is told nan"),
            ("a,b,y\n1,1,1e300\n", "too far from the labels"),
            ("a,b,y\n9,9,36\n", "was told before"),
            (f"a,b,y\n{a},{b},1\n{a},{b},1\n", "both answer row"),
            (f"row,a,b,y\n40,1,1,1\n", "row 40 is not in the pool of 40 rows"),
            (f"row,a,b,y\n{self.row[0]},1,1,1\n", "the answers are of other rows"),
        ):
            self.refused(content, says, "--extra")

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name


class Tell(AskTest):
    def setUp(self):
        super().setUp()
        self.asked = self.ask(*self.begin, "--batch", 4)

    def status(self):
        return json.loads(self.run_ok("status", "lab", "--json"))

    def test_a_failed_experiment_never_comes_again(self):
        row = self.asked[0]["row"]
        self.assertEqual(self.run_ok("tell", "lab", "--drop", row, "--no-refit"), "0 answers, 1 row dropped; 15 rows labelled, 3 wait\n")
        self.assertEqual([q["row"] for q in self.ask("--batch", 3)], [q["row"] for q in self.asked[1:]])
        rest = self.ask("--batch", 40, "-q")
        self.assertEqual(len(rest), 39)
        self.assertNotIn(row, [q["row"] for q in rest])
        status = self.status()
        self.assertEqual((status["dropped"], status["labelled"], status["pool_left"]), ([int(row)], 15, 0))
        self.run_ok("tell", "lab", self.answers("d.csv", self.asked[:1]), "--correct", "--no-refit", "-q")
        self.assertEqual((self.status()["dropped"], self.status()["labelled"]), ([], 16))
        self.run_ok("tell", "lab", "--drop", row, "--correct", "--no-refit", "-q")
        self.assertEqual((self.status()["dropped"], self.status()["labelled"]), ([int(row)], 15))

    def test_rows_that_were_never_asked_for_can_be_dropped(self):
        rows_asked = {q["row"] for q in self.asked}
        unwanted = [str(k) for k in range(40) if str(k) not in rows_asked][:2]
        self.run_ok("tell", "lab", "--drop", ",".join(unwanted), "-q")
        rest = {q["row"] for q in self.ask("--batch", 40, "-q")}
        self.assertEqual(rest, {str(k) for k in range(40)} - set(unwanted))

    def test_a_correction_is_as_if_it_had_been_told_at_once(self):
        right = self.answers("right.csv", self.asked)
        wrong = self.answers("wrong.csv", self.asked[:1], lambda q: -1.0)
        self.run_ok("ask", "other", *self.begin, "--batch", 4)
        self.run_ok("tell", "other", right, "-q")
        self.run_ok("tell", "lab", wrong, "-q")
        self.run_ok("tell", "lab", right, "--correct", "-q")
        self.assertEqual(self.read("lab/model.safetensors"), self.read("other/model.safetensors"))
        self.assertEqual(self.read("lab/chosen.csv"), self.read("other/chosen.csv"))
        self.assertEqual(self.run_ok("ask", "lab", "--batch", 3), self.run_ok("ask", "other", "--batch", 3))

    def test_rows_that_nobody_asked_for(self):
        free = next(k for k in range(40) if str(k) not in {q["row"] for q in self.asked})
        pool = rows(40, 2)
        a, b = self.asked[0]["a"], self.asked[0]["b"]
        with open(self.path("e.csv"), "w") as file:  # in the pool, waiting, and neither
            file.write(f"b,a,y\n{float(pool[free, 1])!r},{float(pool[free, 0])!r},1\n{b},{a},2\n0.5,0.25,1.25\n0.5,0.125,\n")
        report = json.loads(self.run_ok("tell", "lab", "e.csv", "--extra", "--json"))
        self.assertEqual((report["told"], report["extra"], report["labelled"], report["pending"]), (3, 1, 18, 3))
        chosen = self.read_csv("lab/chosen.csv")
        told = chosen[~np.isnan(chosen["y"])]
        self.assertEqual({(row["row"], row["round"], row["y"]) for row in told},
                         {(free, 0, 1.0), (int(self.asked[0]["row"]), 1, 2.0)})
        self.assertEqual(len(self.ask("--batch", 40, "-q")), 38)
        with open(self.path("c.csv"), "w") as file:
            file.write("a,b,y\n0.25,0.5,1.5\n")
        self.run_ok("tell", "lab", "c.csv", "--extra", "--correct", "-q")
        self.assertEqual(self.status()["labelled"], 18)

    def test_an_answer_far_outside(self):
        far = self.answers("far.csv", self.asked, lambda q: 1e5 if q is self.asked[1] else 0.0)
        result = dissent("tell", "lab", far, cwd=self.dir)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rf"\Arow {self.asked[1]['row']}: y 100000 is far outside of the labels so far, -.* to .*, "
                         r"and .* standard deviations from its prediction\nit was taken; .*--correct' replaces it\n\Z")
        report = json.loads(self.run_ok("tell", "lab", far, "--correct", "--json"))
        self.assertEqual([far["row"] for far in report["far"]], [])  # the labels there are reach so far by now
        next_asked = self.ask("--batch", 1)
        self.run_ok("tell", "lab", self.answers("d.csv", self.asked), "--correct", "--no-refit", "-q")
        report = json.loads(self.run_ok("tell", "lab", self.answers("f.csv", next_asked, lambda q: -1e4), "--no-refit", "--json"))
        self.assertEqual([(far["value"], far["stddevs"]) for far in report["far"]], [(-1e4, 0)])  # there is no model

    def test_what_changes_is_said(self):
        row = self.asked[0]["row"]
        for value in (1.25, 1.75):
            said = self.run_ok("tell", "lab", self.answers("v.csv", self.asked[:1], lambda q: value), "--correct", "--no-refit")
        self.assertIn(f"\nrow {row}: 1.25 -> 1.75\n", said)
        self.refuse("tell", "lab", "--drop", row, says="has its answer already; add --correct to drop it all the same")
        said = self.run_ok("tell", "lab", "--drop", row, "--correct", "--no-refit")
        self.assertIn(f"\nrow {row}: 1.75 -> dropped\n", said)
        free, other = [k for k in range(40) if str(k) not in [q["row"] for q in self.asked]][:2]
        said = self.run_ok("tell", "lab", "--drop", free)
        self.assertIn(f"\nrow {free} was not waiting; it is dropped (an answer with --correct takes it back)\n", said)
        self.assertIsNone(json.loads(self.run_ok("tell", "lab", "--drop", other, "--json"))["fitted"])  # no label is new

    def test_a_first_ask_that_fails_leaves_nothing(self):
        with open(self.path("p.csv"), "a") as file:
            file.write("S40,1,1e200,\n")
        self.run_bad(2, "ask", "new", *self.begin, says="too far")
        self.assertFalse(os.path.exists(self.path("new")))
        self.pool_table("p.csv", 40, 2)
        self.run_ok("ask", "new", *self.begin, "--batch", 2)
        with open(self.path("l.csv"), "w") as file:
            file.write("a,b,y\n1,2,3\n")
        self.run_bad(2, "ask", "one", *self.begin, says="l.csv")  # a single row cannot be fitted
        self.assertFalse(os.path.exists(self.path("one")))
        os.mkdir(self.path("mine"))
        with open(self.path("mine/notes.txt"), "w") as file:
            file.write("mine")
        self.run_bad(2, "ask", "mine", *self.begin, says="l.csv")
        self.assertIn("notes.txt", os.listdir(self.path("mine")))
        self.assertNotIn("state.safetensors", os.listdir(self.path("mine")))


class Categories(AskTest):
    """Inputs that are texts are compared and looked up as texts."""

    def setUp(self):
        super().setUp()
        for name, count, seed in (("l.csv", 15, 1), ("p.csv", 40, 2)):
            with open(self.path(name), "w") as file:
                file.write("a,site,y\n" if name == "l.csv" else "a,site\n")
                for k, (a, _, y) in enumerate(rows(count, seed).tolist()):
                    file.write(f"{a!r},{'AB'[k % 2]}" + (f",{y!r}\n" if name == "l.csv" else "\n"))
        self.begin = ("--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", *QUICK)
        self.asked = self.ask(*self.begin, "--batch", 3, "-q")

    def tell(self, text):
        with open(self.path("d.csv"), "w") as file:
            file.write(text)
        return ("tell", "lab", "d.csv", "--no-refit", "-q")

    def test_answers(self):
        q = self.asked[0]
        other = "AB".replace(q["site"], "")
        self.refuse(*self.tell(f"row,site,y\n{q['row']},{other},1\n"), says=f"column 'site': it is '{other}' on line 2 of the file, but row {q['row']}")
        self.run_ok(*self.tell(f"row,site,a,y\n{q['row']},{q['site']},{q['a']},1\n"))
        q = self.asked[1]
        self.run_ok(*self.tell(f"a,site,y\n{q['a']},{q['site']},1\n0.25,B,2\n"), "--extra")
        report = json.loads(self.run_ok("status", "lab", "--json"))
        self.assertEqual((report["told"], report["extra"], len(report["pending"])), (3, 1, 1))
        self.assertEqual(len(self.ask("--batch", 2, "-q")), 2)  # fits with them
        exported = list(csv.DictReader(io.StringIO(self.run_ok("export", "lab"))))
        self.assertEqual([name for name in exported[0] if "=" in name], [])
        self.assertEqual([row["site"] for row in exported[:15]], ["AB"[k % 2] for k in range(15)])
        self.assertEqual([exported[-1][name] for name in ("source", "a", "site", "y")], ["extra", "0.25", "B", "2"])

    def test_what_the_fit_never_saw(self):
        command = [part for part in self.tell("a,site,y\n0.25,C,2\n0.5,,1\n") if part != "-q"]
        self.refuse(*command, "--extra", says="column 'site' row 2: it is empty")
        command = [part for part in self.tell("a,site,y\n0.25,C,2\n") if part != "-q"]
        result = dissent(*command, "--extra", cwd=self.dir)
        self.assertEqual((result.returncode, result.stderr),
                         (0, "site: 'C' not seen in the fit (1 row), taken for none of its categories\n"))


class OtherWriting(AskTest):
    """Booleans and dates as pandas and spreadsheets write them are those of the pool."""

    def setUp(self):
        super().setUp()
        for name, count, seed in (("l.csv", 15, 1), ("p.csv", 40, 2)):
            with open(self.path(name), "w") as file:
                file.write("a,wet,day,y\n" if name == "l.csv" else "a,wet,day\n")
                for k, (a, _, y) in enumerate(rows(count, seed).tolist()):
                    file.write(f"{a!r},{('FALSE', 'TRUE')[k % 2]},2024-08-{k % 28 + 1:02}" + (f",{y!r}\n" if name == "l.csv" else "\n"))
        self.asked = self.ask("--labelled", "l.csv", "--pool", "p.csv", "--targets", "y", *QUICK, "--batch", 3, "-q")

    def test_answers(self):
        def line(q, wet=None):
            day = ".".join(reversed(q["day"].split("-")))
            return f"{q['row']},{q['a']},{wet or q['wet'].capitalize()},{day},1\n"

        def tell(head, *lines):
            with open(self.path("d.csv"), "w") as file:
                file.write(head + "".join(lines))
            return ("tell", "lab", "d.csv", "--no-refit", "-q")

        q = self.asked[0]
        other = "False" if q["wet"] == "TRUE" else "True"
        self.refuse(*tell("row,a,wet,day,y\n", line(q, other)), says=f"column 'wet': it is '{other.lower()}'")
        self.run_ok(*tell("row,a,wet,day,y\n", line(q)))
        self.run_ok(*tell("a,wet,day,y\n", line(self.asked[1]).split(",", 1)[1]), "--extra")
        report = json.loads(self.run_ok("status", "lab", "--json"))
        self.assertEqual((report["told"], report["extra"], len(report["pending"])), (2, 0, 1))


class Oracles(CampaignTest):
    def test_rows_that_come_back_in_another_order(self):
        """Labels are matched by the inputs that stand beside them."""
        plain = self.learn("plain", "--oracle", LABEL, "--rounds", 2, "-q")
        self.run_ok(*plain)
        echo = """awk -F, 'NR == 1 { print "b,y,a"; next } { print $2 "," $1 * 3 + $2 "," $1 }'"""
        shuffled = f"{echo} | (read head; echo \\$head; sort -r)".replace("\\$", "$")
        rounded = """awk -F, 'NR == 1 { print "a,y"; next } { printf "%.7g,%s\\n", $1, $1 * 3 + $2 }' | (read h; echo $h; sort -n)"""
        for name, oracle in (("echo", echo), ("shuffled", shuffled), ("rounded", rounded)):
            self.run_ok(*self.learn(name, "--oracle", oracle, "--rounds", 2, "-q"))
            self.assertEqual(self.read(f"{name}/chosen.csv"), self.read("plain/chosen.csv"), name)

    def test_inputs_that_were_not_asked_for(self):
        for oracle, says in (
            ("""awk -F, 'NR == 1 { print "a,y"; next } { print $1 + 1 "," 1 }'""", "was not asked for; it was asked for a = "),
            ("""awk -F, 'NR == 1 { print "a,y"; next } { print "x," 1 }'""", "a = 'x' was not asked for"),
            ("""awk -F, 'NR == 1 { print "a,b,y"; next } NR == 2 { one = $0 } { print one "," 1 }'""", "is answered more often"),
        ):
            with self.subTest(oracle):
                os.mkdir(self.path(f"o{len(says)}"))
                self.tables()
                self.refuse(*self.learn(f"o{len(says)}", "--oracle", oracle, "--rounds", 1, "-q"), says=[says, "nothing is lost"])
