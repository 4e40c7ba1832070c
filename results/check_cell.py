"""Runs one campaign of the results again and compares: python3 results/check_cell.py FILE [CELL] [options]

    python3 results/check_cell.py results/paper-pne.csv.gz
    python3 results/check_cell.py results/paper-pne.csv.gz 'problem=hetero acquisition=kl seed=0' --rounds 3

FILE is a table of rounds whose grid is in `studies`. Without CELL one is drawn at random. --rounds R runs the first R
rounds alone, which do not depend on how many follow. Every number but times must be the same to the bit; with --within
T they may differ by T of their size. The exit code is 1 where they do not agree.
"""

import argparse
import csv
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPARED = ("labelled", "rmse", "rmse_paper", "log_likelihood", "chosen_epistemic", "expert_share")


def read_rounds(path):
    """{cell: {round: row}}"""
    cells = {}
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["round"]:
                cells.setdefault(row["cell"], {})[int(row["round"])] = row
    return cells


def run_again(program, study, cell, rounds, folder):
    """The rounds of the cell, from a store of its own."""
    with open(os.path.join(ROOT, "studies", study + ".toml")) as file:
        grid = file.read()
    if rounds:
        grid = re.sub(r"^rounds = \d+$", f"rounds = {rounds}", grid, count=1, flags=re.M)
    path, store = os.path.join(folder, "grid.toml"), "sqlite:" + os.path.join(folder, "one.db")
    with open(path, "w") as file:
        file.write(grid)
    output = os.path.join(folder, "one.csv")
    for command in (["run", path, "--only", cell, "--store", store], ["export", store, "--output", output]):
        subprocess.run([program, "study", *command, "--quiet"], cwd=ROOT, check=True)
    return read_rounds(output)[cell]


def differs(one, other, within):
    if one == other:
        return False
    if not one or not other or within == 0:
        return True
    return not abs(float(one) - float(other)) <= within * max(abs(float(one)), abs(float(other)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("cell", nargs="?")
    parser.add_argument("--rounds", type=int, help="the first rounds alone")
    parser.add_argument("--within", type=float, default=0, help="of a number's size; 0, the default: to the bit")
    parser.add_argument("--program", default=shutil.which("dissent") or os.path.join(ROOT, "build", "release", "bin", "dissent"))
    options = parser.parse_args()
    cells = read_rounds(options.file)
    cell = options.cell or random.choice(sorted(cells))
    if cell not in cells:
        sys.exit(f"{options.file}: has no rounds of '{cell}'")
    expected = {number: row for number, row in cells[cell].items() if not options.rounds or number <= options.rounds}
    with tempfile.TemporaryDirectory() as folder:
        found = run_again(os.path.abspath(options.program), expected[1]["study"], cell, options.rounds, folder)
    names = [name for name in COMPARED if name in expected[1]]
    wrong = [f"round {number}, {name}: {row[name]} in the file, {found[number][name]} here" for number, row in expected.items()
             for name in names if differs(row[name], found[number][name], options.within)]
    print(f"{cell}: {len(expected)} rounds, {len(expected) * len(names)} values, {len(wrong)} differ", *wrong, sep="\n")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
