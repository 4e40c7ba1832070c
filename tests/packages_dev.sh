#!/usr/bin/env bash
# Installs the package libdissent-dev that `./do deb` has made, and builds the programs of tests/consumer with it. For
# root: tests/bare.sh runs it where nothing can be spoilt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
apt-get install -y -qq --no-install-recommends ./build/deb/libdissent-dev_*.deb >/dev/null
version=$(dpkg-query -W -f='${Version}' libdissent-dev)
cmake -D prefix=/usr -D config=Release -D version="$version" -D project_dir="$PWD/tests/consumer/project" \
  -D work_dir="$PWD/build/packages_dev" -D readme="$PWD/README.md" -D generator=Ninja -D compiler=g++ \
  -P tests/consumer/run.cmake >build/packages_dev.log || {
  cat build/packages_dev.log >&2
  exit 1
}
