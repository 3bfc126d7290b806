#!/bin/sh
# Puts what bench/run.sh has measured into docs/MEASURED.md: the main tables, and charts that it shows: bench/measured.sh BUILD
set -eu
build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
from=$build/bench/bench.json
[ -e "$from" ] || { echo "measured: $from is not there: run make bench" >&2; exit 1; }
mkdir -p docs/charts
go -C bench/chart run . "$from" "$(pwd)/docs/charts" svg
go run ./bench/compare -from "$from" -into docs/MEASURED.md
