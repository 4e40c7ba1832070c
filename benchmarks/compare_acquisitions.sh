#!/usr/bin/env bash
# Compares the ways to choose rows: a campaign for every problem, method and seed, on all cores, then a table of their
# last rounds. Stopped or killed, the same command goes on where it stood.
# usage: [METHODS="random kl"] [PROBLEMS=hetero] [SEEDS=10] [ROUNDS=30] [JOBS=16] compare_acquisitions.sh OUT [OPTION...]
# OPTIONs go to `dissent learn`, as in `--preset paper`. Needs `dissent` on the PATH, and python3 for the table.
set -euo pipefail
[[ $# -ge 1 ]] || {
  sed -n '4,5s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
out=$1
shift
methods=${METHODS:-random variance kl bhattacharyya kl-joint bhattacharyya-joint badge bait lcmd mc:5000 batchbald:1000}
problems=${PROBLEMS:-hetero bimodal}
seeds=${SEEDS:-10}
rounds=${ROUNDS:-30}
export out rounds

campaign() { # PROBLEM METHOD SEED [OPTION...]
  local directory=$out/$1/${2//:/_}/$3
  mkdir -p "$directory"
  dissent learn "$directory" --problem "$1" --acquisition "$2" --seed "$3" --rounds "$rounds" --batch 10 --threads 1 \
    --quiet "${@:4}" 2>"$directory/errors.txt" || {
    echo "failed: $1 $2 seed $3: $(tail -n 1 "$directory/errors.txt")" >&2
    return 1
  }
  rm "$directory/errors.txt"
}
export -f campaign

# One seed of everything before the next, so that an early look sees all methods.
list() {
  local seed problem method
  for ((seed = 0; seed < seeds; ++seed)); do
    for problem in $problems; do
      for method in $methods; do
        echo "$problem $method $seed${*:+ $*}" # xargs joins lines that end in a blank
      done
    done
  done
}
# shellcheck disable=SC2016 # the inner shell expands it
list "$@" | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'campaign "$@"' campaign ||
  echo "some campaigns failed; the table has the others" >&2

python3 "$(dirname "${BASH_SOURCE[0]}")/compare_acquisitions.py" "$out"
