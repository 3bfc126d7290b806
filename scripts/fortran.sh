#!/bin/sh
# Builds the Fortran bindings into the prefix that scripts/build.sh makes and calls this for: scripts/fortran.sh OUT VERSION
# The compiler is FC, or gfortran, with FFLAGS; without one, or without the header for its descriptors, one line says what is left out, and C goes on.
#
# It all depends on the compiler: modules, descriptors, LOGICAL. So a compiler of another kind builds its own, in a prefix of its own.
# And it depends on the size of INTEGERs: the same sources are compiled for those of 4 bytes and, if the compiler has an option for them, for those of 8, whose library
# has _i8 in its name and whose modules and mpif.h lie in a folder of their own.
set -eu

[ $# -eq 2 ] || { echo "usage: scripts/fortran.sh OUT VERSION" >&2; exit 2; }
cd "$(dirname "$0")/.."
out=$1 version=$2
major=${version%%.*}
modules=$out/lib/gompirma/fortran
work=$out/obj/fortran
fc=${FC:-gfortran} cc=${CC:-gcc} fflags=${FFLAGS:-}

left_out_eight() {
	rm -rf "$modules/i8" "$out"/lib/libgompirma_fortran_i8.so* "$out"/lib/gompirma/abi/lib*fort*_i8.so* "$out"/lib/pkgconfig/gompirma*-fortran-i8.pc
}
left_out() {
	rm -rf "$modules" "$out"/lib/libgompirma_fortran.so* "$out"/lib/gompirma/abi/lib*fort* "$out/include/mpif.h" "$out"/lib/pkgconfig/gompirma*-fortran.pc "$work"
	left_out_eight
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
stamp=$(cat fortran/*.[ch] fortran/*.[fF]90 fortran/i8/mpif.h include/mpi_rma.h cmake/gompirma*-fortran*.pc.in scripts/fortran.sh | cksum; $fc --version | head -n 1; $cc --version | head -n 1; readlink -f "$(command -v "${fc%% *}")"; echo "$fflags $cc")
if [ -e "$out/lib/libgompirma_fortran.so.$version" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
echo "compiling the Fortran bindings"
rm -rf "$work"
mkdir -p "$work/4/modules" "$work/8/modules" "$modules/i8"

# The option that makes default INTEGERs of 8 bytes. FFLAGS decide nothing about their size: programs do.
probe() { # probe BYTES OPTION...: tells whether INTEGERs and LOGICALs have so many
	bytes=$1
	shift
	printf '%s\n' "integer, parameter :: same = 1 / merge(1, 0, storage_size(1) == 8 * $bytes .and. storage_size(.true.) == 8 * $bytes)" 'print *, same' end >"$work/probe.f90"
	(cd "$work" && $fc $fflags "$@" -c probe.f90 -o probe.o) >/dev/null 2>&1
}
probe 4 || left_out "'$fc $fflags' makes no INTEGERs of 4 bytes; those of 8 are built beside them, so FFLAGS need no option for their size"
eight=
for option in -fdefault-integer-8 -i8; do
	if probe 8 $option; then
		eight=$option
		break
	fi
done

# What has entry points is compiled under both names.
# capi/insight finds who called the bindings by their frame pointers.
flags="-std=gnu11 -O1 -fPIC -fno-omit-frame-pointer -Wall -Wextra -Werror -fno-strict-aliasing -fvisibility=hidden -Iinclude -Ifortran"
export work top="$PWD"
compile() { # compile FOLDER OPTION...: a list of commands, one a line: objects into the folder of a size
	to="\"\$work\"/$1"
	shift
	for source in fortran/*.c; do
		name=$(basename "$source" .c)
		if [ "$name" = inform ]; then
			echo "$cc $flags $* -c $source -o $to/$name.abi"
			continue
		fi
		echo "$cc $flags $* -c $source -o $to/$name.o"
		if grep -q 'ENTRY .*NAME(' "$source"; then echo "$cc $flags $* -DGOMPI_F_PROFILING -c $source -o $to/p_$name.o"; fi
	done
}
# The modules, in the order in which they use each other. -J is gfortran's; others write into the current folder.
modules_of() { # modules_of FOLDER OPTION...: one such command
	to="\"\$work\"/$1"
	shift
	printf '%s' "cd $to/modules"
	for source in logical.f90 z_constants.F90 z_mpi.F90 z_mpi_f08.F90; do
		printf '%s' " && $fc $fflags $* -O2 -fPIC -c \"\$top\"/fortran/$source -o ../${source%.*}.o"
	done
	echo
}
# The longest first, and as many at a time as there are processors.
{
	modules_of 4
	if [ -n "$eight" ]; then modules_of 8 "$eight" -DGOMPI_F_INTEGER_8; fi
	compile 4
	if [ -n "$eight" ]; then compile 8 -DGOMPI_F_INTEGER_8; fi
} >"$work/commands"
tr '\n' '\0' <"$work/commands" | xargs -0 -n 1 -P "$(nproc)" sh -c

link() { # link FILE SONAME FILE.o... -lLIBRARY: a library
	file=$1 name=$2
	shift 2
	$fc -shared -o "$work/linked" "$@" -lpthread -Wl,-soname,"$name" -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags -Wl,-z,defs -Wl,-z,lazy -Wl,--as-needed
	mv "$work/linked" "$file"
}
fill() { # fill MODULE: the file of pkg-config for it
	sed -e "s/@VERSION@/$version/g" "cmake/$1.pc.in" >"$out/lib/pkgconfig/$1.pc"
}
finish() { # finish FOLDER SUFFIX MODULES: libraries and modules of a size
	from=$work/$1 suffix=$2 to=$3
	library=libgompirma_fortran$suffix.so abi=libmpifort_abi$suffix.so
	for old in "$out/lib/$library".*.*; do # of another release
		if [ "$old" != "$out/lib/$library.$version" ]; then rm -f "$old"; fi
	done
	link "$out/lib/$library.$version" "$library.$major" "$from"/*.o -L"$out/lib" -lgompirma
	ln -sfn "$library.$version" "$out/lib/$library.$major"
	ln -sfn "$library.$major" "$out/lib/$library"
	ln -sfn "../../$library.$major" "$out/lib/gompirma/abi/$library.$major"
	# The same on the standard ABI's library, which may be any MPI's. That one is told what this compiler's types are.
	mv "$from/inform.abi" "$from/inform.o"
	link "$out/lib/gompirma/abi/$abi.1" "$abi.1" "$from"/*.o -L"$out/lib/gompirma/abi" -lmpi_abi
	ln -sfn "$abi.1" "$out/lib/gompirma/abi/$abi"
	rm -f "$to"/*.mod
	cp "$from"/modules/mpi*.mod "$from"/modules/gompi_[!l]*.mod "$to/" # gompi_logical is for C alone
}
finish 4 '' "$modules"
cp fortran/mpif.h "$out/include/mpif.h"
fill gompirma-fortran
fill gompirma-abi-fortran
if [ -n "$eight" ]; then
	finish 8 _i8 "$modules/i8"
	cp fortran/i8/mpif.h "$modules/i8/mpif.h"
	fill gompirma-fortran-i8
	fill gompirma-abi-fortran-i8
else
	left_out_eight
	echo "gompirma: INTEGERs of 8 bytes are left out: $fc has neither -fdefault-integer-8 nor -i8"
fi
# With mpif.h calls have no interfaces, and gfortran takes buffers of different types in two calls for an error unless it is told; so it takes
# the BOZ constants of old programs. Debian's MPICH has the same options.
rm -f "$modules/flags"
echo end >"$work/probe.f90"
for flag in -fallow-argument-mismatch -fallow-invalid-boz; do
	if $fc $flag -c "$work/probe.f90" -o "$work/probe.o" 2>/dev/null; then echo "$flag" >>"$modules/flags"; fi
done
rm -rf "$work/4" "$work/8" "$work/probe.o"
echo "$stamp" >"$work/stamp"
