#!/bin/sh
# manual.sh PROGRAM FOLDER VERSION: writes manual pages from --help: dissent.1, and one for each command, such as
# dissent-score.1.
set -eu
program=$1
folder=$2
version=$3
mkdir -p "$folder"

# page NAME PURPOSE ARGUMENT...: one page, from what `dissent ARGUMENT... --help` prints. The first line is left out: it
# is the purpose. Each example becomes a paragraph of its own.
page() {
  name=$1
  purpose=$2
  shift 2
  "$program" "$@" --help | sed -e 1d -e '/^  dissent /G' >"$folder/help"
  printf '#!/bin/sh\ncat "%s/help"\n' "$folder" >"$folder/$name"
  chmod +x "$folder/$name"
  help2man --no-info --no-discard-stderr --manual="User Commands" --source="Dissent $version" \
    --version-string="$version" --name="$purpose" --output="$folder/$name.1" "$folder/$name"
  rm "$folder/$name" "$folder/help"
}

page dissent "how much the components of an ensemble disagree, and where to measure next"
"$program" --help | sed -n '/^Commands:/,/^$/p' | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1 \2/p' |
  while read -r command purpose; do
    page "dissent-$command" "$purpose" "$command"
  done
