#!/bin/sh
# Builds the Debian packages of packages/debian with dpkg-buildpackage: scripts/deb.sh OUT
#
# The packages, with a source package, are then in OUT. The script copies the sources to a directory in OUT, without
# files that git ignores, writes debian/changelog there, and copies the Go modules to vendor/. So the build needs no
# network, if Go's module cache has the modules. Go must be newer than Debian 12's, so dpkg does not check build dependencies (-d);
# scripts/deps.sh has checked them.
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/deb.sh OUT" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$1"
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$top"

version=$(cat core/version/VERSION)
tree=$out/gompirma-$version
mkdir -p "$tree"
# Lists the sources. The sources of a release archive have no git.
sources() {
	git ls-files -z --cached --others --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print0
}
sources | xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh | tar --null -T - -cf - | tar -C "$tree" -xf -
cd "$tree"
mv packages/debian debian
date=$(git -C "$top" log -1 --format=%cD 2>/dev/null) || date=$(date -R -r "$top/core/version/VERSION")
cat >debian/changelog <<EOF
gompirma ($version) unstable; urgency=medium

  * Version $version. Its changes are in CHANGELOG.md.

 -- gompirma developers <gompirma@packages.invalid>  $date
EOF
GOFLAGS=-mod=mod go mod vendor

# debhelper sets HOME to an empty directory. With these variables, Go finds its cache nevertheless.
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE)
export GOCACHE GOMODCACHE
dpkg-buildpackage -us -uc -d
lintian --no-cfg --allow-root --fail-on error "$out"/*.changes
rm -rf "$tree"
echo "gompirma: packages in $out:"
cd "$out"
ls ./*.deb
