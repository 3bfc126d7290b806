#!/bin/sh
# Counts the instructions of calls with gompirma, and with MPICH and Open MPI if they are installed, and prints them
# with the allowed maximum: bench/instructions.sh BUILD [CALL...]. bench/icount.c single-steps through two loops of
# different length and counts the steps. The calls are those of bench/compare/instructions.txt. The counts include the
# three instructions of the loop itself.
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
calls=$(IFS='|'; echo "$*")
exec go run ./bench/compare -build "$build" -runs 1 -only "^count[.](${calls:-.*})\$"
