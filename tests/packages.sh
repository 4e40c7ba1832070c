#!/usr/bin/env bash
# Installs the wheel and the Debian packages that lie beside this script, on a Debian that has nothing of ours, and uses
# them. For root: tests/bare.sh runs it where nothing can be spoilt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
export DEBIAN_FRONTEND=noninteractive

# What apt says is shown only when it fails.
quietly() {
  "$@" >apt.log 2>&1 || {
    cat apt.log >&2
    return 1
  }
}
install() { quietly apt-get install -y -qq --no-install-recommends "$@"; }

# use_python PYTHON PLACE: the package at hand is the one installed at PLACE, computes, and fits.
use_python() {
  (cd / && "$1" -c '
import sys
import numpy as np
import dissent
assert dissent.__file__.startswith(sys.argv[1]), dissent.__file__
disagreement = dissent.epistemic([[0.0, 1.0]], [[1.0, 1.0]])
assert 0 < disagreement[0] < np.log(2), disagreement
x = np.linspace(-1, 1, 40)[:, None]
model = dissent.GaussianProcessEnsemble(random_state=0).fit(x, np.sin(3 * x[:, 0]))
assert model.score(x, np.sin(3 * x[:, 0])) > 0.99
assert len(dissent.query(model, x, 3)) == 3
print("   dissent", dissent.__version__, "with numpy", np.__version__, "in", dissent.__path__[0])
' "$2")
}

apt-get update -qq
install python3-venv python3-sklearn
python3 -m venv --system-site-packages /opt/dissent
/opt/dissent/bin/pip install --quiet --no-index ./dissent-*.whl
use_python /opt/dissent/bin/python /opt/dissent/
rm -r /opt/dissent

install ./dissent_*.deb ./python3-dissent_*.deb
use_python python3 /usr/lib/python3/dist-packages/
folder=$(mktemp -d)
cd "$folder"
examples=/usr/share/doc/dissent/examples
dissent --version
dissent score $examples/ensemble.npz --top 3 --output scores.csv --quiet
[[ $(wc -l <scores.csv) == 4 ]]
dissent fit $examples/measurements.csv --targets y --output y.model
printf 'x\n-3\n-2\n0\n2\n3\n' >pool.csv
dissent suggest --fitted y.model --pool pool.csv --batch 2 --output next.csv
[[ $(wc -l <next.csv) == 3 ]]
dissent report y.model --format md --output report.md --quiet
grep -q '^# ' report.md
if dissent report y.model --output report.html --quiet 2>report.log; then
  grep -q '</html>' report.html
  grep -q 'University of Washington' /usr/share/doc/dissent/copyright
else
  grep 'built without pages' report.log # the package may have none, but must say so
fi
dissent collect hopper --rows 10 --output hopper.csv --quiet
[[ -s /usr/share/man/man1/dissent-score.1.gz ]]
cd "$here"
quietly apt-get purge -y -qq dissent python3-dissent
[[ -z $(find /usr -path '*dissent*' -print -quit) ]]
