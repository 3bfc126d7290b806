#!/bin/sh
# Installs the prefix that scripts/build.sh made, or uninstalls it:
#
#   [DESTDIR=/some/where] scripts/install.sh install|uninstall BUILD PREFIX
#
# Installing writes a list of the created files and directories to lib/gompirma/manifest of the prefix. The paths are
# relative, so that uninstalling works after the prefix was moved. Directories end in a slash and follow their contents.
# Uninstalling removes exactly the listed files, and listed directories if they are empty.
set -eu

fail() { echo "install.sh: $*" >&2; exit 1; }
[ $# -eq 3 ] || { echo "usage: scripts/install.sh install|uninstall BUILD PREFIX" >&2; exit 2; }
build=$2 prefix=$3
case $prefix in /*) ;; *) fail "PREFIX must be an absolute path, not '$prefix'" ;; esac
to=${DESTDIR:-}$prefix
manifest=lib/gompirma/manifest

# The manifest lists itself, so the loop removes it too. The loop can still read the removed file through the open
# descriptor.
uninstall() {
	while IFS= read -r name; do
		case $name in
		./) rmdir "$to" 2>/dev/null || true ;;
		*/) if [ -d "$to/$name" ]; then rmdir "$to/$name" 2>/dev/null || true; fi ;; # stays if not empty
		*) rm -f "$to/$name" ;;
		esac
	done <"$to/$manifest"
}

case $1 in
install)
	[ -e "$build/lib/libgompirma.so" ] || fail "$build contains no library: run 'make build' first"
	# First removes a previous installation from this prefix.
	if [ -e "$to/$manifest" ]; then uninstall; fi
	made=
	if [ ! -d "$to" ]; then
		mkdir -p "$to" || fail "cannot make $to"
		made=./
	fi
	to=$(cd "$to" && pwd)
	cd "$build"
	# The manifest lists only directories that do not exist yet, so that uninstalling removes no other directories.
	# Existing directories, and symbolic links to directories, stay as they are.
	folders=$(find bin include lib libexec share -type d | LC_ALL=C sort | while IFS= read -r d; do [ -d "$to/$d" ] || printf '%s/\n' "$d"; done)
	for d in $folders; do mkdir -m 755 "$to/$d"; done
	files=$(find bin include lib libexec share ! -type d | LC_ALL=C sort)
	printf '%s\n' "$files" | tar --mode='u=rwX,go=rX' -T - -cf - | (cd "$to" && tar --no-same-owner -xpf -)
	{
		printf '%s\n' "$files"
		echo "$manifest"
		printf '%s\n' "$folders" | LC_ALL=C sort -r
		echo "$made"
	} | sed '/^$/d' >"$to/$manifest.new"
	mv "$to/$manifest.new" "$to/$manifest"
	chmod 644 "$to/$manifest"
	echo "installed in $to"
	;;
uninstall)
	[ -e "$to/$manifest" ] || fail "nothing of gompirma is installed in $to ($to/$manifest does not exist)"
	uninstall
	echo "removed from $to"
	;;
*) fail "'$1' is neither install nor uninstall" ;;
esac
