"""The package as a whole: its wheel, its types, and what it needs."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import dissent
from support import ROOT, PackageTest

sys.path.insert(0, os.path.join(ROOT, "python"))
import build_backend  # noqa: E402


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class Wheel(PackageTest):
    def test_pip_installs_what_the_backend_makes(self):
        build = os.path.dirname(os.path.dirname(dissent.__path__[0]))
        with tempfile.TemporaryDirectory() as folder:
            name = build_backend.build_wheel(folder, {"build-dir": build})
            with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                self.assertIsNone(wheel.testzip())
            target = os.path.join(folder, "target")
            pip = run(
                sys.executable,
                "-m",
                "pip",
                "install",
                "--no-index",
                "--no-deps",
                "--target",
                target,
                os.path.join(folder, name),
            )
            self.assertEqual(pip.returncode, 0, pip.stderr)
            code = "import dissent as d; print(d.__version__, d.__file__, d.epistemic([[0., 1.]], [[1., 1.]]))"
            used = run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": target}, cwd=folder)
            self.assertEqual(used.returncode, 0, used.stderr)
            self.assertIn(target, used.stdout)
            self.assertTrue(used.stdout.startswith(build_backend._version()))


class Build(PackageTest):
    """pip hides what a build prints: how far it is goes to the terminal."""

    def compile(self, code, terminal):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            build_backend._compile([sys.executable, "-c", code], terminal, every=0)
        return output.getvalue()

    def test_the_terminal_is_told_how_far_it_is(self):
        terminal = io.StringIO()
        printed = self.compile("print('start\\n[1/40] one\\n[ 50%] two\\nend')", terminal)
        self.assertEqual(printed, "start\n[1/40] one\n[ 50%] two\nend\n")
        self.assertEqual(terminal.getvalue(), "\r  dissent: 1 of 40 compiled\n\r  dissent: 50% compiled\n")
        self.assertEqual(self.compile("print('[1/40] one')", None), "[1/40] one\n")

    def test_a_build_that_fails_is_an_error(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.compile("raise SystemExit(3)", None)


class Needs(PackageTest):
    def test_numpy_is_enough_for_arrays(self):
        """With scikit-learn, pandas, tqdm, matplotlib and torch out of reach; what needs one of them says so."""
        code = """
import sys
for name in ("sklearn", "pandas", "tqdm", "matplotlib", "torch"):
    sys.modules[name] = None
import dissent
dissent.epistemic([[0.0, 1.0]], [[1.0, 1.0]])
for what in (lambda: dissent.FlowEnsemble, lambda: dissent.plot.learning_curves({"kl": [1, 2]})):
    try:
        what()
    except ImportError as error:
        print(error)
"""
        result = run(sys.executable, "-c", code)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("dissent.FlowEnsemble needs sklearn", result.stdout)
        self.assertIn("dissent.plot needs matplotlib", result.stdout)


    def test_any_numpy(self):
        """numpy 2 has moved numpy.core, and refuses modules that read its C interface there."""
        code = """
import sys, types, warnings
import numpy as np

class Moved(types.ModuleType):
    def __getattr__(self, name):
        raise ImportError(f"A module that was compiled using NumPy 1.x cannot be run in NumPy 2: {name}")

for name in ("numpy.core", "numpy.core.multiarray", "numpy.core._multiarray_umath"):
    sys.modules[name] = Moved(name)
import dissent
mean = np.zeros((4, 3, 2))
for dtype in (np.float32, np.float64):
    assert (dissent.epistemic(mean.astype(dtype), np.ones((4, 3, 2), dtype)) == 0).all()
