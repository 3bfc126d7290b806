#!/bin/sh
# Checks that tests call each function of the one-sided chapter in a binding: called.sh BINDING FOLDER PROGRAM...
# The names that f_rma.c and f08ts_rma.c in FOLDER define for the binding must be among the undefined symbols of the
# programs, which are tests of this binding.
set -eu
binding=$1 folder=$2
shift 2
defined=$(cat "$folder/f_rma.c" "$folder/f08ts_rma.c" | sed -n 's/^ENTRY .*NAME(\([a-z_0-9]*\)).*/\1/p; s/^SAME([a-z_0-9]*, \([a-z_0-9]*\))/\1/p')
case $binding in
f08) wanted=$(echo "$defined" | grep -E '_f08(ts)?$') ;;
mpi) wanted=$(echo "$defined" | grep -vE '_f08(ts)?$') ;;
mpif) wanted=$(echo "$defined" | grep -vE '_(f08(ts)?|cptr)$') ;;
esac
called=$(nm -u "$@" | sed -n 's/^ *U mpi_\([a-z_0-9]*\)_\(@.*\)\{0,1\}$/\1/p')
missing=0 n=0
for name in $wanted; do
	n=$((n + 1))
	echo "$called" | grep -qx "$name" || { echo "FAIL: no test calls mpi_${name}_ ($binding)"; missing=1; }
done
[ "$n" -ge 36 ] || { echo "FAIL: $n functions in $folder"; exit 1; }
[ $missing = 0 ] && echo "PASS: $n functions"
