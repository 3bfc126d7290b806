#!/bin/bash
# Tests the Debian packages in a bare root, as root: tests/packages/debian.sh DIRECTORY_OF_THE_PACKAGES
#
# `make test-deb` runs it through scripts/fresh.sh. It changes the system on which it runs: it installs and removes
# packages. First it tests the packages alone. Then it tests them beside MPICH and Open MPI, upgrades and purges them.
set -eEu -o pipefail
trap 'echo "FAILED: line $LINENO: $BASH_COMMAND" >&2' ERR

[ $# -eq 1 ] && [ -e /mnt/deb ] || { echo "usage: tests/packages/debian.sh DIRECTORY (in a bare root)" >&2; exit 2; }
debs=$1
triplet=$(gcc -print-multiarch)
version=$(cat core/version/VERSION)
packages='libgompirma0 libgompirma-dev gompirma-bin gompirma-fortran gompirma-doc'
work=$(mktemp -d)
cd "$work"

step() { printf '\n-- %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"; }
apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >"$work/apt.log" 2>&1 || { tail -n 40 "$work/apt.log"; fail "apt-get $*"; }; }
# files: lists all files of the system, with the targets of symbolic links, except files that apt and the loader write.
files() {
	find / -xdev \( -path /tmp -o -path /root -o -path /mnt -o -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg/triggers -o -path /var/backups -o -name '*-old' \) -prune -o -printf '%p %l\n' | LC_ALL=C sort
}
target() { readlink -f "/usr/bin/$1"; }
private=/usr/lib/$triplet/gompirma
# install VERSION: installs the packages of that version
install() {
	local list=() name
	for name in $packages; do list+=("$(echo "$debs/${name}_$1"_*.deb)"); done
	apt install --no-install-recommends "${list[@]}"
}

cat >ring.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, from = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&from, sizeof from, sizeof from, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get_library_version(text, &size);
    text[8] = 0;
    printf("%s %d<-%d\n", text, rank, from);
    MPI_Win_free(&win);
    MPI_Finalize();
}
EOF
cat >ring.f90 <<'EOF'
use mpi_f08
integer :: rank, ranks
call MPI_Init()
call MPI_Comm_rank(MPI_COMM_WORLD, rank)
call MPI_Comm_size(MPI_COMM_WORLD, ranks)
print '(a,i0,a,i0)', 'fortran ', rank, ' of ', ranks
call MPI_Finalize()
end
EOF
sed -e 's/use mpi_f08/use mpi/' -e 's/MPI_Init()/MPI_Init(i)/; s/rank)/rank, i)/; s/ranks)/ranks, i)/; s/Finalize()/Finalize(i)/' ring.f90 >ring_old.f90
# runs PROGRAM LAUNCHER...: runs ring.c's program on two ranks
runs() { same "$("${@:2}" -n 2 "$1" | sort | tr '\n' ';')" 'gompirma 0<-1;gompirma 1<-0;' "$*"; }
runs_fortran() { same "$("${@:2}" -n 2 "$1" | sort | tr '\n' ';')" 'fortran 0 of 2;fortran 1 of 2;' "$*"; }

