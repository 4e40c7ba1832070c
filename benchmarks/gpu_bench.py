"""Training on a card against JAX, one after the other on the same card; prints a table of docs/benchmarks.md.

    gpu_bench.py BIN [NAME...]     BIN: folder of the benchmark programs; names: hetero, hopper, ant, humanoid

Microseconds per step of one campaign, the median of five runs: batch, forward, backward and Adam of Nflows Base with
five components, for 70 campaigns together and for one alone. Runs other scripts here named gpu_*_peers.py and programs
gpu_*_bench as they are, and prints their lines below. Without a card it says so and ends with 1; without JAX the peer's
column stays empty.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
NAMES = ("hetero", "hopper", "ant", "humanoid")
PYTHON = os.environ.get("DISSENT_PEER_PYTHON", sys.executable)  # one that has JAX and PyTorch for the card
PEER_SECONDS = float(os.environ.get("DISSENT_PEER_SECONDS", "600"))  # for JAX to compile and run


def rows_of(text):
    """{(name, campaigns): line}"""
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return {(row["name"], row["campaigns"]): row for row in rows}


def our_rows(bin_folder, names):
    command = [str(bin_folder / "gpu_train_bench"), "cuda", *names]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return rows_of(done.stdout)


def peer_rows(names):
    """Compiling takes minutes: all side by side, then timed one at a time. Messages of failing peers are passed on."""
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    deadline = time.monotonic() + PEER_SECONDS
    rows = {}
    with tempfile.NamedTemporaryFile() as lock:
        command = [PYTHON, str(HERE / "gpu_train_peers.py"), "--lock", lock.name]
        piped = {"stdout": subprocess.PIPE, "text": True, "env": environment}
        peers = [subprocess.Popen([*command, name], **piped) for name in names]
        for peer in reversed(peers):  # the last is the largest: when it is given up, the others can go on
            try:
                rows |= rows_of(peer.communicate(timeout=max(1, deadline - time.monotonic()))[0])
            except subprocess.TimeoutExpired:
                peer.kill()
                rows |= rows_of(peer.communicate()[0])
                deadline = time.monotonic() + PEER_SECONDS / 4
    return rows


def text(row):
    return "" if row is None else f"{row['median_us']:.3g} ({row['low_us']:.3g} to {row['high_us']:.3g})"


def train_table(bin_folder, names):
    names = names or NAMES
    ours = our_rows(bin_folder, names)
    peers = peer_rows(names)
    print("| campaigns | Dissent, us | JAX, us | times as fast |")
    print("|---|---|---|---|")
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
