#!/bin/sh
# Measures the cost of a put from Fortran in each binding (mpi_f08, mpi, mpif.h): bench/fortran.sh BUILD. Prints tables
# in Markdown for gompirma, and for MPICH and Open MPI if they are installed.
# Instructions are counted as in bench/instructions.sh. Each time is the best of three runs; the libraries run
# alternately.
set -eu
build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -o "$work/icount" icount.c
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

compiler() { case $1 in gompirma) echo "$build/bin/gompifort" ;; *) echo "mpifort.$1" ;; esac }
launch() { # launch LIBRARY PROGRAM...: on two ranks
	library=$1
	shift
	case $library in
	gompirma) launcher="$build/bin/gompirun" ;;
	mpich) launcher=mpiexec.mpich ;;
	openmpi) launcher='mpirun.openmpi --oversubscribe' ;;
	esac
	timeout 60 $launcher -n 2 "$@" 2>"$work/err" || echo -
}
libraries=
for l in gompirma mpich openmpi; do
	command -v "$(compiler $l)" >/dev/null || continue
	for b in F08 MPI MPIF; do # without interfaces, -fallow-argument-mismatch permits buffers of different types
		"$(compiler $l)" -O2 -w -fallow-argument-mismatch -DUSE_$b -J "$work" -o "$work/$l.$b" fortran.F90
	done
	libraries="$libraries $l"
done

title() { case $1 in F08) echo mpi_f08 ;; MPI) echo mpi ;; MPIF) echo mpif.h ;; esac }
head() { printf '| %s | |' "$1"; printf ' %s |' $libraries; printf '\n|---|---|'; printf '%.0s---|' $libraries; echo; }

head instructions
for operation in put8 flush; do
	for b in F08 MPI MPIF; do
		printf '| %s | %s |' $operation "$(title $b)"
		for l in $libraries; do printf ' %s |' "$(launch $l "$work/icount" 100 "$work/$l.$b" count $operation | sed 1q)"; done
		echo
	done
done
echo
head nanoseconds
for operation in put8 put8_flush row; do
	for b in F08 MPI MPIF; do
		for run in 1 2 3; do
			for l in $libraries; do launch $l "$work/$l.$b" time $operation | sed 1q >>"$work/$l.$b.$operation"; done
		done
		printf '| %s | %s |' $operation "$(title $b)"
		for l in $libraries; do printf ' %s |' "$(sort -n "$work/$l.$b.$operation" | sed 1q)"; done
		echo
	done
done
