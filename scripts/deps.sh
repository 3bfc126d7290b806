#!/bin/sh
# Checks that the requirements of a step are installed:
#
#   scripts/deps.sh build|demo|test|ref|bench|bench-fabric|cluster|browser|deb|fresh
#
# It installs missing Debian packages with apt without asking, if it runs as root or sudo needs no password. Otherwise,
# or with GOMPIRMA_NO_APT=1, it prints the command to run and fails. A missing Fortran compiler never makes it fail.
set -eu
[ $# -le 1 ] || { echo "gompirma: scripts/deps.sh checks one step at a time, but got: $*" >&2; exit 2; }

fail() { echo "gompirma: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
top=$(cd "$(dirname "$0")/.." && pwd)

case "$(uname -s) $(uname -m)" in
"Linux x86_64" | "Linux aarch64") ;;
*) fail "only Linux on x86-64 and arm64 is supported; this system is $(uname -s) $(uname -m)" ;;
esac

# Go must already be installed. This script cannot install it, because Debian's version is older than go.mod requires.
wanted=$(sed -n 's/^go //p' "$top/go.mod")
have go || fail "Go $wanted or newer is needed, but no 'go' is in PATH (https://go.dev/dl/)"
found=$(cd / && GOTOOLCHAIN=local GOFLAGS= go env GOVERSION | sed 's/^[^0-9]*//; s/[^0-9.].*//')
oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)
[ "$oldest" = "$wanted" ] || fail "Go $wanted or newer is needed, but $(command -v go) is version $found (https://go.dev/dl/)"

missing= fortran=
need() { # need PACKAGE COMMAND...: each command must exist
	package=$1
	shift
	for name; do
		have "$name" || { missing="$missing $package"; return 0; }
	done
}
# headers PACKAGE COMPILER HEADER [FLAG...]: the compiler must find HEADER, which PACKAGE contains
headers() {
	package=$1 compiler=$2 header=$3
	shift 3
	echo "#include <$header>" | "$compiler" "$@" -x c -E - >/dev/null 2>&1 || missing="$missing $package"
}
need gcc gcc
headers libc6-dev gcc stdio.h
headers libpmix-dev gcc pmix.h -isystem /usr/lib/x86_64-linux-gnu/pmix2/include -isystem /usr/lib/aarch64-linux-gnu/pmix2/include
headers libfabric-dev gcc rdma/fabric.h # jobs on several nodes load libfabric at run time
headers libucx-dev gcc ucp/api/ucp.h    # or UCX
case ${1:-build} in
build) ;;
demo)
	need cmake cmake
	;;
test | ref | bench | bench-fabric | cluster)
	need cmake cmake ctest
	need g++ g++
	need clang clang clang++ # a test compiles mpi.h with clang
	need clang-format clang-format
	have gfortran || fortran=gfortran # optional: tests of C do not need it
	need pkg-config pkg-config
	need mpich mpiexec.mpich mpicc.mpich # tests start gompirma with mpiexec, and MPICH's programs with gompirun
	headers libmpich-dev mpicc.mpich mpi.h
	need openmpi-bin mpirun.openmpi # tests start gompirma with Open MPI's launcher, through PMIx
	need gdb-minimal gdb # a test checks that a debugger shows faults as it does without gompirma
	need mandoc mandoc   # a test checks the manual pages
	need man-db man
	need zsh zsh         # a test tries the completion of options
	need iproute2 ip     # tests change addresses of the loopback interface in a network namespace
	;;
browser) # a separate step, because Chromium needs some 300 MB
	need chromium chromium
	;;
deb)
	need debhelper dh
	need dpkg-dev dpkg-buildpackage
	need gfortran gfortran # a package has the Fortran bindings
	need lintian lintian
	;;
fresh)
	need git git
	need mmdebstrap mmdebstrap
	need util-linux unshare
	;;
*) echo "usage: scripts/deps.sh build|demo|test|ref|bench|bench-fabric|cluster|browser|deb|fresh" >&2; exit 2 ;;
esac
case ${1:-build} in
bench-fabric | cluster)
	need iproute2 ip tc ss
	need util-linux unshare nsenter setpriv
	;;
esac
case ${1:-build} in
bench | bench-fabric)
	need openmpi-bin mpicc.openmpi
	headers libopenmpi-dev mpicc.openmpi mpi.h
	need valgrind valgrind
	;;
cluster)
	need nftables nft
	need slurmctld slurmctld
	need slurmd slurmd
	need slurm-client srun
	need munge munged
	;;
esac
[ -n "$missing$fortran" ] || exit 0
if [ -z "$missing" ]; then # only Fortran is missing; if it cannot be installed, succeed nevertheless
	fail() { echo "gompirma: the Fortran bindings are not built; $*"; exit 0; }
fi

# Sorts the packages and removes duplicates.
missing=$(printf '%s\n' $missing $fortran | sort -u | tr '\n' ' ')
command="apt-get install -y --no-install-recommends ${missing% }"
have apt-get || fail "missing: ${missing% } (names of Debian's packages; there is no apt-get here to install them)"
run=
if [ "$(id -u)" -ne 0 ]; then run='sudo -n'; fi
if [ -n "${GOMPIRMA_NO_APT:-}" ] || { [ -n "$run" ] && ! sudo -n true 2>/dev/null; }; then
	fail "missing: ${missing% }; run: sudo $command"
fi
echo "gompirma: installing ${missing% }"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $run env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 </dev/null; }
# In a fresh container apt may have no package lists, or old ones. After a failure, updates the lists and tries again.
apt install --no-install-recommends $missing || { apt update && apt install --no-install-recommends $missing; } || {
	[ "$missing" = "gfortran " ] || tail -n 5 "$log" >&2
	fail "apt-get could not install the missing packages; run: sudo $command"
}
