#!/usr/bin/env bash
# Runs the benchmarks named (all by default) with the programs in BIN and prints their tables: run.sh BIN [NAME...]
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
bin=$1
shift
names=("$@")
[[ ${#names[@]} -gt 0 ]] || names=(estimator ensemble acquisition python)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for name in "${names[@]}"; do
  echo
  echo "## $name"
  echo
  /usr/bin/python3 "$here/${name}_bench.py" "$bin"
done
