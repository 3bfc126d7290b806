#!/bin/sh
# Builds gompirma into a directory with the layout of an installed prefix: scripts/build.sh OUT
#
# Make and CMake call this script, so that there is only one `go build` line. If the contents of a file do not change,
# the file keeps its time stamp. So programs are relinked only when the library changes.
#
# It prints the names of the packages that Go compiles (-v), to show progress.
# GOMPIRMA_GOFLAGS: additional flags for `go build` of the library, such as "-race -buildmode=c-shared" (Go refuses -race
# with the build mode that this script uses).
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/build.sh OUT" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/obj"
out=$(cd "$1" && pwd)
cd "$top"
exec 9>"$out/obj/lock"
flock 9 # only one build at a time, since test packages that run concurrently may start builds

version=$(cat core/version/VERSION)
major=${version%%.*}
real=libgompirma.so.$version
soname=libgompirma.so.$major

# put FILE DEST: copies FILE unless the contents are equal. It replaces DEST atomically, so that a running program keeps
# the old file.
put() {
	cmp -s "$1" "$2" 2>/dev/null && return 0
	cp -p "$1" "$2.new" && mv -f "$2.new" "$2"
}
# link TARGET NAME: creates a symbolic link. TARGET must be relative, so that the prefix can be moved.
link() { [ "$(readlink "$2" 2>/dev/null)" = "$1" ] || ln -sfn "$1" "$2"; }
# fill TEMPLATE DEST: replaces @VERSION@, @LIBRARY@ and @SONAME@.
fill() {
	sed -e "s/@VERSION@/$version/g" -e "s/@LIBRARY@/$real/g" -e "s/@SONAME@/$soname/g" "$1" >"$out/obj/filled"
	put "$out/obj/filled" "$2"
}

mkdir -p "$out/obj/bin" "$out/bin" "$out/include" "$out/lib/pkgconfig" "$out/lib/cmake/gompirma" "$out/lib/gompirma/abi" "$out/libexec/gompirma/bin"

# The library. It exports only MPI_*, PMPI_* and MPIX_* (capi/z_exports.so, a linker script that capi/main.go names).
# It sets options of the Go runtime: goroutines are not preempted by SIGURG, and stacks never shrink
# (capi/runtime/cross.c, go_start.c).
#
# `go build -buildmode=c-shared` compiles the C files of every package at each call, because it finds no cached header of
# a package that exports nothing. So Go compiles the packages for -buildmode=pie, which has the same compiler options,
# and only the linker gets -buildmode=c-shared. The library is the same, except for the build mode that `go version -m`
# prints. Go does not know that the library depends on z_exports.so, so the script removes the old library.
inputs() {
	find capi core include go.mod go.sum scripts/build.sh -type f ! -name '*_test.go' -exec cksum {} + | LC_ALL=C sort
	go env GOVERSION GOROOT GOFLAGS GOAMD64 GOARM64 GOEXPERIMENT CC CGO_CFLAGS CGO_CPPFLAGS CGO_LDFLAGS
	$(go env CC) --version
	echo "${GOMPIRMA_GOFLAGS:-}"
}
inputs=$(inputs | cksum)
if [ ! -e "$out/obj/libgompirma.so" ] || [ "$(cat "$out/obj/inputs" 2>/dev/null)" != "$inputs" ]; then
	rm -f "$out/obj/inputs" "$out/obj/libgompirma.so"
	CGO_ENABLED=1 go build -v -buildmode=pie -trimpath ${GOMPIRMA_GOFLAGS:-} -o "$out/obj/libgompirma.so" \
		-ldflags "-buildmode=c-shared -X runtime.godebugDefault=asyncpreemptoff=1,gcshrinkstackoff=1 -extldflags -Wl,-soname,$soname" ./capi
	echo "$inputs" >"$out/obj/inputs"
fi
for old in "$out"/lib/libgompirma.so.*.*; do # removes libraries of other releases
	if [ "$old" != "$out/lib/$real" ]; then rm -f "$old"; fi
done
put "$out/obj/libgompirma.so" "$out/lib/$real"
link "$real" "$out/lib/$soname"
link "$soname" "$out/lib/libgompirma.so"
# libmpi_abi is in a separate directory, which linkers search only on request. gompirun adds this directory to
# LD_LIBRARY_PATH. Therefore the directory also has links to the libraries that programs linked to gompirma itself need,
# and nothing else.
scripts/abi.sh "$out" "$soname"
link "../../$soname" "$out/lib/gompirma/abi/$soname"

