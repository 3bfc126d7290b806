#!/bin/sh
# Builds the Fortran bindings in the prefix that scripts/build.sh makes: scripts/fortran.sh OUT VERSION
#
# scripts/build.sh calls this script. FC names the compiler (default: gfortran), and FFLAGS its options. If there is no
# compiler, or no ISO_Fortran_binding.h, the script prints one line that states what is omitted, and succeeds.
#
# The formats of modules and descriptors and the values of LOGICALs depend on the compiler. Therefore another compiler
# needs its own build in its own prefix. The bindings also depend on the size of INTEGERs: the same sources are compiled
# for INTEGERs of 4 bytes and, if the compiler has an option for it, of 8 bytes. The library for 8 bytes has _i8 in its
# name, and its modules and mpif.h are in a separate directory.
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
	rm -rf "$modules" "$out"/lib/libgompirma_fortran.so* "$out"/lib/gompirma/abi/lib*fort* "$out"/include/mpif*.h "$out"/lib/pkgconfig/gompirma*-fortran.pc "$work"
	left_out_eight
	echo "gompirma: the Fortran bindings are not built: $1"
	exit 0
}
# The first word of FC is the compiler; the other words are options. The same holds for CC.
command -v "${fc%% *}" >/dev/null 2>&1 || left_out "no Fortran compiler (${fc%% *}); Debian's package is gfortran"
case $($fc --version 2>/dev/null | head -n 1) in
'GNU Fortran '*) # gfortran's descriptors follow the standard only from version 12 on
	[ "$($fc -dumpversion | sed 's/\..*//')" -ge 12 ] || left_out "$fc is older than version 12" ;;
esac
echo '#include <ISO_Fortran_binding.h>' | $cc -E - >/dev/null 2>&1 || left_out "$cc does not find ISO_Fortran_binding.h of $fc"