# works: compiles and runs programs in all ways that do not depend on other MPI libraries
works() {
	step 'wrappers and launcher'
	gompicc -Wall -Werror ring.c -o ring
	runs ./ring gompirun
	cp ring.c ring.cc
	gompicxx ring.cc -o ring_cxx
	runs ./ring_cxx gompirun
	gompifort ring.f90 -o ring_f
	runs_fortran ./ring_f gompirun
	mpicc.gompirma ring.c -o ring && mpicxx.gompirma ring.cc -o ring_cxx && mpifort.gompirma ring_old.f90 -o ring_old
	runs ./ring mpirun.gompirma
	runs ./ring_cxx mpiexec.gompirma
	runs_fortran ./ring_old mpirun.gompirma
	gompifort -fdefault-integer-8 ring_old.f90 -o ring_8
	runs_fortran ./ring_8 gompirun

	step 'standard ABI'
	gompicc_abi ring.c -o ring_abi
	readelf -d ring_abi | grep -q 'NEEDED.*libmpi_abi.so.1'
	if readelf -d ring_abi | grep -q libgompirma; then fail 'ring_abi needs libgompirma'; fi
	runs ./ring_abi gompirun
	gompifort_abi ring.f90 -o ring_f_abi
	runs_fortran ./ring_f_abi gompirun

	step 'reports'
	gompicc --check ring.c -o ring_check
	gompirun -n 2 --check ./ring_check >check.log 2>&1 || { cat check.log; fail 'gompirun --check'; }
	gompirun -n 2 --stats ./ring 2>&1 | grep -q MPI_Put || fail 'gompirun --stats does not list MPI_Put'

	step 'versions'
	same "$(gompi-info --version)" "gompirma $version" 'gompi-info --version'
	same "$(pkg-config --modversion gompirma)" "$version" pkg-config
	gompi-info >/dev/null
	gompi-info --fabric >fabric.log 2>&1 || grep -q libfabric fabric.log || { cat fabric.log; fail 'gompi-info --fabric'; }

	step 'pkg-config and CMake'
	gcc ring.c -o ring $(pkg-config --cflags --libs gompirma)
	runs ./ring gompirun
	gcc ring.c -o ring $(pkg-config --cflags --libs gompirma-abi)
	runs ./ring gompirun
	gfortran ring.f90 -o ring_f $(pkg-config --cflags --libs gompirma-fortran)
	runs_fortran ./ring_f gompirun
	gfortran ring.f90 -o ring_f $(pkg-config --cflags --libs gompirma-abi-fortran)
	runs_fortran ./ring_f gompirun
	cmake_project "${version%.*}" || { cat cmake.log; fail 'find_package(gompirma)'; }
	runs project/build/ring gompirun
	runs_fortran project/build/ring_f gompirun
	(cd project/build && ctest >ctest.log 2>&1) || { cat project/build/ctest.log; fail ctest; }
	if cmake_project 99.0; then fail 'find_package(gompirma 99.0) accepts this version'; fi
	grep -q 'compatible with requested version "99.0"' cmake.log || { cat cmake.log; fail 'message of find_package(gompirma 99.0)'; }
}
cmake_project() { # cmake_project VERSION: builds a project that requests this version
	rm -rf project
	mkdir project
	cat >project/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.21)
project(ring C Fortran)
find_package(gompirma $1 REQUIRED)
add_executable(ring ../ring.c)
target_link_libraries(ring gompirma::gompirma)
add_executable(ring_f ../ring.f90)
target_link_libraries(ring_f gompirma::fortran)
enable_testing()
add_test(NAME ring COMMAND gompirma::gompirun -n 2 \$<TARGET_FILE:ring>)
EOF
	{ cmake -S project -B project/build && cmake --build project/build; } >cmake.log 2>&1
}
# usual: compiles and runs programs with the usual names, which must be gompirma's
usual() {
	same "$(target mpicc)" "$private/bin/gompicc" mpicc
	same "$(target mpif90)" "$private/bin/gompifort" mpif90
	same "$(target mpiexec)" "$private/bin/gompirun" mpiexec
	mpicc ring.c -o ring && mpif90 ring.f90 -o ring_f && mpicxx ring.cc -o ring_cxx
	runs ./ring mpirun
	runs ./ring_cxx mpiexec
	runs_fortran ./ring_f mpiexec
	gcc "-I/usr/include/$triplet/mpi" ring.c -o ring -lmpi
	runs ./ring gompirun
	gcc ring.c -o ring $(pkg-config --cflags --libs mpi)
	runs ./ring gompirun
	gfortran ring.f90 -o ring_f $(pkg-config --cflags --libs mpi-fort)
	runs_fortran ./ring_f gompirun
}
module_file() { # module_file INIT: loads and unloads the module file in a shell that reads INIT
	step "module file, $1"
	local loaded
	loaded=$(bash -ec ". $1; module use $private/share/modulefiles; module load gompirma; command -v gompicc mpif90; module unload gompirma; command -v gompicc")
	same "$(echo "$loaded" | tr '\n' ' ')" "$private/bin/gompicc $private/libexec/gompirma/bin/mpif90 /usr/bin/gompicc " "$1"
}
purged() { # purged FILES_BEFORE: purges the packages and checks that all files are as before
	apt purge $(dpkg -l | awk '/^.. .*gompirma/ { print $2 }')
	files | diff "$1" - >left.txt || { cat left.txt; fail 'purging changed files'; }
	same "$(dpkg -l | grep -c gompirma || true)" 0 'packages that dpkg still lists'
}

