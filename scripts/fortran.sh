#!/bin/sh
# Builds the Fortran bindings into the prefix that scripts/build.sh makes and calls this for: scripts/fortran.sh OUT VERSION
# The compiler is FC, or gfortran, with FFLAGS; without one, or without the header for its descriptors, one line says what is left out, and C goes on.
#
# It all depends on the compiler: modules, descriptors, LOGICAL. So a compiler of another kind builds its own, in a prefix of its own.
set -eu

[ $# -eq 2 ] || { echo "usage: scripts/fortran.sh OUT VERSION" >&2; exit 2; }
cd "$(dirname "$0")/.."
out=$1 version=$2
major=${version%%.*}
real=libgompirma_fortran.so.$version
soname=libgompirma_fortran.so.$major
modules=$out/lib/gompirma/fortran
work=$out/obj/fortran
fc=${FC:-gfortran} cc=${CC:-gcc} fflags=${FFLAGS:-}

left_out() {
	rm -rf "$modules" "$out"/lib/libgompirma_fortran.so* "$out"/lib/gompirma/abi/lib*fort* "$out/include/mpif.h" "$out"/lib/pkgconfig/gompirma*-fortran.pc "$work"
	echo "gompirma: Fortran is left out: $1"
	exit 0
}
# One word of FC and CC each may be a compiler, the others its options.
command -v "${fc%% *}" >/dev/null 2>&1 || left_out "no Fortran compiler (${fc%% *}); Debian's package is gfortran"
case $($fc --version 2>/dev/null | head -n 1) in
'GNU Fortran '*) # before 12 it passed descriptors that are not those of the standard
	[ "$($fc -dumpversion | sed 's/\..*//')" -ge 12 ] || left_out "$fc is older than version 12" ;;
esac
echo '#include <ISO_Fortran_binding.h>' | $cc -E - >/dev/null 2>&1 || left_out "$cc does not find ISO_Fortran_binding.h of $fc"

# Everything is built anew, but only if anything is new.
stamp=$(cat fortran/*.[ch] fortran/*.f90 include/mpi_rma.h cmake/gompirma*-fortran.pc.in scripts/fortran.sh | cksum; $fc --version | head -n 1; $cc --version | head -n 1; readlink -f "$(command -v "${fc%% *}")"; echo "$fflags $cc")
if [ -e "$out/lib/$real" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
rm -rf "$work"
mkdir -p "$work/modules" "$modules"

# The modules, in the order in which they use each other. -J is gfortran's; others write into the current folder.
top=$PWD
for source in logical z_constants z_mpi z_mpi_f08; do
	(cd "$work/modules" && $fc $fflags -O2 -fPIC -c "$top/fortran/$source.f90" -o "../$source.o")
done

# The C behind them; what has entry points is compiled under both names.
flags="-std=gnu11 -O1 -fPIC -Wall -Wextra -Werror -fno-strict-aliasing -fvisibility=hidden -Iinclude -Ifortran"
once= twice=
for source in fortran/*.c; do
	if [ "$source" = fortran/inform.c ]; then continue; fi
	if grep -q 'ENTRY .*NAME(' "$source"; then twice="$twice $source"; else once="$once $source"; fi
done
compile() { # compile PREFIX OPTION FILE...: objects with the prefix
	prefix=$1 option=$2
	shift 2
	for source; do $cc $flags $option -c "$source" -o "$work/$prefix$(basename "$source" .c).o" || return 1; done
}
compile '' '' $once $twice &
first=$!
compile p_ -DGOMPI_F_PROFILING $twice
wait "$first"

for old in "$out"/lib/libgompirma_fortran.so.*.*; do # of another release
	if [ "$old" != "$out/lib/$real" ]; then rm -f "$old"; fi
done
link() { # link SONAME FILE.o... -lLIBRARY: a library
	name=$1
	shift
	$fc -shared -o "$work/linked" "$@" -lpthread -Wl,-soname,"$name" -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags -Wl,-z,defs -Wl,-z,lazy -Wl,--as-needed
}
link "$soname" "$work"/*.o -L"$out/lib" -lgompirma
mv "$work/linked" "$out/lib/$real"
ln -sfn "$real" "$out/lib/$soname"
ln -sfn "$soname" "$out/lib/libgompirma_fortran.so"
ln -sfn "../../$soname" "$out/lib/gompirma/abi/$soname"
# The same on the standard ABI's library, which may be any MPI's. That one is told what this compiler's types are.
compile '' '' fortran/inform.c
link libmpifort_abi.so.1 "$work"/*.o -L"$out/lib/gompirma/abi" -lmpi_abi
mv "$work/linked" "$out/lib/gompirma/abi/libmpifort_abi.so.1"
ln -sfn libmpifort_abi.so.1 "$out/lib/gompirma/abi/libmpifort_abi.so"
rm -f "$modules"/*
cp "$work"/modules/mpi*.mod "$work"/modules/gompi_[!l]*.mod "$modules/" # gompi_logical is for C alone
cp fortran/mpif.h "$out/include/mpif.h"
for pc in gompirma-fortran gompirma-abi-fortran; do
	sed -e "s/@VERSION@/$version/g" cmake/$pc.pc.in >"$out/lib/pkgconfig/$pc.pc"
done
# With mpif.h calls have no interfaces, and gfortran takes buffers of different types in two calls for an error unless it is told.
flag=-fallow-argument-mismatch
echo end >"$work/probe.f90"
if $fc $flag -c "$work/probe.f90" -o "$work/probe.o" 2>/dev/null; then echo "$flag" >"$modules/flags"; fi
rm -f "$work"/*.o
echo "$stamp" >"$work/stamp"
