#!/usr/bin/env bash
# Runs the benchmarks named (all by default) with the programs in BIN and prints their tables:
# run.sh BIN [NAME...] [OPTIONS]; options, from the first that begins with a dash, go to each benchmark.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
bin=$1
shift
names=()
while [[ $# -gt 0 && $1 != -* ]]; do
  names+=("$1")
  shift
done
[[ ${#names[@]} -gt 0 ]] || names=(estimator ensemble acquisition python)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for name in "${names[@]}"; do
  echo
  echo "## $name"
  echo
  /usr/bin/python3 "$here/${name}_bench.py" "$bin" "$@"
done