step 'tools of the test'
apt update
apt install --no-install-recommends gcc g++ gfortran cmake pkg-config binutils man-db environment-modules
files >before.txt

step 'install alone'
install "$version"
[ "$(dpkg -l | grep -c '^ii.*gompirma')" -eq 5 ] || fail 'not all packages are installed'
works
usual
# Every link and file of the packages exists, and every page can be shown.
dpkg -L $packages | while IFS= read -r name; do [ -z "$name" ] || [ -e "$name" ] || fail "$name is missing or a dangling link"; done
dpkg -L gompirma-bin gompirma-fortran | sed -n '/\/man1\/./p' | while IFS= read -r page; do man -l "$page" >/dev/null; done
for page in MPI_Put MPI_Rput MPI_Win_lock_all gompirun gompicc_abi gompifort_abi mpirun.gompirma gompirma; do
	man "$page" >page.txt && grep -q 'SEE ALSO' page.txt || fail "man $page"
done

module_file /usr/share/modules/init/bash

step 'remove the Fortran package, and install it again'
apt remove gompirma-fortran
[ ! -e /usr/bin/mpif90 ] && [ ! -L /usr/bin/mpif90 ] || fail 'mpif90 exists without gompirma-fortran'
[ ! -L "/usr/lib/$triplet/libmpifort.so" ] || fail 'libmpifort.so exists without gompirma-fortran'
runs ./ring gompirun
cmake_project 0 && fail 'the target gompirma::fortran exists without gompirma-fortran'
install "$version"
usual

step 'the library alone runs programs'
apt remove gompirma-fortran libgompirma-dev gompirma-bin gompirma-doc
gcc_free=$(./ring_abi 2>&1 || true) # the directory of the standard ABI is in the program's run path
same "$gcc_free" 'gompirma 0<-0' 'a program without gompirma-bin'

step 'purge'
purged before.txt

step 'beside MPICH and Open MPI'
# Lmod conflicts with Environment Modules.
apt install --no-install-recommends mpich libmpich-dev openmpi-bin libopenmpi-dev lmod environment-modules-
choice() { for group in mpi mpirun "mpi-$triplet"; do update-alternatives --query "$group" | grep -E '^(Value|Status|Best):'; done; }
files >before.txt
before=$(choice)
install "$version"
same "$(choice)" "$before" 'installing changed the default MPI'
same "$(target mpicc)" "$(readlink -f /usr/bin/mpicc.openmpi)" mpicc
works
module_file /usr/share/lmod/lmod/init/bash
mpicc.mpich ring.c -o ring_mpich
mpirun.mpich -n 2 ./ring_mpich >/dev/null

step 'choose gompirma'
update-alternatives --set mpi /usr/bin/mpicc.gompirma
update-alternatives --set mpirun /usr/bin/mpirun.gompirma
update-alternatives --set "mpi-$triplet" "$private/include"
usual

step 'upgrade'
mkdir upgrade
for name in $packages; do
	dpkg-deb -R "$debs/${name}_$version"_*.deb tree
	sed -i "s/^Version: $version\$/Version: $version+upgrade/; s/(= $version)/(= $version+upgrade)/g" tree/DEBIAN/control
	dpkg-deb --root-owner-group -b tree upgrade >/dev/null
	rm -r tree
done
debs=$work/upgrade
chosen=$(choice)
install "$version+upgrade"
same "$(dpkg-query -W -f '${Version}' gompirma-bin)" "$version+upgrade" 'version after the upgrade'
same "$(choice)" "$chosen" 'upgrading changed the chosen MPI'
works
usual

step 'purge'
purged before.txt
same "$(choice)" "$before" 'the default MPI after purging'
mpicc ring.c -o ring_openmpi

printf '\nthe packages work\n'
