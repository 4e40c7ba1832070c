#!/usr/bin/env bash
# Scores the shipped example, shows what the numbers mean, compares two campaigns of active learning, and writes the page
# of a small study. Needs `dissent` on the PATH, and awk. DISSENT_DEMO_ROUNDS shortens the campaigns, DISSENT_DEMO_PAGE
# says where the page goes.
# The example: five regressions fitted to the points of measurements.csv and evaluated at 161 places x (ensemble.npz);
# input number n is x = -4 + n / 20.
set -euo pipefail
page=${DISSENT_DEMO_PAGE:-$PWD/dissent_demo.html}
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scores=$folder/scores.csv

cat <<'TEXT'
Five models were fitted to 60 noisy measurements of a curve, and evaluated at 161 places x.
Where do they disagree for lack of data? That is the epistemic uncertainty, in closed form:

$ dissent score ensemble.npz
TEXT
dissent score ensemble.npz
dissent score ensemble.npz --output - >"$scores"

# Columns of the picture: two inputs each, the larger counts; rows: tenths of the largest possible value, ln 5.
awk -F, '
  FNR == 1 { next }
  FILENAME == ARGV[1] { column = int(($1 + 4) * 10); if (column > 79) column = 79; measured[column] = 1; next }
  { column = int($1 / 2); if (column > 79) column = 79; if ($2 > value[column]) value[column] = $2 }
  END {
    top = log(5); rows = 10
    print "\nepistemic uncertainty along x, in nats:"
    for (row = rows; row >= 1; --row) {
      line = sprintf("%5.2f |", top * row / rows)
      for (c = 0; c < 80; ++c) line = line (value[c] >= top * (row - 0.5) / rows ? "#" : " ")
      sub(/ +$/, "", line); print line
    }
    axis = " 0.00 +"; marks = "       "
    for (c = 0; c < 80; ++c) { axis = axis "-"; marks = marks (measured[c] ? "o" : " ") }
    print axis; sub(/ +$/, "", marks); print marks "   o: measured"
    printf "       x = -4%70s4\n", ""
  }' measurements.csv "$scores"

# The most uncertain input of the gap between the measurements and of the ranges beyond them, each ranked on its own.
awk -F, '
  NR == 1 { next }
  { x = -4 + $1 / 20; where = x < -3.2 ? 1 : x > 2.2 ? 3 : x > -1.2 && x < 0.8 ? 2 : 0 }
  where && (!(where in best) || $5 < best[where]) { best[where] = $5; place[where] = x; number[where] = $1; value[where] = $2 }
  END {
    print "\nThe models agree where there are measurements (o) and contradict each other elsewhere."
    printf "Measure next at x = %.2f (input %d, %.2f nats), x = %.2f (input %d, %.2f nats) and x = %.2f (input %d, %.2f nats):\n",
      place[1], number[1], value[1], place[2], number[2], value[2], place[3], number[3], value[3]
    print "the most uncertain input on each side of the measurements and between them."
  }' "$scores"

rounds=${DISSENT_DEMO_ROUNDS:-15}
cat <<TEXT

Does that help? Here are two campaigns on the problem hetero: $rounds rounds of ten new labels from a pool of 100,000
rows. One asks for the rows whose labels tell most about predictions for all others (aim, the default), the other for
rows at random. Test rows lie where training data is scarce.

$ dissent learn aim --problem hetero --rounds $rounds
$ dissent learn random --problem hetero --rounds $rounds --acquisition random
$ dissent rounds aim random
TEXT
cp demo.toml measurements.csv "$folder"
cd "$folder"
# Side by side, a core each.
dissent learn aim --problem hetero --rounds "$rounds" --threads 1 --quiet &
processes+=("$!")
dissent learn random --problem hetero --rounds "$rounds" --acquisition random --threads 1 --quiet &
processes+=("$!")
for process in "${processes[@]}"; do
  wait "$process"
done
dissent rounds aim random
awk -F, '
  FNR == 1 { ++file; next }
  { labelled[FNR] = $2; value[file, FNR] = $5; last = FNR }
  function reached(file, level, row) { # by the same rule for both: the first round that is no worse
    for (row = 2; row < last && value[file, row] < level; ++row) {}
    return labelled[row]
  }
  END {
    aim = value[1, last]
    random = value[2, last]
    level = aim < random ? aim : random
    printf "Both reach a log-likelihood of %.2f: aim with %d labelled rows, random with %d.\n", level, reached(1, level), reached(2, level)
    times = exp(aim - random)
    if (times > 1 / 1.1 && times < 1.1) {
      printf "With %d both models explain the test rows equally well, within a tenth.\n", labelled[last]
    } else {
      better = (times > 1) ? "aim" : "random"
      ratio = (times > 1) ? times : 1 / times
      printf "With %d a test row is on average (geometric mean) %.1f times as likely under the model of %s.\n", labelled[last], ratio, better
    }
    print "One pair of campaigns says little. docs/choices.md has the default method on eleven tasks."
  }' aim/rounds.csv random/rounds.csv

cat <<TEXT

So here is a small study: the 60 measurements again, two ways to choose among them, ten seeds each.

$ dissent study run demo.toml --store sqlite:runs.db
$ dissent report sqlite:runs.db --output $page
TEXT
# A program may have been built without a database, or without pages: that is no failure of the demonstration.
if ! message=$(dissent study run demo.toml --store sqlite:runs.db --quiet 2>&1 &&
  dissent report sqlite:runs.db --output "$page" --quiet 2>&1); then
  [[ $message == *"built without"* ]] || {
    echo "$message" >&2
    exit 1
  }
  echo "There is no page to look at: $message"
  exit
fi
echo "Look at it in a browser: $page"
