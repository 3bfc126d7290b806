#!/bin/bash
# Tests the README's instructions on a system with nothing installed: scripts/fresh.sh [COMMAND]
#
# It creates two root directories of Debian with only apt, git, make and gcc. In the first one, it runs `make demo` and
# then `make test` in a fresh clone of HEAD; in the second one, only `make test`. With COMMAND it runs only COMMAND, in
# one root. The last lines list the steps with result and duration. A test that `make test` skips counts as failed,
# because everything that tests need can be installed in a root.
#
# The roots use the host's Go installation and module cache, mounted read-only, and copies of the host's package
# sources, keys, proxies and certificates. The script needs root, or sudo without a password, or user namespaces. All
# mounts and processes are in namespaces that end with this script, even if it is killed. Unless it is killed, the
# script removes the directory with the roots.
set -u

fail() { echo "fresh.sh: $*" >&2; exit 1; }

# bare creates the root of which the other roots are copies. From the host, it copies the files that apt needs, to the
# same paths. It copies them before the first use of apt, and again at the end, because the package ca-certificates
# overwrites some of them.
bare() {
	local file sources=() codename
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME") || return
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		if [ -s "$file" ]; then sources+=("$file"); fi
	done
	apt-config dump | grep -E '^Acquire::(https?|ftp|Force|Retries|Check|Allow)' >"$work/apt.conf"
	mkdir -p "$work/host/etc/ssl/certs" || return
	for file in etc/hosts etc/apt/auth.conf etc/apt/auth.conf.d etc/apt/keyrings etc/apt/trusted.gpg etc/apt/trusted.gpg.d usr/share/keyrings \
		usr/local/share/ca-certificates; do
		if [ -e "/$file" ]; then tar -C / -cf - "$file" | tar -C "$work/host" -xf - || return; fi
	done
	file=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
	if [ -e "$file" ]; then cp -L "$file" "$work/host/etc/ssl/certs/ca-certificates.crt" || return; fi
	WORK=$work TMPDIR=$work timeout 1800 mmdebstrap --quiet --mode=root --variant=minbase --format=directory --include=git,make,gcc,ca-certificates \
		--aptopt="$work/apt.conf" --setup-hook='cp -a "$WORK/host/." "$1"' --customize-hook='cp -a "$WORK/host/." "$1"' \
		"$codename" "$work/bare" "${sources[@]}"
}

