#!/bin/sh
# Instructions of one call on an allocated window, target another process: bench/instructions.sh BUILD [OPERATION...]
# Counted by stepping through two loops of different length (bench/icount.c); the three instructions of the loop itself are included.
# A table in Markdown, with the peers that are installed.
set -eu
build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
cd "$(dirname "$0")"
loops=100 # as in instructions.c

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -o "$work/icount" icount.c
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

compiler() { case $1 in gompirma) echo "$build/bin/gompicc" ;; *) echo "mpicc.$1" ;; esac }
libraries=
for l in gompirma mpich openmpi; do
	command -v "$(compiler $l)" >/dev/null || continue
	"$(compiler $l)" -O2 -o "$work/$l" instructions.c
	libraries="$libraries $l"
done

count() { # count LIBRARY OPERATION
	case $1 in
	gompirma) launcher="$build/bin/gompirun" ;;
	mpich) launcher=mpiexec.mpich ;;
	openmpi) launcher='mpirun.openmpi --oversubscribe' ;;
	esac
	timeout 60 $launcher -n 2 "$work/icount" $loops "$work/$1" "$2" 2>"$work/err" || echo '-'
}

[ $# -gt 0 ] || set -- put8 flush get8 acc8 fop cas
printf '| instructions |'; printf ' %s |' $libraries; echo
printf '|---|'; printf '%.0s---|' $libraries; echo
for operation; do
	printf '| %s |' "$operation"
	for l in $libraries; do printf ' %s |' "$(count $l "$operation" | head -n 1)"; done
	echo
done
