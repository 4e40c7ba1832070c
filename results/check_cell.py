"""Runs one campaign of the results again and compares: python3 results/check_cell.py FILE [CELL] [options]

    python3 results/check_cell.py results/paper-pne-cpu.csv.gz
    python3 results/check_cell.py results/paper-pne-cpu.csv.gz 'problem=hetero acquisition=badge seed=0' --rounds 3

FILE is a table of rounds whose grid is in `studies`. Without CELL one is drawn at random. Its campaign is run as far as
the file has it; --rounds R runs only the first R rounds, which do not depend on how many follow. Every number except
times must be the same to the bit; with --within T they may differ by T of their size. --device is where it runs. The
exit code is 1 if they do not agree, and 2 if there is nothing to compare.
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
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_rounds(path):
    """{cell: {round: row}}"""
    cells = {}
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row.get("round"):
                cells.setdefault(row["cell"], {})[int(row["round"])] = row
    return cells


def origin(path, problem, seed):
    """Commit and device of a campaign's rows in a file, as far as the manifest knows."""
    with open(os.path.join(ROOT, "results", "manifest.toml"), "rb") as file:
        parts = tomllib.load(file)["part"]
    return {(part["commit"], part["device"]) for part in parts
            if part["file"] == os.path.basename(path) and problem in part["problems"] and seed in part.get("seeds", [seed])}


def run_again(program, device, study, cell, rounds, folder):
    """The rounds of the cell, from a store of its own."""
    with open(os.path.join(ROOT, "studies", study + ".toml")) as file:
        grid = file.read()
    grid, found = re.subn(r"^rounds = (\d+)$", lambda said: f"rounds = {min(rounds, int(said[1]))}", grid, count=1, flags=re.M)
    assert found == 1, study
    path, store = os.path.join(folder, "grid.toml"), "sqlite:" + os.path.join(folder, "one.db")
    with open(path, "w") as file:
        file.write(grid)
    output = os.path.join(folder, "one.csv")
    run = ["run", path, "--only", cell, "--store", store, "--device", device]
    for command in (run, ["export", store, "--output", output]):
        if done := subprocess.run([program, "study", *command, "--quiet"], cwd=ROOT, check=False).returncode:
            sys.exit(done)
    return read_rounds(output)[cell]


def differs(one, other, within):
    if one == other:
        return False
    if not one or not other or within == 0:
        return True
    return not abs(float(one) - float(other)) <= within * max(abs(float(one)), abs(float(other)))


def at_least_one(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not 1 or more")
    return int(text)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("cell", nargs="?")
    parser.add_argument("--rounds", type=at_least_one, help="the first rounds alone")
    parser.add_argument("--within", type=float, default=0, help="of a number's size; 0, the default: to the bit")
    parser.add_argument("--device", default="cpu", help="cpu, the default, or cuda")
    built = os.path.join(ROOT, "build", "release", "bin", "dissent")
    parser.add_argument("--program", default=built if os.path.isfile(built) else shutil.which("dissent") or built)
    options = parser.parse_args()
    if not os.path.isfile(options.file):
        parser.error(f"{options.file}: there is no such file")
    if not os.path.isfile(options.program):
        parser.error(f"{options.program}: there is no such program; build it, or name it by --program")
    try:
        cells = read_rounds(options.file)
    except (OSError, UnicodeDecodeError, csv.Error, KeyError):
        parser.error(f"{options.file}: is no table that 'dissent study export' wrote")
    if not cells:
        parser.error(f"{options.file}: has no rounds; measurements are made again by 'dissent study measure'")
    options.cell = options.cell or random.choice(sorted(cells))
    if options.cell not in cells:
        known = "', '".join(sorted(cells)[:3])
        parser.error(f"{options.file}: has no rounds of '{options.cell}'; it has '{known}' and others")
    return options, cells[options.cell]


def main():
    options, rounds = read_options()
    expected = {number: row for number, row in rounds.items() if not options.rounds or number <= options.rounds}
    print(f"{options.cell}: {len(expected)} rounds", flush=True)
    for commit, device in origin(options.file, expected[1]["problem"], int(expected[1]["seed"])):
        print(f"these rows were made on {device} by commit {commit}", flush=True)
        if device != options.device and not options.within:
            print(f"other devices give other digits, and soon other rows: give --device {device}, or --within with --rounds 1",
                  file=sys.stderr)
            sys.exit(2)
    with tempfile.TemporaryDirectory() as folder:
        program, study = os.path.abspath(options.program), expected[1]["study"]
        found = run_again(program, options.device, study, options.cell, max(expected), folder)
    columns = list(expected[1])
    names = [name for name in columns[columns.index("round") + 1 :] if not name.endswith("_seconds")]
    wrong = [
        f"round {number}, {name}: {row[name]} in the file, {found[number][name]} here"
        for number, row in expected.items()
        for name in names
        if row[name] and differs(row[name], found[number][name], options.within)  # the last may not have chosen there
    ]
    print(f"{len(expected) * len(names)} values, {len(wrong)} differ", *wrong, sep="\n")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
