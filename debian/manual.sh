#!/bin/sh
# manual.sh PROGRAM FOLDER VERSION: writes dissent.1 and a page for each command, dissent-score.1 and so on, from --help.
set -eu
program=$1
folder=$2
version=$3
mkdir -p "$folder"

# page NAME PURPOSE ARGUMENT...: from what `dissent ARGUMENT... --help` prints. Its first line is the purpose, said above.
# An example is a paragraph of its own.
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
"$program" --help | sed -n '/^Commands:/,/^$/p' | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1 \2/p' | while read -r command purpose; do
  page "dissent-$command" "$purpose" "$command"
done