scripts/insight.sh "$out"

for header in mpi.h mpi_rma.h mpix_gompirma.h mpi-ext.h; do put "include/$header" "$out/include/$header"; done

# The tools are static programs in pure Go, so that they run wherever they are copied.
CGO_ENABLED=0 go build -v -trimpath -ldflags '-s -w' -o "$out/obj/bin/" ./cmd/...
for tool in gompirun gompi-info; do
	if [ -e "$out/obj/bin/$tool" ]; then put "$out/obj/bin/$tool" "$out/bin/$tool"; fi
done
# gompi-fabric needs cgo, because it loads libfabric.
CGO_ENABLED=1 go build -v -trimpath -ldflags '-s -w' -o "$out/obj/bin/gompi-fabric" ./cmd/gompi-fabric
put "$out/obj/bin/gompi-fabric" "$out/libexec/gompirma/gompi-fabric"
put cmd/gompirun/remote-shell.sh "$out/libexec/gompirma/remote-shell"
# The compiler wrappers are one program with several names. The names are hard links, not symbolic links, since a build
# system may resolve symbolic links, and the program would then not recognize the language from its name.
put "$out/obj/bin/gompiwrap" "$out/bin/gompicc"
for tool in gompicxx gompifort gompicc_abi gompicxx_abi gompifort_abi; do
	[ "$out/bin/gompicc" -ef "$out/bin/$tool" ] || ln -f "$out/bin/gompicc" "$out/bin/$tool"
done
# libexec/gompirma/bin has the usual names (mpicc), for unmodified build systems. Users put it first in PATH.
for alias in mpicc:gompicc mpicxx:gompicxx mpic++:gompicxx mpiCC:gompicxx mpifort:gompifort mpif90:gompifort mpif77:gompifort \
	mpicc_abi:gompicc_abi mpicxx_abi:gompicxx_abi mpifort_abi:gompifort_abi mpiexec:gompirun mpirun:gompirun; do
	link "../../../bin/${alias#*:}" "$out/libexec/gompirma/bin/${alias%%:*}"
done

# Writes suppressions for valgrind, which would report Go's stack switches as errors. A suppression matches only errors
# whose innermost frame is Go code.
mkdir -p "$out/share/gompirma" "$out/share/modulefiles/gompirma"
for kind in Addr1 Addr2 Addr4 Addr8 Addr16 Addr32 Cond Value1 Value2 Value4 Value8 Value16; do
	for code in 'runtime.*' 'gompirma/*' 'main.*' 'internal/*' 'os.*' 'io.*' 'sync.*' 'syscall.*' 'strconv.*' 'strings.*' 'slices.*' 'fmt.*' 'bytes.*' \
		'bufio.*' 'errors.*' 'reflect.*' 'sort.*' 'time.*' 'context.*' 'encoding/*' 'golang.org/*' 'type:*' '_cgo_*' 'x_cgo_*' 'crosscall*'; do
		printf '{\n   gompirma\n   Memcheck:%s\n   fun:%s\n}\n' "$kind" "$code"
	done
done >"$out/obj/filled"
put "$out/obj/filled" "$out/share/gompirma/valgrind.supp"

fill cmake/gompirma.pc.in "$out/lib/pkgconfig/gompirma.pc"
fill cmake/gompirma-abi.pc.in "$out/lib/pkgconfig/gompirma-abi.pc"
fill cmake/gompirmaConfig.cmake.in "$out/lib/cmake/gompirma/gompirmaConfig.cmake"
fill cmake/gompirmaConfigVersion.cmake.in "$out/lib/cmake/gompirma/gompirmaConfigVersion.cmake"
rm -f "$out"/share/modulefiles/gompirma/*
fill packages/modulefile.in "$out/share/modulefiles/gompirma/$version"

scripts/fortran.sh "$out" "$version"

# The manual pages and the completion of shells. Their date is SOURCE_DATE_EPOCH, else that of the last commit, else today.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
go build -o "$out/obj/bin/man" ./man/gen
"$out/obj/bin/man" -date "$(date -u -d "@$epoch" +%Y-%m-%d)" -tools "$out" "$out/share"
