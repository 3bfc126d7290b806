#!/bin/sh
# Builds the standard ABI's library, libmpi_abi.so.1, in the prefix that scripts/build.sh makes: scripts/abi.sh OUT
# SONAME
#
# scripts/build.sh calls this script. A program that must run with any MPI library of the standard ABI is linked to
# libmpi_abi. The libmpi_abi of gompirma has no code. It has only the names of the functions, which linkers need, and a
# dependency on libgompirma. docs/RATIONALE.md gives the reasons for this design.
set -eu

[ $# -eq 2 ] || { echo "usage: scripts/abi.sh OUT SONAME" >&2; exit 2; }
out=$1 soname=$2
cc=${CC:-gcc}
abi=$out/lib/gompirma/abi
work=$out/obj/abi
mkdir -p "$abi" "$work"

# Defines the names of all functions that libgompirma exports, except the conversions for Fortran, which the ABI does
# not have. A name that is weak in libgompirma (MPI_X) is weak here too.
nm -D --defined-only "$out/lib/$soname" | awk '
	BEGIN { print "__attribute__((used)) static void nobody(void) { __builtin_trap(); }" }
	$3 ~ /^P?MPI_/ && $3 !~ /_(c2f|f2c|c2f08|f082c|f2f08|f082f)$/ { printf "__attribute__((%salias(\"nobody\"))) void %s(void);\n", $2 == "W" ? "weak, " : "", $3 }' >"$work/names.c"
stamp=$(cksum <"$work/names.c"; cksum <scripts/abi.sh; $cc --version | head -n 1)
if [ -f "$abi/libmpi_abi.so.1" ] && [ ! -L "$abi/libmpi_abi.so.1" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi

$cc -shared -fPIC -nostdlib -Wall -Werror -o "$work/lib" "$work/names.c" -Wl,-soname,libmpi_abi.so.1 -Wl,--hash-style=gnu \
	-Wl,-rpath,'$ORIGIN/../..' -Wl,--enable-new-dtags -L"$out/lib" -Wl,--no-as-needed -lgompirma

# At run time the loader must find the names in libgompirma, not in libmpi_abi. Therefore this script clears the hash
# table in which the loader looks up names, except the table's header of 16 bytes.
set -- $(objdump -h "$work/lib" | awk '$2 == ".gnu.hash" { print $3, $6 }')
dd if=/dev/zero of="$work/lib" bs=1 seek=$((0x$2 + 16)) count=$((0x$1 - 16)) conv=notrunc status=none

mv -f "$work/lib" "$abi/libmpi_abi.so.1"
for name in libmpi_abi.so libmpi_abi.so.0; do ln -sfn libmpi_abi.so.1 "$abi/$name"; done # MPICH's library has number 0
echo "$stamp" >"$work/stamp"
