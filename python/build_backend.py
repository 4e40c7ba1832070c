"""Makes a wheel of the package (PEP 517): CMake builds and installs it into a folder, and that is zipped.

It uses only the standard library, so `pip install .` needs no network. The build folder, build/wheel-TAG, is kept, and
a second run compiles only what has changed. Two settings change what is built (pip install . --config-settings ...):

  build-dir=build/release  takes what a preset has built already
  portable=yes             makes a wheel for any Linux with this C library or a later one: it brings the libraries that
                           it needs, and reads no HDF5

pip hides what a build prints unless it fails or runs with -v, so progress goes to the terminal, if there is one.
"""
import base64
import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The Debian packages of what is linked into the module or put beside it: their licences go with a wheel for others.
BUNDLED = ["libfmt-dev", "libhwy-dev", "libeigen3-dev", "librandom123-dev", "libboost-math-dev", "nlohmann-json3-dev"]
BUNDLED += ["pybind11-dev"]


def _tag(portable):
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if portable:  # PEP 600
        glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
        platform = platform.replace("linux", f"manylinux_{glibc}", 1)
    return f"{python}-{python}-{platform}"


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


def _write_info(folder, portable):
    """The dist-info folder, without the RECORD that lists what is in the wheel."""
    info = pathlib.Path(folder) / f"dissent-{_version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(_metadata())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: dissent\nRoot-Is-Purelib: false\nTag: {_tag(portable)}\n")
    shutil.copy(ROOT / "LICENSE", info)
    for package in BUNDLED if portable else []:
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(f"/usr/share/doc/{package}/copyright", info / f"LICENSE.{package.removesuffix('-dev')}")
    return info


def _install(build, folder, portable):
    for component in ["python", "wheel"] if portable else ["python"]:
        subprocess.run(["cmake", "--install", build, "--component", component, "--prefix", folder, "--strip"], check=True)


def _terminal():
    try:
        return open("/dev/tty", "w")
    except OSError:
        return contextlib.nullcontext()


def _compile(command, terminal, every=10):
    """Runs a build and prints what it prints; tells the terminal, if any, how far it is, every few seconds."""
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    told = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            share = re.match(r"\[ *(\d+/\d+|\d+%)\] ", line)  # by ninja or by make
            if terminal and share and time.monotonic() - told >= every:
                told = time.monotonic()
                print(f"\r  dissent: {share[1].replace('/', ' of ')} compiled", file=terminal, flush=True)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)


def _configure():
    build = ROOT / "build" / f"wheel-{_tag(portable=False)}"
    options = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DDISSENT_BUILD_PYTHON=ON",
        "-DDISSENT_BUILD_PROGRAM=OFF",
        "-DDISSENT_BUILD_TESTS=OFF",
        f"-DDISSENT_PYTHON={sys.executable}",
    ]
    if shutil.which("ninja"):
        options.append("-GNinja")
    subprocess.run(["cmake", "-S", ROOT, "-B", build, *options], check=True)
    return build


def _build(build, portable):
    command = ["cmake", "--build", build, "--target", "dissent_wheel" if portable else "dissent_python"]
    if "CMAKE_BUILD_PARALLEL_LEVEL" not in os.environ:
        command += ["-j", str(os.cpu_count() or 1)]
    with _terminal() as terminal:
        _compile(command, terminal)


def get_requires_for_build_wheel(config_settings=None):
    return []


def _portable(config_settings):
    return (config_settings or {}).get("portable") == "yes"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _write_info(metadata_directory, _portable(config_settings)).name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    portable = _portable(config_settings)
    name = f"dissent-{_version()}-{_tag(portable)}.whl"
    build = (config_settings or {}).get("build-dir")
    if not build:
        build = _configure()
        _build(build, portable)
    with tempfile.TemporaryDirectory() as folder:
        _install(build, folder, portable)
        info = _write_info(folder, portable)
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
