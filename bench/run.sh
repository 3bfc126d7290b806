#!/bin/sh
# Measures gompirma in BUILD against Debian's MPICH and Open MPI and writes BUILD/bench.md: bench/run.sh BUILD [options of bench/compare]
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
go run ./bench/compare -build "$build" -o "$build/bench.md" -json "$build/bench.json" "$@"
echo "written to $build/bench.md and bench.json"
