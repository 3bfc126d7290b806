#!/bin/sh
# Formats the sources: scripts/format.sh [-check]
#
# It formats Go with gofmt and C according to .clang-format, except generated files and the ABI's header. With -check it
# writes nothing and lists the files that are not formatted. tests/go (TestLintColumns) checks that lines have at most
# 120 columns.
set -eu
cd "$(dirname "$0")/.."
files() { find . \( -name build -o -name .git \) -prune -o -type f \( "$@" \) -print; }
c_files() { files -name '*.c' -o -name '*.h' | grep -v -e '/z[^/]*$' -e '/generated/' -e '^./include/' -e '/mpif.h$'; }
if [ "${1:-}" != -check ]; then
	files -name '*.go' | xargs gofmt -w
	c_files | xargs clang-format -i
	exit
fi
failed=0
go_files=$(files -name '*.go' | xargs gofmt -l)
[ -z "$go_files" ] || { echo "not gofmt-ed: $go_files" >&2; failed=1; }
c_files | xargs clang-format --dry-run -Werror || failed=1
[ $failed -eq 0 ] || { echo "run make fmt" >&2; exit 1; }