assert dissent.divergence(mean, np.ones((4, 3, 2))).shape == (4, 3, 3)
assert dissent.epistemic(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
rows = dissent._core.draw_candidates(10, 3, 0)
assert rows.dtype == np.int64 and rows.flags.writeable and rows.shape == (3,)
"""
        result = run(sys.executable, "-c", code)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_bindings_use_buffers_alone(self):
        folder = os.path.join(ROOT, "python", "src")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                self.assertNotIn("pybind11/numpy.h", file.read(), name)


# As a user writes it: every line is right but those that say otherwise.
SCRIPT = """
import dissent
import numpy as np

x = np.linspace(-1, 1, 30)[:, None]
model = dissent.FlowEnsemble(epochs=5).fit(x, x[:, 0])
rows: int = model.predict(x).shape[0]
mean, std = model.predict(x, return_std=True)
print((mean / std).tolist(), model.n_iter_ + 1, model.set_params(epochs=3).score(x, x[:, 0]) > 0.5)
gaussians: dissent.ProbabilisticEnsemble = dissent.ProbabilisticEnsemble.load("y.model")
print(dissent.query(gaussians, x, 3).tolist(), dissent.query(gaussians, x, return_utilities=True)[1].shape)
strategy = dissent.QueryStrategy("kl-joint")
print(strategy.query(x, x[:, 0], model).tolist())
chosen, utilities = strategy.query(x, x[:, 0], model, batch_size=2, return_utilities=True)
print(chosen.tolist(), utilities.shape, dissent.Campaign("c").ask(2).tolist())
model.predcit(x)  # wrong
model.predict(x, return_std=True).shape  # wrong
strategy.qurey(x, x[:, 0], model)  # wrong
dissent.epistmeic(x, x)  # wrong
dissent.FlowEnsemble(3, hidden=[8, 8], weight_decay=0.1, random_state=np.random.default_rng(0)).epochs
dissent.FlowEnsemble(epcohs=5)  # wrong
dissent.ProbabilisticEnsemble(n_flow_layers=2)  # wrong
dissent.ProbabilisticEnsemble(epochs="5")  # wrong
dissent.GaussianProcessEnsemble(8, log_targets="none").fit(x, x[:, 0]).predict_mixture(x).space.upper()
dissent.GaussianProcessEnsemble(epochs=5)  # wrong
dissent.AutoEnsemble(epochs=5, n_flow_layers=2).fit(x, x[:, 0]).fit_report_["choice"]
dissent.AutoEnsemble(modle="gp")  # wrong
dissent.Campaign("c", model="pne", epochs=5, random_state=3, inputs="a")
dissent.Campaign("c", epcohs=5)  # wrong
dissent.Campaign("c").model().epistemic(x).max()
dissent.Campaign("c").tel([0], [0.5])  # wrong
"""


class Types(PackageTest):
    def test_mypy(self):
        """The annotations agree with each other and with the stub of _core, and the stub with what is there."""
        try:
            import mypy.api
        except ImportError:
            self.skipTest("mypy is not installed")
        package = dissent.__path__[0]  # with the part that the build writes
        with tempfile.TemporaryDirectory() as folder:
            options = ["--cache-dir", folder, "--ignore-missing-imports", "--no-error-summary"]
            options.append("--enable-incomplete-feature=Unpack")  # newer ones need no telling
            script = os.path.join(folder, "script.py")
            with open(script, "w") as file:
                file.write(SCRIPT)
            report, errors, _ = mypy.api.run([*options, package, script])
        found = [line.split(":")[:2] for line in report.splitlines() if ": error: " in line]
        wrong = [("script.py", k + 1) for k, line in enumerate(SCRIPT.splitlines()) if line.endswith("# wrong")]
        self.assertEqual(errors, "")
        self.assertEqual([(os.path.basename(path), int(line)) for path, line in found], wrong, report)

    def test_stub_names_what_there_is(self):
        with open(os.path.join(ROOT, "python", "dissent", "_core.pyi")) as file:
            stub = file.read()
        core = dissent._core
        for name in vars(core):
            if not name.startswith("__"):
                self.assertRegex(stub, rf"\b{name}\b")
        for owner in (value for value in vars(core).values() if isinstance(value, type)):
            for name in vars(owner):
                if not name.startswith("_"):
                    self.assertRegex(stub, rf"def {name}\(")


if __name__ == "__main__":
    unittest.main()
