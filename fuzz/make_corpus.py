"""Writes a few small valid files for each fuzz target to start from: make_corpus.py FOLDER (needs numpy)."""

import json
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
for name in ("npy", "npz", "csv", "safetensors", "campaign"):
    (folder / name).mkdir(parents=True, exist_ok=True)

small = np.arange(6).reshape(2, 3)
for dtype in ("f4", "f8", "i1", "i8", "u2", "?"):
    np.save(folder / "npy" / f"{dtype.replace('?', 'bool')}.npy", small.astype(dtype))
np.save(folder / "npy" / "fortran.npy", np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)))
np.save(folder / "npy" / "big_endian.npy", small.astype(">f4"))
np.save(folder / "npy" / "scalar.npy", np.float64(1.5))
np.save(folder / "npy" / "empty.npy", np.zeros((0, 3), "f4"))
with open(folder / "npy" / "version2.npy", "wb") as file:
    np.lib.format.write_array(file, small, version=(2, 0))

np.savez(folder / "npz" / "stored.npz", mean=small.astype("f4"), stddev=small + 1.0)
np.savez_compressed(folder / "npz" / "deflated.npz", mean=np.zeros((50, 4), "f4"), weights=np.ones(3))

(folder / "csv" / "plain.csv").write_bytes(b"a,b,c\n1,2.5,-3e-7\nnan,,inf\n")
(folder / "csv" / "quoted.csv").write_bytes(b'\xef\xbb\xbf"x, y";city\r\n1;"Bern ""BE""\r\nCH"\r\n;+2\r\n')
(folder / "csv" / "tabs.csv").write_bytes(b"id\tname\n 1 \ttwo words\n\n")


def safetensors(header, data):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


(folder / "safetensors" / "two.safetensors").write_bytes(safetensors(
    {"__metadata__": {"format": "test"}, "a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
     "b": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]}}, bytes(range(16))))
(folder / "safetensors" / "unaligned.safetensors").write_bytes(safetensors(
    {"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
     "b": {"dtype": "F64", "shape": [1], "data_offsets": [1, 9]}}, bytes(9)))

# A campaign with n chosen rows, two rounds and a model, and the beginning of one.
for n, fits in ((3, 1), (0, 0)):
    arrays = {name: np.arange(n) for name in ("chosen.row", "chosen.round", "chosen.labelled")}
    arrays["chosen.round"] = np.minimum(arrays["chosen.round"], 1)
    arrays["chosen.labelled"] = np.minimum(arrays["chosen.labelled"], 1)
    arrays |= {f"chosen.{name}": np.linspace(0, 1, n) for name in ("score", "epistemic", "aleatoric")}
    arrays |= {"chosen.targets": np.ones((n, 2)), "rounds": np.ones((2 * fits, 5)), "rounds.seconds": np.ones((2 * fits, 2)),
               "fitted": np.ones((fits, 4)), "fitted.seconds": np.ones(fits)}
    header = {"__metadata__": {"format": "dissent.campaign", "format_version": "1", "targets": "2",
                               "data_fingerprint": "0123456789abcdef", "model_fingerprint": "0", "setting --batch": "4"}}
    data = b""
    for name, array in arrays.items():
        header[name] = {"dtype": "I64" if array.dtype.kind == "i" else "F64", "shape": array.shape,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    (folder / "campaign" / f"{n}.safetensors").write_bytes(safetensors(header, data))