home=/root # home directory of the user in a root
# enter NAME creates a root with a clone in the home directory. Its mounts are not visible outside of this namespace.
enter() {
	root=$work/$1
	cp -a "$work/bare" "$root" && git clone -q "$work/clone" "$root$home/gompirma" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" || return
	local folder to
	for folder in "${folders[@]}"; do # an entry is FOLDER, or FOLDER:PATH_IN_THE_ROOT
		to=$root${folder#*:}
		mkdir -p "$to" && mount --bind "${folder%:*}" "$to" && mount -o remount,bind,ro "$to" || return
	done
}

# note RESULT TITLE SECONDS: appends a line to the report. If RESULT is not "ok", the whole script fails at its end.
note() {
	printf '%-10s%s (%d s)\n' "$@" >>"$work/report"
	[ "$1" = ok ] || bad=1
}

# try TITLE SECONDS COMMAND: runs COMMAND in the clone. All processes that COMMAND has started end with it.
try() {
	local title=$1 limit=$2 start=$SECONDS result=ok
	printf '\n== %s\n' "$title"
	timeout --signal=KILL "$limit" unshare --pid --mount --ipc --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
		env -i HOME="$home" TERM=dumb "${settings[@]}" sh -c 'cd ~/gompirma; eval "$0"' "$3" </dev/null 2>&1 | tee "$work/said"
	local status=${PIPESTATUS[0]}
	if [ "$status" -eq 137 ] && [ $((SECONDS - start)) -ge "$limit" ]; then echo "fresh.sh: not done within $limit s"; fi
	if [ "$status" -ne 0 ] || grep -q '^left out: ' "$work/said"; then result=FAILED; fi
	note "$result" "$title" $((SECONDS - start))
	sed -n 's/^left out: /          &/p' "$work/said" >>"$work/report"
}

# inside does all of the work. It runs as the first process of the namespaces.
inside() {
	bad=0
	exec 7<&0 9>"$work/lock"
	flock 9 # held as long as any process runs in the namespaces
	# Descriptor 7 is the read end of a pipe to the script outside of the namespaces. The end of file shows that the
	# outer script has ended.
	trap 'exit 130' TERM
	{ read -r _ <&7; kill -TERM 1; kill -KILL -1; } 2>/dev/null &
	exec </dev/null
	export "${settings[@]}"

	local start=$SECONDS
	echo '== bare root'
	bare || { note FAILED 'bare root' $((SECONDS - start)); return; }
	note ok 'bare root' $((SECONDS - start))
	start=$SECONDS
	if [ $# -gt 0 ]; then
		enter one && try "$*" 7200 "$*" || note FAILED 'root' $((SECONDS - start))
		return
	fi
	if enter one; then
		try 'make demo' 1800 'make demo'
		try 'make test, after make demo' 7200 'make test'
	else
		note FAILED 'first root' $((SECONDS - start))
	fi
	start=$SECONDS
	if enter two; then
		try 'make test, first of all' 7200 'make test'
	else
		note FAILED 'second root' $((SECONDS - start))
	fi
}

if [ "${1:-}" = --inside ]; then
	work=$2
	. "$work/settings"
	shift 2
	inside "$@"
	printf '\n== report\n'
	cat "$work/report"
	exit "$bad"
fi

cd "$(dirname "$0")/.." || exit 1
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if sudo -n true 2>/dev/null; then
		as_root=(sudo -n env "PATH=$PATH" "SSL_CERT_FILE=${SSL_CERT_FILE:-}")
	elif unshare --map-auto --map-root-user true 2>/dev/null; then
		as_root=(unshare --map-auto --map-root-user)
	else
		fail 'needs root, sudo without a password, or user namespaces'
	fi
fi

# The roots use these parts of the host: the Go installation with the targets of its links, the module cache, settings
# of go, and proxies.
go=$(go env GOROOT) && modules=$(go env GOMODCACHE)/cache/download || fail 'go does not tell where it is'
mapfile -t folders < <(echo "$go"; find "$go" -maxdepth 2 -type l -exec readlink -f {} + | while IFS= read -r to; do
	if [ -d "$to" ] && [ "${to#"$go/"}" = "$to" ]; then echo "$to"; fi
done)
settings=("PATH=$go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" GOTOOLCHAIN=local)
proxy=$(go env GOPROXY)
if [ -d "$modules" ]; then
	# Mounted at another path in the root: at the host's path, this read-only mount could hide the module cache that
	# go writes in the root.
	folders+=("$modules:/mnt/modules")
	proxy=file:///mnt/modules,$proxy
fi
settings+=("GOPROXY=$proxy")
for name in GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE; do
	if [ -n "$(go env $name)" ]; then settings+=("$name=$(go env $name)"); fi
done
for name in http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
	if [ -n "${!name:-}" ]; then settings+=("$name=${!name}"); fi
done

# GOMPIRMA_FRESH_FOLDERS: additional entries, separated by spaces
for name in ${GOMPIRMA_FRESH_FOLDERS:-}; do folders+=("$name"); done

work=$(mktemp -d "${TMPDIR:-/var/tmp}/gompirma-fresh.XXXXXX") || exit 1
cleanup() {
	trap '' INT TERM HUP
	exec 8>&-
	# All processes in the namespaces end now. They hold the lock until they have ended.
	flock -w 60 "$work/lock" true || echo "fresh.sh: processes in $work have not ended" >&2
	"${as_root[@]}" rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
chmod 711 "$work" # apt runs as another user
declare -p folders settings >"$work/settings"
[ -z "$(git status --porcelain 2>/dev/null)" ] || echo 'fresh.sh: uncommitted changes are not tested'
git clone -q . "$work/clone" && mkfifo "$work/alive" || exit 1
exec 8<>"$work/alive"
"${as_root[@]}" unshare --mount --pid --fork --mount-proc "$PWD/scripts/fresh.sh" --inside "$work" "$@" <"$work/alive" 8>&- &
wait $!
exit $?
