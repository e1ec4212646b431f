# What the scripts of this folder share. Each starts an engine in <folder>: the process ids are in <folder>/pids, and
# `kill $(cat <folder>/pids)` ends it.

# free_ports <count>
free_ports() {
  node -e '
    const all = Array.from({ length: Number(process.argv[1]) }, () => net.createServer().listen(0, "127.0.0.1"));
    setTimeout(() => { console.log(...all.map((each) => each.address().port)); all.forEach((each) => each.close()); }, 50);
  ' "$1"
}

# Servers refuse to run as root: run_as <user> sets `as_user`, which stands before a command.
run_as() {
  as_user=()
  [ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid="$1" --regid="$1" --clear-groups)
}

fail() {
  tail -50 "$folder/log" >&2
  exit 1
}

# Installs a package of Debian unstable below <folder>/unstable, from the mirror that apt is configured with, and makes
# a folder /data there: install_unstable <package> <owner of the data>. `within` then stands before a command.
install_unstable() {
  local root=$folder/unstable site
  site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -1)
  debootstrap --variant=minbase sid "$root" "$site" >"$folder/log" 2>&1 || fail
  # No package starts a server of its own.
  install /dev/stdin "$root/usr/sbin/policy-rc.d" <<<$'#!/bin/sh\nexit 101'
  mount -t proc proc "$root/proc"
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$1" \
    >>"$folder/log" 2>&1 || { umount "$root/proc"; fail; }
  umount "$root/proc"
  chroot "$root" id "$2" >/dev/null 2>&1 || chroot "$root" useradd --system "$2"
  chroot "$root" install -d -o "$2" -g "$2" /data
  within=(chroot --userspec="$2:$2" "$root")
}

# Waits until a command succeeds, which asks the server that was started last: wait_for <command>...
wait_for() {
  echo $! >>"$folder/pids"
  for _ in $(seq 240); do
    kill -0 $! 2>/dev/null || fail
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.25
  done
  fail
}
