"""dissent ask -o FILE: a table that people may have filled in is never replaced before its answers were told."""

import os

from campaign_support import AskTest


class Replace(AskTest):
    def setUp(self):
        super().setUp()
        self.run_ok("ask", "lab", *self.begin, "--batch", 3, "-o", "todo.csv", "-q")
        self.lines = self.read("todo.csv").decode().splitlines()

    def kept(self, content, says="todo.csv: is there and would be lost"):
        """What stands in todo.csv is refused, and stays as it is."""
        data = content if isinstance(content, bytes) else content.encode()
        with open(self.path("todo.csv"), "wb") as file:
            file.write(data)
        self.refuse("ask", "lab", "--batch", 4, "-o", "todo.csv", says=says)
        self.assertEqual(self.read("todo.csv"), data)

    def replaced(self, content):
        with open(self.path("todo.csv"), "w") as file:
            file.write(content)
        self.run_ok("ask", "lab", "--batch", 3, "-o", "todo.csv", "-q")
        self.assertEqual(self.read("todo.csv").decode().splitlines(), self.lines)

    def filled(self, value="1.5"):
        return [self.lines[0], self.lines[1] + value, *self.lines[2:]]

    def text(self, lines):
        return "\n".join(lines) + "\n"

    def test_our_own_list_is_replaced(self):
        self.replaced(self.text(self.lines))
        self.replaced(self.text(self.lines[:2]))
        self.replaced(self.lines[0] + "\n")  # no rows
        self.replaced("")  # as mktemp makes it
        self.replaced("\ufeff" + "\r\n".join(self.lines) + "\r\n")  # as a spreadsheet saves it
        self.replaced("row,y\n" + "".join(line.split(",")[0] + ",\n" for line in self.lines[1:]))
        rounded = [",".join([*line.split(",")[:2], f"{float(line.split(',')[2]):.6g}", *line.split(",")[3:]])
                   for line in self.lines[1:]]
        self.replaced(self.text([self.lines[0], *rounded]))

    def test_answers_in_any_form(self):
        filled = self.filled()
        for content in (
            self.text(filled),
            self.text(line.replace(",", ";") for line in filled),
            self.text(line.replace(",", "\t") for line in filled),
            self.text(line.replace(",", ";").replace(".", ",") for line in filled),  # decimal commas
            self.text(line.replace(",", "|") for line in filled),
            self.text(filled).encode("utf-16"),
            self.text(filled).encode("utf-16-le"),
            self.text(filled).replace("\n", "\r"),
            self.text([*self.lines, "measured by Jo"]),
            self.text([*self.lines, "measured by Jo" + "," * self.lines[0].count(",")]),
            self.text(["measured on Monday", *filled]),
            self.text([self.lines[0] + ",operator", *(line + ",Jo" for line in self.lines[1:])]),
            self.text([self.lines[0], self.lines[1].replace("S", "T"), *self.lines[2:]]),
            self.text([self.lines[0], self.lines[1] + "broken", *self.lines[2:]]),
            self.text([self.lines[0].replace("row,", "number,"), *filled[1:]]),
            self.text([self.lines[0][: -len("y")] + "yield", *filled[1:]]),
            "row,y\n39,1.5\n0,2\n1,3\n2,4\n",
            "a,b\n1,2\n",
            "dear diary\n",
            b"\x00\xff\xfe\x89PNG",
            b"PK\x03\x04 a spreadsheet",
            "{}\n",
            " \n",
        ):
            with self.subTest(content[:60]):
                self.kept(content)
        self.kept(self.text(filled), says=["not told yet", "'dissent tell lab todo.csv' first", "another name"])

    def test_told_answers_need_not_be_kept(self):
        filled = self.text(self.filled())
        self.kept(filled)
        self.run_ok("tell", "lab", "todo.csv", "-q", "--no-refit")
        self.kept(self.text(self.filled("1.6")), says=["its answer for row", "is 1.6, but 1.5 was told"])
        self.kept(filled.replace(self.lines[2], self.lines[2] + "7"), says="not told yet")
        with open(self.path("todo.csv"), "w") as file:
            file.write(filled)
        self.run_ok("ask", "lab", "--batch", 2, "-o", "todo.csv", "-q")
        self.assertEqual(self.read("todo.csv").decode().splitlines()[1:], self.lines[2:])

    def test_answers_for_a_row_that_was_dropped(self):
        self.run_ok("tell", "lab", "--drop", self.lines[1].split(",")[0], "-q")
        self.kept(self.text(self.filled()), says="which was dropped")

    def test_the_table_of_another_campaign(self):
        self.pool_table("p.csv", 40, 7)
        self.run_ok("ask", "other", *self.begin, "--batch", 40, "-o", "all.csv", "-q")
        theirs = self.read("all.csv").decode()
        self.kept(theirs)
        self.run_bad(2, "ask", "new", *self.begin, "-o", "todo.csv", "--batch", 2, says="was never asked for")
        self.assertEqual(self.read("todo.csv").decode(), theirs)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_a_link_is_what_it_points_at(self):
        os.symlink("todo.csv", self.path("link.csv"))
        with open(self.path("todo.csv"), "w") as file:
            file.write(self.text(self.filled()))
        self.refuse("ask", "lab", "--batch", 3, "-o", "link.csv", says="link.csv: is there and would be lost")
