"""Results as rows of a CSV file, added as they come, so that a killed run continues where it stopped.

Every row names its job (the key), the settings it ran under, and the results. If several rows have the same key, the
last one counts. A row cut short by a kill is skipped.
"""

import csv
import io
import os


class Cache:
    def __init__(self, path, key, results):
        self.path, self.key, self.results = path, tuple(key), tuple(results)
        self.header = (*self.key, "settings", *self.results)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if not os.path.exists(path):
            self._write([self.header])
        elif self._cut_short():
            self._write([[]])

    def add(self, rows):
        """Appends dicts in one write: of a job's rows either all are kept or the last is cut short."""
        self._write([[row[name] for name in self.header] for row in rows])

    def rows(self):
        """The last row of every key, as {key: dict}; numbers are floats."""
        with open(self.path, newline="") as file:
            lines = [line for line in file.read().split("\n")[:-1] if line.strip("\0")]
        found = {}
        for fields in csv.reader(lines):
            if len(fields) == len(self.header) and tuple(fields) != self.header:
                row = dict(zip(self.header, fields))
                row.update({name: float(row[name]) for name in self.results})
                found[tuple(row[name] for name in self.key)] = row
        return found

    def _cut_short(self):
        with open(self.path, "rb") as file:
            return not file.read().endswith(b"\n")

    def _write(self, lines):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, text.getvalue().encode())
        finally:
            os.close(descriptor)
