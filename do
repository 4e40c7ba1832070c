#!/usr/bin/env bash
# The front door: one command for each thing you do with this repository. See `./do help`.
# Needs bash and apt; installs the missing Debian packages of each task.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# What each task needs: MuJoCo, HDF5 and SOCI are optional, but the program is built once, with all it can do.
program_packages=(g++ cmake ninja-build libfmt-dev libeigen3-dev libhwy-dev librandom123-dev libboost-math-dev
  libcli11-dev nlohmann-json3-dev zlib1g-dev libmujoco-dev libhdf5-dev libsoci-dev libsqlite3-dev libpq-dev
  libtomlplusplus-dev libcpp-httplib-dev)
python_packages=(python3-dev python3-venv pybind11-dev python3-numpy)
test_packages=(libgtest-dev librapidcheck-dev python3-h5py python3-pip python3-sklearn python3-pandas python3-tqdm
  python3-matplotlib python3-torch mypy r-base-core r-cran-ggplot2 r-cran-modeldata postgresql openmpi-bin)
page_packages=(chromium) # what opens the pages of `dissent report`; npm, which builds them, may come from elsewhere
bench_packages=(python3-torch python3-sklearn libopenblas0-serial)
tables_packages=(r-base-core r-cran-ggplot2 r-cran-modeldata) # data of `bench tables` and `bench choices`
lint_packages=(clang-format clang-tidy shellcheck git)
fuzz_packages=(clang libclang-rt-dev python3-numpy)
docs_packages=(doxygen python3)
deb_packages=(build-essential debhelper dh-python help2man lintian)
bare_packages=(mmdebstrap debian-archive-keyring git)

bin=build/release/bin # programs of the release build
step="start"          # what is being done, for the message on failure
on_exit() {
  local status=$?
  [[ $status == 0 ]] || echo "do: failed at: $step (exit code $status)" >&2
}
trap on_exit EXIT
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(($(nproc) + 1))} # some wait for a server or a browser
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER:-ccache}
  # Without these it keeps nothing compiled with precompiled headers.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
  # What one copy of this folder compiled serves all others, with the same compiler.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-yes}
  export CCACHE_COMPILERCHECK=${CCACHE_COMPILERCHECK:-content}
fi

say() {
  step=$*
  echo "== $*"
}

