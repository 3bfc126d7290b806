#!/bin/sh
# Writes the results of bench/run.sh, with and without -sweeps: bench/measured.sh BUILD. The main tables go to
# docs/MEASURED.md, the tables of the sweeps to docs/sweeps.txt, and the charts to docs/charts.
set -eu
build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
mkdir -p docs/charts
found=
for name in bench sweeps; do
	from=$build/bench/$name.json
	[ -e "$from" ] || continue
	found=1
	go -C bench/chart run . "$from" "$(pwd)/docs/charts" svg
	[ $name = bench ] || set -- -sweeps
	[ $name = sweeps ] || set --
	go run ./bench/compare "$@" -from "$from" -into docs/MEASURED.md
done
[ -n "$found" ] || { echo "measured: nothing is in $build/bench: run make bench" >&2; exit 1; }
