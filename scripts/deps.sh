#!/bin/sh
# Makes sure that what a step needs is there: scripts/deps.sh build|demo|test|ref|bench|bench-fabric|cluster|browser|fresh
# Missing Debian packages are installed with apt without a question: as root, or through sudo if that needs no password; else the one
# command to run is printed. When everything is there, it looks at a few files and ends. GOMPIRMA_NO_APT=1: never install, only say.
# Nothing is refused for want of a Fortran compiler.
set -eu
[ $# -le 1 ] || { echo "gompirma: scripts/deps.sh makes sure of one step at a time, not of: $*" >&2; exit 2; }

fail() { echo "gompirma: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
top=$(cd "$(dirname "$0")/.." && pwd)

case "$(uname -s) $(uname -m)" in
"Linux x86_64" | "Linux aarch64") ;;
*) fail "runs on Linux x86-64 and arm64 only, this is $(uname -s) $(uname -m)" ;;
esac

# Go comes first, and not from apt: Debian's is older than go.mod asks for.
wanted=$(sed -n 's/^go //p' "$top/go.mod")
have go || fail "Go $wanted or newer is needed and no 'go' is in PATH (https://go.dev/dl/)"
found=$(cd / && GOTOOLCHAIN=local GOFLAGS= go env GOVERSION | sed 's/^[^0-9]*//; s/[^0-9.].*//')
oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)
[ "$oldest" = "$wanted" ] || fail "Go $wanted or newer is needed, $(command -v go) is $found (https://go.dev/dl/)"

missing= fortran=
need() { # need PACKAGE COMMAND...: each command must be there
	package=$1
	shift
	for name; do
		have "$name" || { missing="$missing $package"; return 0; }
	done
}
headers() { # headers PACKAGE COMPILER HEADER [FLAG...]: the compiler must find the header, which is in another package than the compiler itself
	package=$1 compiler=$2 header=$3
	shift 3
	echo "#include <$header>" | "$compiler" "$@" -x c -E - >/dev/null 2>&1 || missing="$missing $package"
}
need gcc gcc
headers libc6-dev gcc stdio.h
headers libpmix-dev gcc pmix.h -isystem /usr/lib/x86_64-linux-gnu/pmix2/include -isystem /usr/lib/aarch64-linux-gnu/pmix2/include
headers libfabric-dev gcc rdma/fabric.h # the library itself is loaded at run time, by jobs on several nodes
case ${1:-build} in
build) ;;
demo)
	need cmake cmake
	;;
test | ref | bench | bench-fabric | cluster)
	need cmake cmake ctest
	need g++ g++
	need clang clang clang++ # the header must be right for it too
	need clang-format clang-format
	have gfortran || fortran=gfortran # C does without it
	need pkg-config pkg-config
	need mpich mpiexec.mpich mpicc.mpich # the library must start under it, its programs under gompirun
	headers libmpich-dev mpicc.mpich mpi.h
	need openmpi-bin mpirun.openmpi # it starts the library by PMIx
	need gdb-minimal gdb # faults must show in a debugger as they do without the library
	need iproute2 ip     # tests change the addresses of the loopback interface, in a network namespace
	;;
browser) # some 300 MB, so only where it is asked for
	need chromium chromium
	;;
fresh)
	need git git
	need mmdebstrap mmdebstrap
	need util-linux unshare
	;;
*) echo "usage: scripts/deps.sh build|demo|test|ref|bench|bench-fabric|cluster|browser|fresh" >&2; exit 2 ;;
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
if [ -z "$missing" ]; then # nothing but Fortran: it is left out where it cannot be had
	fail() { echo "gompirma: Fortran is left out; $*"; exit 0; }
fi

# One word a package.
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
# The lists may be absent, as in a fresh container, or old: what fails without an update is tried once more after one.
apt install --no-install-recommends $missing || { apt update && apt install --no-install-recommends $missing; } || {
	[ "$missing" = "gfortran " ] || tail -n 5 "$log" >&2
	fail "apt could not install them; run: sudo $command"
}
