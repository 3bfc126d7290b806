#!/bin/sh
# Instructions of calls, with the peers that are installed and the bounds: bench/instructions.sh BUILD [CALL...]
# Counted by stepping through two loops of different length (bench/icount.c); the calls are those of bench/compare/instructions.txt. The three
# instructions of the loop itself are included.
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
calls=$(IFS='|'; echo "$*")
exec go run ./bench/compare -build "$build" -runs 1 -only "^count[.](${calls:-.*})\$"
