"""Training on a card against JAX, one after the other on the same card; prints a table of docs/benchmarks.md.

    gpu_bench.py BIN [NAME...]     BIN: folder of the benchmark programs; names: hetero, hopper, ant, humanoid

Microseconds of a step of one campaign, the median of five runs: batch, forward, backward and Adam of Nflows Base with
five components, of 70 campaigns together and of one alone. Other scripts here named gpu_*_peers.py and programs
gpu_*_bench are run as they are, and their lines printed below. Without a card it says so and ends with 1; without JAX
the peer's column stays empty.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
NAMES = ("hetero", "hopper", "ant", "humanoid")
PYTHON = os.environ.get("DISSENT_PEER_PYTHON", sys.executable)  # one that has JAX and PyTorch for the card


def lines_of(command, must):
    """{(name, campaigns): line}; what a peer that fails says is passed on."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 and must:
        sys.exit(done.returncode)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(row["name"], row["campaigns"]): row for row in rows}


def text(row):
    return "" if row is None else f"{row['median_us']:.3g} ({row['low_us']:.3g} to {row['high_us']:.3g})"


def train_table(bin_folder, names):
    print("| campaigns | Dissent, us | JAX, us | times as fast |")
    print("|---|---|---|---|", flush=True)
    for name in names or NAMES:  # a row as soon as it is known: compiling the peer takes minutes in all
        ours = lines_of([str(bin_folder / "gpu_train_bench"), "cuda", name], must=True)
        peers = lines_of([PYTHON, str(HERE / "gpu_train_peers.py"), name], must=False)
        for key, row in ours.items():
            peer = peers.get(key)
            ratio = "" if peer is None else f"{peer['median_us'] / row['median_us']:.1f}"
            print(f"| {key[0]}, {key[1]} | {text(row)} | {text(peer)} | {ratio} |", flush=True)


def main(bin_folder, names):
    train_table(bin_folder, names)
    for program in sorted(bin_folder.glob("gpu_*_bench")):
        if program.name != "gpu_train_bench":
            print(f"\n{program.name}\n", flush=True)
            subprocess.run([str(program)], check=False)
    for script in sorted(HERE.glob("gpu_*_peers.py")):
        if script.name != "gpu_train_peers.py":
            print(f"\n{script.name}\n", flush=True)
            subprocess.run([PYTHON, str(script)], check=False)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