# progress PATTERN FORMAT [DROP]: passes lines on. Of those that match the pattern, it prints only how far they are,
# every ten seconds and at the end: what the pattern's groups matched, by the format. Drops what matches DROP.
progress() {
  local pattern=$1 format="   $2\n" drop=${3:-} line next=$((SECONDS + 10)) last=()
  while IFS= read -r line; do
    if [[ $line =~ $pattern ]]; then
      last=("${BASH_REMATCH[@]:1}")
      if ((SECONDS >= next)); then
        # shellcheck disable=SC2059
        printf "$format" "${last[@]}"
        last=() next=$((SECONDS + 10))
      fi
    elif [[ -z $drop || ! $line =~ $drop ]]; then
      printf '%s\n' "$line"
    fi
  done
  # shellcheck disable=SC2059
  [[ ${#last[@]} == 0 ]] || printf "$format" "${last[@]}"
}

# Installs the named Debian packages that are missing; silent when none are.
need() {
  local missing=() package as_root=() log count
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "install ${missing[*]}"
  command -v apt-get >/dev/null || {
    echo "there is no apt-get here: please install what Debian calls by these names" >&2
    return 1
  }
  if [[ $(id -u) != 0 ]]; then
    echo "not root: calling sudo for apt-get"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  count=$(apt-get install -s --no-install-recommends "${missing[@]}" | grep -c '^Inst ')
  echo "   $count packages, with those that these need"
  mkdir -p build
  log=build/install.log
  # Errors and apt's progress come on standard error; all else is kept in case of failure.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o APT::Status-Fd=2 "${missing[@]}" 2>&1 >"$log" |
    progress '^..status:[^:]*:([0-9]+)[^:]*:(.*)$' '%3d%%: %s' '^debconf: delaying' || {
    tail -n 20 "$log" >&2
    return 1
  }
}

# configure NAME OPTION...: runs cmake; shows its output only when it fails.
configure() {
  local log=build/$1.configure.log
  mkdir -p build
  cmake "${@:2}" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}

# Configures build/release with the library, the program and the named parts: TESTS, BENCHMARKS, PYTHON. Parts that it
# already has stay, so one folder serves all tasks and nothing is compiled twice, except what `./do test` compiles
# quickly where no card runs it.
configure_release() {
  local options=(--preset program) part
  [[ ! -f build/release/build.ninja ]] || options=(-S . -B build/release)
  options+=(-DDISSENT_CUDA_QUICK=OFF)
  for part in "$@"; do
    options+=("-DDISSENT_BUILD_$part=ON")
  done
  configure release "${options[@]}"
}

# compile PRESET [TARGET...]: builds with all cores. Without a terminal, a line now and then says how far it is.
compile() {
  local command=(cmake --build "build/$1")
  [[ $# == 1 ]] || command+=(--target "${@:2}")
  if [[ -t 1 ]]; then
    "${command[@]}"
  else
    NINJA_STATUS='[%f/%t] ' "${command[@]}" |
      progress '^\[([0-9]+)/([0-9]+)\] ' '%d of %d compiled' '^ninja: no work to do'
  fi
}

passed=0 failed=0 skipped=0 failing=()

# Builds a preset, runs its tests and adds up what ctest reports. A failing test does not stop the others.
run_tests() {
  local preset=$1 log=build/$1.test.log quick=ON summary total bad idle
  [[ ! -e /dev/nvidia0 ]] || quick=OFF
  say "build $preset"
  configure "$preset" --preset "$preset" -DDISSENT_CUDA_QUICK=$quick
  compile "$preset"
  say "test $preset"
  ctest --preset "$preset" --no-label-summary 2>&1 | tee "$log" |
    progress '^ *([0-9]+)/([0-9]+) Test +#.* Passed ' '%d of %d tests done' '^ +Start +[0-9]+:' || failing+=("$preset")
  summary=$(grep -E 'tests failed out of [0-9]+' "$log") || {
    echo "ctest ran no test" >&2
    return 1
  }
  total=${summary##* }
  bad=$(sed -E 's/.* ([0-9]+) tests failed.*/\1/' <<<"$summary")
  idle=$(grep -c ' (Skipped)$' "$log") || true
  passed=$((passed + total - bad - idle)) failed=$((failed + bad)) skipped=$((skipped + idle))
  # Later builds in that folder get fast code for cards.
  [[ $preset != release || $quick == OFF ]] || configure "$preset" -S . -B build/release -DDISSENT_CUDA_QUICK=OFF
}

cmd_test() {
  local preset presets=("$@")
  [[ $# -gt 0 ]] || presets=(release asan tsan)
  for preset in "${presets[@]}"; do
    [[ $preset =~ ^(release|asan|tsan)$ ]] || {
      step="reading the command line"
      echo "do test: '$preset' is none of release, asan and tsan" >&2
      return 2
    }
  done
  need "${program_packages[@]}" "${python_packages[@]}" "${test_packages[@]}" "${page_packages[@]}"
  command -v npm >/dev/null || need npm
  for preset in "${presets[@]}"; do
    run_tests "$preset"
  done
  say "test: $passed passed, $failed failed, $skipped skipped (${presets[*]})"
  [[ ${#failing[@]} == 0 ]] || {
    step="tests of ${failing[*]}"
    return 1
  }
}

# The tests of code for graphics cards. Those that need a card skip themselves where there is none; then this fails and
# says why.
cmd_gpu-test() {
  local log=build/gpu.test.log
  need "${program_packages[@]}" "${python_packages[@]}" "${test_packages[@]}"
  say "build release"
  configure_release TESTS
  compile release device_test
  say "test on a card"
  ctest --test-dir build/release -L '^gpu$' --output-on-failure --no-tests=error --no-label-summary | tee "$log"
  if grep -q ' (Skipped)$' "$log"; then
    step="gpu-test: no test ran on a card"
    "$bin/device_test" --gtest_filter='OnCard.AFit*' 2>&1 | grep -A1 ': Skipped' | tail -n 1 >&2
    return 1
  fi
}

cmd_demo() {
  need "${program_packages[@]}"
  say "build the program"
  configure_release
  compile release dissent_cli
  say "demo"
  PATH="$PWD/$bin:$PATH" DISSENT_DEMO_PAGE=$PWD/build/demo.html bash examples/demo.sh
}

cmd_python() {
  need "${program_packages[@]}" "${python_packages[@]}"
  say "build the Python package"
  configure_release PYTHON
  compile release dissent_python
  echo "   PYTHONPATH=$PWD/build/release/python python3 -c 'import dissent'"
}

# A wheel for any Linux with this one's C library or a later one: build/wheel.
cmd_wheel() {
  need "${program_packages[@]}" "${python_packages[@]}"
  say "build the wheel"
  configure_release PYTHON
  compile release dissent_wheel
  rm -rf build/wheel
  mkdir build/wheel
  PYTHONPATH=python /usr/bin/python3 -B >build/wheel.log \
    -c 'import build_backend as b; b.build_wheel("build/wheel", {"build-dir": "build/release", "portable": "yes"})'
  ls build/wheel/*.whl
}

# Debian packages of what the release build built, in build/deb: see debian/rules.
cmd_deb() {
  need "${program_packages[@]}" "${python_packages[@]}" "${deb_packages[@]}"
  say "build the program and the Python package"
  configure_release PYTHON
  compile release dissent_cli dissent_python
  say "build the Debian packages"
  local log=$PWD/build/deb.log folder=$PWD/build/release
  rm -rf build/deb
  mkdir -p build/deb/dissent
  tar -c --exclude=./build --exclude=./.git . | tar -x -C build/deb/dissent
  (cd build/deb/dissent &&
    DISSENT_BUILD_DIR=$folder DEB_BUILD_OPTIONS="nocheck noautodbgsym" dpkg-buildpackage -b -us -uc >"$log" 2>&1) || {
    tail -n 30 "$log" >&2
    return 1
  }
  say "lintian"
  lintian --fail-on error,warning build/deb/*.changes
  ls build/deb/*.deb
}

cmd_bench() {
  need "${program_packages[@]}" "${python_packages[@]}" "${bench_packages[@]}"
  [[ ! " $* " =~ " "(tables|choices)" " ]] || need "${tables_packages[@]}"
  [[ ! " $* " =~ " studies " ]] || need postgresql
  say "build release"
  configure_release BENCHMARKS PYTHON
  compile release
  say "bench"
  PATH="/usr/bin:$PATH" bash benchmarks/run.sh "$bin" "$@"
}

# Fuzzes each target for the given time, starting from valid files made for it; stops at the first crash.
cmd_fuzz() {
  local seconds=${1:-60} source name corpus
  [[ $seconds =~ ^[0-9]+$ ]] || {
    echo "do fuzz: SECONDS = '$seconds' is not a whole number" >&2
    return 2
  }
  need "${program_packages[@]}" "${fuzz_packages[@]}"
  say "build fuzz"
  configure fuzz --preset fuzz
  compile fuzz
  /usr/bin/python3 fuzz/make_corpus.py build/fuzz/corpus
  for source in fuzz/*_fuzz.cpp; do
    name=$(basename "$source" _fuzz.cpp)
    say "fuzz $name for $seconds s"
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    "build/fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -verbosity=0 \
      -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "$corpus"
  done
}

# The reference for the headers that users include.
cmd_docs() {
  need "${docs_packages[@]}"
  say "docs"
  /usr/bin/python3 docs/make_reference.py build/docs
}

# As a newcomer would: tests/bare.sh says what it does and needs.
cmd_bare() {
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    step="bare: nothing was tried"
    echo "do bare: only root on Debian can make and enter a bare Debian root" >&2
    return 1
  fi
  need "${bare_packages[@]}"
  exec bash tests/bare.sh "$@"
}

cpp_files() { git ls-files -co --exclude-standard '*.hpp' '*.cpp' '*.cu' '*.cuh'; }
shell_files() { git ls-files -co --exclude-standard '*.sh' 'do' .ci/run; }

cmd_format() {
  need "${lint_packages[@]}"
  say "format"
  cpp_files | xargs -r clang-format -i
}

cmd_lint() {
  need "${program_packages[@]}" "${lint_packages[@]}"
  say "clang-format"
  cpp_files | xargs -r clang-format --dry-run -Werror
  say "shellcheck"
  shell_files | xargs -r shellcheck
  say "configure" # clang-tidy reads commands that compile each source alone; the test presets join them
  configure lint --preset dev -B build/lint -DDISSENT_BUILD_TESTS=OFF
  say "clang-tidy"
  local log=build/clang-tidy.log
  run-clang-tidy -quiet -p build/lint "^$PWD/(src|apps)/.*\.cpp$" >"$log" 2>&1 || {
    grep -E -A4 '(warning|error):' "$log" >&2 || cat "$log" >&2
    return 1
  }
}

cmd_help() {
  cat <<'HELP'
usage: ./do COMMAND

  demo            build the program, score the shipped example, compare two campaigns, and write the page of a study
  test [PRESET..] build and test: optimised (release), then with the address and undefined behaviour sanitizers (asan),
                  then the thread sanitizer (tsan). Slow tests: ctest --test-dir build/release -L slow
  gpu-test        build and test code for graphics cards; fails, and says why, where there is no card
  bare [WHAT...]  make a bare Debian 12 with nothing but bash and apt, clone the last commit into it, and run
                  ./do demo there; with `test`, ./do test as well; with `packages`, ./do wheel and ./do deb too, whose
                  packages are then installed and used in another bare Debian. Root on Debian only
  python          build the Python package into build/release/python
  wheel           build a wheel that pip installs on any Linux as new as this one: build/wheel
  deb             build the Debian packages dissent, libdissent-dev and python3-dissent: build/deb
  docs            make the C++ reference from the headers: build/docs/html/index.html
  bench [NAME]    build and measure: estimator, ensemble, acquisition (against PyTorch), python (against numpy and C++),
                  and the fits of docs/ensembles.md: quality, tables (real data, against scikit-learn and
                  PyTorch; hours, but a stopped run continues; --help after the name lists its options);
                  choices: what each way to choose rows is worth (hours, likewise);
                  and studies: the cost of recording campaigns;
                  gpu: training on a graphics card, against JAX if DISSENT_PEER_PYTHON names a python that has it
  format          format the C++ sources in place
  lint            check format, shell scripts and clang-tidy
  fuzz [SECONDS]  fuzz each file reader for that long (60)
  help            this text

Missing Debian packages are installed first. Programs are built into build/release/bin.
HELP
}

case "${1:-help}" in
  demo | test | gpu-test | bare | python | wheel | deb | docs | bench | format | lint | fuzz) "cmd_$1" "${@:2}" ;;
  help | -h | --help) cmd_help ;;
  *)
    step="reading the command line"
    echo "do: no command '$1'" >&2
    cmd_help >&2
    exit 2
    ;;
esac
