"""Writes a few small valid files for each fuzz target to start from: make_corpus.py FOLDER (needs numpy)."""

import json
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
for name in ("npy", "npz", "csv", "safetensors", "model", "campaign"):
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


def model(name, kind="pne", outputs=1, components=1, share_weights=False):
    """A small model file as src/dissent/ensemble/model_file.cpp describes it; all hidden units kept."""
    inputs, hidden, flow_hidden, bins = 2, 2, 2, 2
    arrays = {f"{side}.{what}": np.ones(size) for side, size in (("input", inputs), ("target", outputs))
              for what in ("offset", "scale")}
    arrays["weights"] = np.full(components, 1 / components)
    arrays["log_stddev_floor"] = np.full((components, outputs), -5, "f4")
    for c in range(components):
        arrays[f"component{c}.mask0"] = np.arange(hidden)
    for prefix in ["shared"] if share_weights else [f"component{c}" for c in range(components)]:
        arrays[f"{prefix}.hidden0.weight"] = np.full((hidden, inputs), 0.5, "f4")
        arrays[f"{prefix}.hidden0.bias"] = np.zeros(hidden, "f4")
        for head in ("mean", "log_stddev"):
            arrays[f"{prefix}.{head}.weight"] = np.full((outputs, hidden), 0.25, "f4")
            arrays[f"{prefix}.{head}.bias"] = np.zeros(outputs, "f4")
    if kind == "flow":
        arrays["flow.permutation0"] = np.arange(outputs)[::-1]
        parameters = (outputs + 1) // 2 * (2 * bins + 2)
        arrays["flow.layer0.hidden0.weight"] = np.full((flow_hidden, inputs + outputs // 2), 0.5, "f4")
        arrays["flow.layer0.hidden0.bias"] = np.zeros(flow_hidden, "f4")
        arrays["flow.layer0.transform.weight"] = np.full((parameters, flow_hidden), 0.1, "f4")
        arrays["flow.layer0.transform.bias"] = np.zeros(parameters, "f4")
    ensemble = {"library_version": "0", "model": kind, "inputs": ["a", "b"], "targets": list("xyz")[:outputs],
                "components": components, "hidden": [hidden], "keep_probability": 0.5, "bootstrap": not share_weights,
                "own_initial_weights": not share_weights, "share_weights": share_weights, "scaling": "minmax",
                "transform": "cubic", "bins": bins, "tail_bound": 1.2, "flow_hidden": [flow_hidden], "flow_layers": 1,
                "seed": 7}
    header = {"__metadata__": {"format": "dissent.ensemble", "format_version": "1", "ensemble": json.dumps(ensemble)}}
    data = b""
    for key, array in sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize):
        shape = array.shape[:1] if array.ndim == 2 and array.shape[1] == 1 and "weight" in key else array.shape
        dtype = {"float32": "F32", "float64": "F64", "int64": "I64"}[array.dtype.name]
        bytes_ = np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    (folder / "model" / name).write_bytes(safetensors(header, data))


model("pne")
model("pne_two", outputs=2, components=2)
model("flow", "flow", 1)
model("flow_three", "flow", 3, 2)
model("shared", "flow", 2, 2, share_weights=True)


def campaign(name, arrays, metadata):
    header = {"__metadata__": {"format": "dissent.campaign", "targets": "2", "data_fingerprint": "0123456789abcdef",
                               "model_fingerprint": "0", **metadata}}
    data = b""
    for key, array in arrays.items():
        header[key] = {"dtype": "I64" if array.dtype.kind == "i" else "F64", "shape": array.shape,
                       "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    (folder / "campaign" / f"{name}.safetensors").write_bytes(safetensors(header, data))


# A campaign with n chosen rows, two rounds and a model, and the beginning of one, in both formats.
for n, fits in ((3, 1), (0, 0)):
    chosen = {name: np.arange(n) for name in ("chosen.row", "chosen.round", "chosen.labelled")}
    chosen["chosen.round"] = np.minimum(chosen["chosen.round"], 1)
    chosen["chosen.labelled"] = np.minimum(chosen["chosen.labelled"], 1)
    chosen |= {f"chosen.{name}": np.linspace(0, 1, n) for name in ("score", "epistemic", "aleatoric")}
    chosen |= {"chosen.targets": np.ones((n, 2))}
    campaign(n, chosen | {"rounds": np.ones((2 * fits, 5)), "rounds.seconds": np.ones((2 * fits, 2)),
                          "fitted": np.ones((fits, 4)), "fitted.seconds": np.ones(fits)},
             {"format_version": "1", "setting --batch": "4", "setting --no-masks": ""})
    records = {}
    for key, count in (("rounds", 2 * fits), ("fitted", fits)):
        records |= {f"{key}.{name}": np.arange(1, count + 1) for name in ("round", "labelled")}
        records |= {f"{key}.{name}": np.ones(count) for name in (
            "rmse", "rmse_paper", "log_likelihood", "chosen_epistemic", "fit_seconds", "score_seconds",
            "scoring_seconds", "expert_share")}
    campaign(f"{n}_fields", chosen | records,
             {"format_version": "2", "command": "ask", "settings.batch": "4", "settings.candidates": "all",
              "settings.weights": "", "settings.masks": "false", "settings.learning_rate": "0.01"})
