#!/bin/sh
# Measures gompirma in BUILD against Debian's MPICH and Open MPI and writes tables, JSON and charts into BUILD/bench:
# bench/run.sh BUILD [options of bench/compare]; with -sweeps the files are called sweeps
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
