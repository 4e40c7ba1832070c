#!/usr/bin/env bash
# The front door as a newcomer finds it: makes a bare Debian 12 root, clones HEAD into it and runs `./do demo` there.
# With the argument `test` it runs `./do test` too. With `packages` it also runs `./do wheel` and `./do deb`, then
# installs and uses their packages in a second bare root. Needs root on Debian, mmdebstrap and git: `./do bare` sees to
# that.
# If this machine has ccache, the first root shares its cache: what was compiled here is not compiled again there, as
# long as compiler, headers and sources are the same.
# Everything is mounted in its own namespace, which nothing outside sees; its end unmounts everything. The folder is
# removed on any exit, unless something is still mounted in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

commands=("./do demo") packages=""
for argument in "$@"; do
  case $argument in
    test) commands+=("./do test") ;;
    packages)
      commands+=("./do wheel" "./do deb" "bash tests/packages_dev.sh")
      packages=yes
      ;;
    *)
      echo "do bare: '$argument' is neither 'test' nor 'packages'" >&2
      exit 2
      ;;
  esac
done

folder=$(realpath "$(mktemp -d "${TMPDIR:-/var/tmp}/dissent-bare.XXXXXX")")
root=$folder/debian        # where things are built
second=$folder/debian_again # where packages are installed
step="start"
golden=${DISSENT_GOLDEN_DIR:+$(realpath -e "$DISSENT_GOLDEN_DIR")}
cache="" # this machine's compiler cache, once the first root can use it
apart="" # the process that waits for the namespace, while there is one

say() {
  step=$*
  echo "== bare: $*"
}

mounts() { awk -v folder="$folder" '$5 == folder || index($5, folder "/") == 1 { print $5 }' /proc/self/mountinfo; }

clean_up() {
  local status=$?
  trap '' INT TERM HUP
  [[ $status == 0 ]] || echo "do bare: failed at: $step (exit code $status)" >&2
  if [[ -n $apart ]]; then # when a namespace's first process ends, so do all others in it
    xargs -r kill -KILL <"/proc/$apart/task/$apart/children" || true
    wait "$apart" || true
  fi
  if [[ -n $(mounts) ]]; then
    echo "do bare: $folder stays, since something is mounted in it: $(mounts | tr '\n' ' ')" >&2
    exit 1
  fi
  rm -rf --one-file-system -- "$folder"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command with its own mounts and processes: none of them outlives it. It runs in the background, since bash
# does not handle a signal until a foreground command ends.
run_apart() {
  local status=0
  unshare --mount --pid --fork --kill-child --mount-proc "$@" &
  apart=$!
  wait "$apart" || status=$?
  apart=""
  return "$status"
}

make_root() {
  local sources=$folder/sources.list settings=$folder/apt.conf from=()
  # Use this machine's apt sources for Debian 12, and its proxy if any; without sources, mmdebstrap knows where to ask.
  apt-get update -qq
  # shellcheck disable=SC2016
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    { grep -E '^deb [^ ]+ bookworm' || true; } >"$sources"
  apt-config dump | { grep -E '^Acquire::.* "[^"]' || true; } >"$settings"
  [[ ! -s $sources ]] || from=("$sources")
  run_apart mmdebstrap --quiet --variant=apt --aptopt="$settings" bookworm "$root" "${from[@]}"
  cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" # a temporary root needs no fsync
  if grep -q 'https:' "$sources" && [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  fi
}

# Find packages as this machine's npm does.
add_npm_settings() {
  local root=$1
  local -n list=$2
  ! command -v npm >/dev/null || list+=("npm_config_registry=$(npm config get registry 2>/dev/null)")
  if [[ -e ${NODE_EXTRA_CA_CERTS:-} ]]; then
    install -D -m 644 "$NODE_EXTRA_CA_CERTS" "$root/etc/ssl/certs/npm.crt"
    list+=(NODE_EXTRA_CA_CERTS=/etc/ssl/certs/npm.crt)
  fi
}

# run_in_root ROOT COMMAND: mounts what a running Debian does, and the golden values and the compiler cache if there
# are any; then runs a command in the root's /root/dissent. Background processes ignore Ctrl-C, but the tests expect one
# that does not: --default-signal undoes that.
run_in_root() {
  local root=$1 variables=(HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}") name
  local binds=()
  for name in http_proxy https_proxy no_proxy; do
    [[ -z ${!name:-} ]] || variables+=("$name=${!name}")
  done
  add_npm_settings "$root" variables
  if [[ -n $golden ]]; then
    binds+=("$golden:golden:ro")
    variables+=(DISSENT_GOLDEN_DIR=/golden)
  fi
  if [[ -n $cache ]]; then
    binds+=("$cache:ccache:rw")
    variables+=(CCACHE_DIR=/ccache)
  fi
  # shellcheck disable=SC2016
  run_apart bash -euc '
    root=$1 binds=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --bind /sys "$root/sys"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
    while IFS=: read -r from to how; do
      [ -n "$from" ] || continue
      mkdir -p "$root/$to"
      mount --bind -o "$how" "$from" "$root/$to"
    done <<<"$binds"
    exec chroot "$root" env -i --default-signal "$@"
  ' bash "$root" "$(printf '%s\n' "${binds[@]}")" "${variables[@]}" bash -c "cd /root/dissent && $2"
}

# timed ROOT COMMAND
timed() {
  local start=$SECONDS
  say "$2"
  run_in_root "$1" "$2"
  echo "== bare: $2 passed after $((SECONDS - start)) s"
}

unshare --mount --pid --fork true || {
  step="making a namespace: nothing was tried"
  exit 1
}
say "make a bare Debian 12 in $folder"
make_root
say "clone $(git rev-parse --short HEAD)"
[[ -z $(git status --porcelain) ]] || echo "   without what is not committed"
if [[ -n $packages ]]; then
  cp -a "$root" "$second"
  mkdir "$second/root/dissent"
  cp tests/packages.sh "$second/root/dissent"
fi
git clone --quiet . "$root/root/dissent"
if command -v ccache >/dev/null; then
  say "share the compiler cache"
  run_in_root "$root" "apt-get update -qq && apt-get install -y -qq --no-install-recommends ccache >/dev/null 2>&1"
  cache=$(ccache --get-config cache_dir)
fi
for command in "${commands[@]}"; do
  timed "$root" "$command"
done
if [[ -n $packages ]]; then
  cp "$root"/root/dissent/build/{wheel/*.whl,deb/*.deb} "$second/root/dissent"
  say "a second bare Debian, with $(cd "$second/root/dissent" && echo ./*.whl ./*.deb)"
  timed "$second" "bash packages.sh"
fi
