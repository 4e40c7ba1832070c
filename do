#!/usr/bin/env bash
# The front door: everything one does with this repository, by one name each. See `./do help`.
# Needs bash and apt; installs the Debian packages that are missing, by task.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The presets configure library, program, tests and benchmarks together, so the libraries of all are needed to build.
build_packages=(g++ cmake ninja-build libfmt-dev libeigen3-dev libhwy-dev librandom123-dev libboost-math-dev
  libcli11-dev nlohmann-json3-dev zlib1g-dev libmujoco-dev libhdf5-dev libgtest-dev librapidcheck-dev libbenchmark-dev
  python3-dev pybind11-dev)
test_packages=(python3-numpy python3-h5py python3-pip python3-sklearn python3-pandas python3-tqdm python3-matplotlib
  python3-torch mypy git)
bench_packages=(python3-numpy python3-torch python3-sklearn libopenblas0-serial)
lint_packages=(clang-format clang-tidy shellcheck git)
fuzz_packages=(clang libclang-rt-dev python3-numpy)

bin=build/release/bin # programs of the release build
step="start"          # what is being done, for the message on failure
on_exit() {
  local status=$?
  [[ $status == 0 ]] || echo "do: failed at: $step (exit code $status)" >&2
}
trap on_exit EXIT
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

say() {
  step=$*
  echo "== $*"
}

# Installs those of the named Debian packages that are missing; silent when none is.
need() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "install ${missing[*]}"
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    echo "not root: calling sudo for apt-get"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

# build PRESET [TARGET]: configures and builds with all cores. The configuration's output is shown only when it fails,
# the build's progress only on a terminal.
build() {
  local preset=$1 log=build/$1.configure.log options=(--preset "$1") quiet=()
  [[ $# == 1 ]] || options+=(--target "$2")
  [[ -t 1 ]] || quiet=(-- --quiet)
  mkdir -p build
  say "build $*"
  cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  cmake --build "${options[@]}" "${quiet[@]}"
}

passed=0 failed=0 skipped=0 failing=()

# Builds a preset, runs its tests and adds up what ctest says of them. A failing test does not stop the others.
run_tests() {
  local preset=$1 log=build/$1.test.log summary total bad idle
  build "$preset"
  say "test $preset"
  ctest --preset "$preset" --no-label-summary 2>&1 | tee "$log" |
    { grep -vE '^ +Start +[0-9]+:|Passed +[0-9.]+ sec *$' || true; } || failing+=("$preset")
  summary=$(grep -E 'tests failed out of [0-9]+' "$log") || {
    echo "ctest ran no test" >&2
    return 1
  }
  total=${summary##* }
  bad=$(sed -E 's/.* ([0-9]+) tests failed.*/\1/' <<<"$summary")
  idle=$(grep -c ' (Skipped)$' "$log") || true
  passed=$((passed + total - bad - idle)) failed=$((failed + bad)) skipped=$((skipped + idle))
}

cmd_test() {
  need "${build_packages[@]}" "${test_packages[@]}"
  run_tests release
  run_tests asan
  run_tests tsan
  say "test: $passed passed, $failed failed, $skipped skipped (release, asan and tsan together)"
  [[ ${#failing[@]} == 0 ]] || {
    step="tests of ${failing[*]}"
    return 1
  }
}

cmd_demo() {
  need "${build_packages[@]}"
  build release dissent_cli
  say "demo"
  PATH="$PWD/$bin:$PATH" bash examples/demo.sh
}

cmd_bench() {
  need "${build_packages[@]}" "${bench_packages[@]}"
  build release
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
  need "${build_packages[@]}" "${fuzz_packages[@]}"
  build fuzz
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

cpp_files() { git ls-files -co --exclude-standard '*.hpp' '*.cpp' '*.cu' '*.cuh'; }
shell_files() { git ls-files -co --exclude-standard '*.sh' 'do' .ci/run; }

cmd_format() {
  need "${lint_packages[@]}"
  say "format"
  cpp_files | xargs -r clang-format -i
}

cmd_lint() {
  need "${build_packages[@]}" "${lint_packages[@]}"
  say "clang-format"
  cpp_files | xargs -r clang-format --dry-run -Werror
  say "shellcheck"
  shell_files | xargs -r shellcheck
  build release # clang-tidy reads its compile commands and generated headers
  say "clang-tidy"
  local log=build/clang-tidy.log
  run-clang-tidy -quiet -p build/release "^$PWD/(src|apps)/.*\.cpp$" >"$log" 2>&1 || {
    grep -E -A4 '(warning|error):' "$log" >&2 || cat "$log" >&2
    return 1
  }
}

cmd_help() {
  cat <<'HELP'
usage: ./do COMMAND

  demo            build, score the shipped example, and compare two campaigns of active learning
  test            build and test: optimised, then with the address and undefined behaviour sanitizers, then the
                  thread sanitizer. Slow tests: ctest --test-dir build/release -L slow
  bench [NAME]    build and measure: estimator, ensemble, acquisition (against PyTorch), python (against numpy and C++),
                  and the fits of docs/ensembles.md: quality, tables (against scikit-learn)
  format          format the C++ sources in place
  lint            check format, shell scripts and clang-tidy
  fuzz [SECONDS]  fuzz each file reader that long (60)
  help            this text

Missing Debian packages are installed first. Programs are built into build/release/bin.
HELP
}

case "${1:-help}" in
  demo | test | bench | format | lint | fuzz) "cmd_$1" "${@:2}" ;;
  help | -h | --help) cmd_help ;;
  *)
    step="reading the command line"
    echo "do: no command '$1'" >&2
    cmd_help >&2
    exit 2
    ;;
esac
