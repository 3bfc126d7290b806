#!/bin/bash
# Runs the sections %post and %test of packages/apptainer.def in a bare root, as root (make test-recipes).
set -eu -o pipefail
[ -e /mnt/modules ] || { echo 'tests/packages/apptainer.sh: needs a root of scripts/fresh.sh' >&2; exit 2; }
. tests/packages/recipe.sh

# section NAME NUMBER: prints the lines of the NUMBER-th section of this name
section() {
	awk -v name="%$1" -v number="$2" '/^(%|Bootstrap:)/ { inside = $0 == name && ++count == number; next } inside' packages/apptainer.def
}
cp -a . /src # %files
for number in 1 2; do
	commands=$(section post $number)
	[ -n "$commands" ] || fail "section %post number $number is empty"
	(sh -exc "$commands" </dev/null)
done
eval "$(section environment 1)"
sh -exc "$(section test 1)"
try_program
mpicc /tmp/ring.c -o /tmp/ring # the directory of the usual names is in PATH
echo 'the recipe works'
