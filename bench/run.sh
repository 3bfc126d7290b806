#!/bin/sh
# Measures the gompirma in BUILD, Debian's MPICH and Debian's Open MPI:
#
#   bench/run.sh BUILD [options of bench/compare]
#
# It writes tables, JSON and charts into BUILD/bench. The names of the files begin with "bench", or with "sweeps" if
# -sweeps is given.
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
to=$build/bench name=bench
case " $* " in *" -sweeps "*) name=sweeps ;; esac
mkdir -p "$to"
go run ./bench/compare -build "$build" -o "$to/$name.md" -json "$to/$name.json" "$@"
go -C bench/chart run . "$to/$name.json" "$to" || echo "bench: no charts; $to/$name.json has what they would show" >&2
echo "written to $to: $name.md, $name.json, and charts as .svg and .png"