# Rebuilds everything if any input has changed, otherwise nothing.
stamp=$(cat fortran/*.[ch] include/mpix_gompirma.h include/mpif-ext.h fortran/*.[fF]90 fortran/generated/* fortran/i8/mpif.h include/mpi_rma.h cmake/gompirma*-fortran*.pc.in scripts/fortran.sh | cksum; $fc --version | head -n 1; $cc --version | head -n 1; readlink -f "$(command -v "${fc%% *}")"; echo "$fflags $cc")
if [ -e "$out/lib/libgompirma_fortran.so.$version" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
echo "compiling the Fortran bindings"
rm -rf "$work"
mkdir -p "$work/4/modules" "$work/8/modules" "$modules/i8"

# Finds the option that makes default INTEGERs 8 bytes large. FFLAGS must not contain such an option, because each
# program selects the size itself.
probe() { # probe BYTES OPTION...: checks whether INTEGERs and LOGICALs have this size
	bytes=$1
	shift
	printf '%s\n' "integer, parameter :: same = 1 / merge(1, 0, storage_size(1) == 8 * $bytes .and. storage_size(.true.) == 8 * $bytes)" 'print *, same' end >"$work/probe.f90"
	(cd "$work" && $fc $fflags "$@" -c probe.f90 -o probe.o) >/dev/null 2>&1
}
probe 4 || left_out "'$fc $fflags' does not compile INTEGERs to 4 bytes; remove the option for their size from FFLAGS (the bindings for 8 bytes are built in any case)"
eight=
for option in -fdefault-integer-8 -i8; do
	if probe 8 $option; then
		eight=$option
		break
	fi
done

# Files with entry points are compiled twice, for MPI and PMPI names. capi/insight needs the frame pointers to find the
# caller of a binding.
flags="-std=gnu11 -O1 -fPIC -fno-omit-frame-pointer -Wall -Wextra -Werror -fno-strict-aliasing -fvisibility=hidden -Iinclude -Ifortran"
export work top="$PWD"
compile() { # compile FOLDER OPTION...: prints a line for each object, the command that compiles it into FOLDER
	to="\"\$work\"/$1"
	shift
	for source in fortran/*.c fortran/generated/*.c; do
		name=$(basename "$source" .c)
		if [ "$name" = inform ]; then
			echo "$cc $flags $* -c $source -o $to/$name.abi"
			continue
		fi
		echo "$cc $flags $* -c $source -o $to/$name.o"
		if grep -q 'ENTRY .*NAME(' "$source"; then echo "$cc $flags $* -DGOMPI_F_PROFILING -c $source -o $to/p_$name.o"; fi
	done
}
# Compiles the modules in the order of their dependencies. gfortran writes module files into the directory of -J; other
# compilers write them into the current directory.
modules_of() { # modules_of FOLDER OPTION...: prints one command that compiles all modules into FOLDER
	to="\"\$work\"/$1"
	shift
	printf '%s' "cd $to/modules"
	for source in logical.f90 generated/constants.F90 generated/mpi.F90 generated/mpi_f08.F90 generated/mpi_ext.F90; do
		object=$(basename "${source%.*}").o
		printf '%s' " && $fc $fflags $* -O2 -fPIC -c \"\$top\"/fortran/$source -o ../$object"
	done
	echo
}
# Runs the commands with as many parallel jobs as processors, the longest commands first.
{
	modules_of 4
	if [ -n "$eight" ]; then modules_of 8 "$eight" -DGOMPI_F_INTEGER_8; fi
	compile 4
	if [ -n "$eight" ]; then compile 8 -DGOMPI_F_INTEGER_8; fi
} >"$work/commands"
tr '\n' '\0' <"$work/commands" | xargs -0 -n 1 -P "$(nproc)" sh -c

link() { # link FILE SONAME FILE.o... -lLIBRARY: links a library
	file=$1 name=$2
	shift 2
	$fc -shared -o "$work/linked" "$@" -lpthread -Wl,-soname,"$name" -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags -Wl,-z,defs -Wl,-z,lazy -Wl,--as-needed
	mv "$work/linked" "$file"
}
fill() { # fill MODULE: creates the pkg-config file of MODULE
	sed -e "s/@VERSION@/$version/g" "cmake/$1.pc.in" >"$out/lib/pkgconfig/$1.pc"
}
finish() { # finish FOLDER SUFFIX MODULES: installs the libraries and modules for one size of INTEGERs
	from=$work/$1 suffix=$2 to=$3
	library=libgompirma_fortran$suffix.so abi=libmpifort_abi$suffix.so
	for old in "$out/lib/$library".*.*; do # removes libraries of other releases
		if [ "$old" != "$out/lib/$library.$version" ]; then rm -f "$old"; fi
	done
	link "$out/lib/$library.$version" "$library.$major" "$from"/*.o -L"$out/lib" -lgompirma
	ln -sfn "$library.$version" "$out/lib/$library.$major"
	ln -sfn "$library.$major" "$out/lib/$library"
	ln -sfn "../../$library.$major" "$out/lib/gompirma/abi/$library.$major"
	# Links the same bindings with libmpi_abi, which may belong to any MPI library. inform.c passes the sizes of
	# this compiler's types to that library.
	mv "$from/inform.abi" "$from/inform.o"
	rm "$from/extension.o" "$from/f_extensions.o" # of functions that such a library need not have
	link "$out/lib/gompirma/abi/$abi.1" "$abi.1" "$from"/*.o -L"$out/lib/gompirma/abi" -lmpi_abi
	ln -sfn "$abi.1" "$out/lib/gompirma/abi/$abi"
	rm -f "$to"/*.mod
	cp "$from"/modules/mpi*.mod "$from"/modules/gompi_[!l]*.mod "$to/" # only C uses gompi_logical
}
finish 4 '' "$modules"
cp fortran/mpif.h include/mpif-ext.h "$out/include/"
fill gompirma-fortran
fill gompirma-abi-fortran
if [ -n "$eight" ]; then
	finish 8 _i8 "$modules/i8"
	cp fortran/i8/mpif.h "$modules/i8/mpif.h"
	fill gompirma-fortran-i8
	fill gompirma-abi-fortran-i8
else
	left_out_eight
	echo "gompirma: the Fortran bindings for INTEGERs of 8 bytes are not built: $fc has neither -fdefault-integer-8 nor -i8"
fi
# With mpif.h, calls have no interfaces. Without -fallow-argument-mismatch, gfortran then rejects a program that calls a
# function with buffers of different types. Without -fallow-invalid-boz it rejects the BOZ constants of old programs.
# Debian's MPICH uses the same options.
rm -f "$modules/flags"
echo end >"$work/probe.f90"
for flag in -fallow-argument-mismatch -fallow-invalid-boz; do
	if $fc $flag -c "$work/probe.f90" -o "$work/probe.o" 2>/dev/null; then echo "$flag" >>"$modules/flags"; fi
done
rm -rf "$work/4" "$work/8" "$work/probe.o"
echo "$stamp" >"$work/stamp"
