#!/bin/sh
# Builds libgompirma-insight.so into the prefix that scripts/build.sh makes and calls this for: scripts/insight.sh OUT
# gompirun preloads it into the ranks when something is to be recorded. It is no part of the library, and links with
# none of MPI: what it calls it finds when it is loaded.
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/insight.sh OUT" >&2; exit 2; }
cd "$(dirname "$0")/.."
out=$1
export cc="${CC:-gcc}" work="$out/obj/insight"
library=$out/lib/libgompirma-insight.so

stamp=$(cat capi/insight/* capi/base/order.h include/mpi_rma.h scripts/insight.sh | cksum; $cc --version | head -n 1; echo "$cc")
if [ -e "$library" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
rm -rf "$work"
mkdir -p "$work"
# As many at a time as there are processors.
for source in capi/insight/*.c; do printf '%s\0' "$(basename "$source" .c)"; done | xargs -0 -n 1 -P "$(nproc)" sh -c '
	$cc -std=gnu11 -O2 -fPIC -fno-omit-frame-pointer -fvisibility=hidden -Wall -Wextra -Werror -Iinclude -Icapi \
		-c "capi/insight/$0.c" -o "$work/$0.o"'
$cc -shared -o "$work/linked" "$work"/*.o -lpthread -ldl -Wl,-soname,libgompirma-insight.so -Wl,-z,defs -Wl,-z,now
mv "$work/linked" "$library"
rm "$work"/*.o
echo "$stamp" >"$work/stamp"
