#!/bin/sh
# Measures gompirma in BUILD against Debian's MPICH and Open MPI and writes tables, JSON and charts into BUILD/bench:
# bench/run.sh BUILD [options of bench/compare]
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
to=$build/bench
mkdir -p "$to"
go run ./bench/compare -build "$build" -o "$to/bench.md" -json "$to/bench.json" "$@"
go -C bench/chart run . "$to/bench.json" "$to" || echo "bench: no charts; $to/bench.json has what they would show" >&2
echo "written to $to: bench.md, bench.json, and charts as .svg and .png"
