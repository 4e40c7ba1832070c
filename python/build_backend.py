"""Makes a wheel of the package (PEP 517): CMake builds and installs it into a folder, and that is zipped.

With the standard library alone, so that `pip install .` needs no network: there is nothing for pip to fetch. Built in
build/wheel-TAG, which is kept: a second run compiles only what has changed. `pip install . --config-settings
build-dir=build/release` takes what a preset has built already.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
TAG = f"{PYTHON}-{PYTHON}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _version():
    return re.search(r"^project\(dissent VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def _metadata():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {item}" for item in project["dependencies"]),
    ]
    for extra, items in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {item}; extra == "{extra}"' for item in items)]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()]
    return "\n".join(lines)


def _write_info(folder):
    """The dist-info folder, without the RECORD that lists what is in the wheel."""
    info = pathlib.Path(folder) / f"dissent-{_version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(_metadata())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: dissent\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    shutil.copy(ROOT / "LICENSE", info)
    return info


def _install(build, folder):
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", folder, "--strip"], check=True)


def _build():
    build = ROOT / "build" / f"wheel-{TAG}"
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DDISSENT_BUILD_PYTHON=ON", "-DDISSENT_BUILD_TESTS=OFF"]
    if shutil.which("ninja"):
        options.append("-GNinja")
    subprocess.run(["cmake", "-S", ROOT, "-B", build, f"-DDISSENT_PYTHON={sys.executable}", *options], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", build, "--target", "dissent_python", "-j", jobs], check=True)
    return build


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _write_info(metadata_directory).name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"dissent-{_version()}-{TAG}.whl"
    with tempfile.TemporaryDirectory() as folder:
        _install((config_settings or {}).get("build-dir") or _build(), folder)
        info = _write_info(folder)
        record = []
        with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            for path in sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file()):
                inside = path.relative_to(folder).as_posix()
                wheel.write(path, inside)
                digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
                record.append(f"{inside},sha256={digest},{path.stat().st_size}\n")
            record.append(f"{info.name}/RECORD,,\n")
            wheel.writestr(f"{info.name}/RECORD", "".join(record))
    return name
