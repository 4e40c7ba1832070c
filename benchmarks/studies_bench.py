"""What a study costs beyond its campaigns: 1,000 tiny ones alone, on SQLite and on PostgreSQL, and with three workers.

The campaigns are so small that the cost of recording them shows: ten rows of a table, a model of two networks with four
units, one epoch, two rounds of two rows. Each variant runs `--repeats` times in turn, and medians are compared. A
store's cost is the time of its run beyond that of the campaigns alone, per round, where the last model counts as a
round; likewise for processor time (without the server's).
Three workers share a grid of campaigns whose rounds take some 50 ms, as small ones do. What they lose to each other is
how much more processor time they take than one worker, and how much later they end than three workers that each have a
third of the grid and their own store.
The script runs its own PostgreSQL server (Debian's package); without it that line is left out.
Called by run.sh with the folder of the benchmark programs.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
from postgresql_server import Server, server_programs  # noqa: E402

GRID = """name = "tiny"
rounds = 2

[settings]
model = "pne"
epochs = 1
hidden = [4]
components = 2
batch = 2
candidates = 10

[grid]
problem = "tiny"
acquisition = ["random", "kl"]
seed = "0-{last}"

[table.tiny]
file = "{table}"
targets = "y"
labelled = 10
test = 10
"""

WORK = """name = "work"
rounds = 2

[settings]
model = "pne"
epochs = 20
components = 3
batch = 5

[grid]
problem = "hetero"
acquisition = "kl"
seed = "{seeds}"
"""


def run_all(commands):
    """Runs the commands at the same time; returns what each printed."""
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        sys.exit("studies_bench failed")
    return [json.loads(output) for output in outputs]


class Bench:
    def __init__(self, program, folder, cells):
        self.program = program
        self.folder = folder
        self.table = folder / "tiny.csv"
        self.table.write_text("x,y\n" + "".join(f"{k / 40},{k % 7}\n" for k in range(40)))
        self.grid = self.write("grid.toml", cells)
        self.work = self.write_work("work.toml", "0-35")
        self.thirds = [self.write_work(f"{k}.toml", f"{12 * k}-{12 * k + 11}") for k in range(3)]
        self.count = 0

    def write(self, name, cells):
        path = self.folder / name
        path.write_text(GRID.format(last=cells // 2 - 1, table=self.table))
        return path

    def write_work(self, name, seeds):
        path = self.folder / name
        path.write_text(WORK.format(seeds=seeds))
        return path

    def store(self):
        self.count += 1
        return f"sqlite:{self.folder}/{self.count}.db"

    def alone(self):
        return run_all([[self.program, self.grid]])[0]

    def on(self, store):
        return run_all([[self.program, self.grid, store]])[0]

    def one_worker(self):
        return run_all([[self.program, self.work, self.store()]])[0]

    def shared(self):
        store = self.store()
        return run_all([[self.program, self.work, store]] * 3)

    def apart(self):
        return run_all([[self.program, grid, self.store()] for grid in self.thirds])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    server = Server() if server_programs() else None
    times, extra, losses, delays = {}, {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(options.bin) / "studies_bench", pathlib.Path(folder), options.cells)
        for repeat in range(options.repeats):
            alone = bench.alone()
            runs = {"SQLite": bench.on(bench.store())}
            if server:
                runs["PostgreSQL"] = bench.on(server.make_database(f"run{repeat}"))
            times.setdefault("alone", []).append(1e3 * alone["seconds"] / alone["models"])
            for name, run in runs.items():
                times.setdefault(name, []).append(1e3 * run["seconds"] / run["models"])
                extra.setdefault(name, []).append(
                    [1e3 * (run[clock] - alone[clock]) / run["models"] for clock in ("seconds", "cpu_seconds")])
            one, shared, apart = bench.one_worker(), bench.shared(), bench.apart()
            losses.append(sum(run["cpu_seconds"] for run in shared) / one["cpu_seconds"] - 1)
            delays.append(max(run["seconds"] for run in shared) / max(run["seconds"] for run in apart) - 1)
    if server:
        server.close()
    print(f"{options.cells} campaigns, {alone['models']} models")
    print()
    print("| | ms a round | beyond the campaigns | of the processor | ratio |")
    print("|---|---|---|---|---|")
    base = statistics.median(times["alone"])
    for name, values in times.items():
        beyond = [f"{statistics.median(column):.2f}" for column in zip(*extra.get(name, []))] or ["", ""]
        print(f"| {name} | {statistics.median(values):.2f} | {' | '.join(beyond)} | {statistics.median(values) / base:.2f}x |")
    print()
    print(f"Three workers on one store: {100 * statistics.median(losses):+.1f}% of the processor's time against one worker, "
          f"{100 * statistics.median(delays):+.1f}% of the time until the last one ends against three stores.")


if __name__ == "__main__":
    main()
