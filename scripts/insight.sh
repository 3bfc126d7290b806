#!/bin/sh
# Builds libgompirma-insight.so in the prefix that scripts/build.sh makes: scripts/insight.sh OUT
#
# scripts/build.sh calls this script. gompirun preloads libgompirma-insight.so into the ranks to record calls. It is not
# linked with any MPI library: when it is loaded, it looks up the MPI functions that it calls.
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/insight.sh OUT" >&2; exit 2; }
cd "$(dirname "$0")/.."
out=$1
export cc="${CC:-gcc}" work="$out/obj/insight"
library=$out/lib/libgompirma-insight.so

stamp=$(cat capi/insight/*.* capi/insight/generated/* capi/access/* capi/base/atomics.h include/mpi_rma.h include/mpix_gompirma.h scripts/insight.sh | cksum; $cc --version | head -n 1; echo "$cc")
access=$out/lib/libgompirma-access.so
if [ -e "$library" ] && [ -e "$access" ] && [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
rm -rf "$work"
mkdir -p "$work"
echo 'compiling capi/insight and capi/access'
# Compiles with as many parallel jobs as processors.
printf '%s\0' capi/insight/*.c capi/insight/generated/*.c | xargs -0 -n 1 -P "$(nproc)" sh -c '
	$cc -std=gnu11 -O2 -fPIC -fno-omit-frame-pointer -fvisibility=hidden -Wall -Wextra -Werror -Iinclude -Icapi \
		-c "$0" -o "$work/$(basename "$0" .c).o"'
$cc -shared -o "$work/linked" "$work"/*.o -lpthread -ldl -Wl,-soname,libgompirma-insight.so -Wl,-z,defs -Wl,-z,now
mv "$work/linked" "$library"
# Builds libgompirma-access.so, to which programs compiled by `gompicc --check` are linked. It defines memcpy and
# similar functions. -fno-builtin keeps the compiler from generating calls of memcpy inside memcpy itself.
wide=; if [ "$(uname -m)" = x86_64 ]; then wide=-mcx16; fi
for source in calls gather; do
	$cc -std=gnu11 -O2 -fPIC -fno-builtin $wide -fvisibility=hidden -Wall -Wextra -Werror -Icapi -c "capi/access/$source.c" -o "$work/access_$source.obj"
done
# -z nodelete: the library stays loaded even if the plugin that loaded it is unloaded. Threads that have used it call it
# when they end, and libgompirma-insight.so calls it too.
$cc -shared -o "$work/linked" "$work"/*.obj -ldl -Wl,-soname,libgompirma-access.so -Wl,-z,now,-z,nodelete
mv "$work/linked" "$access"
mkdir -p "$out/lib/gompirma/abi" "$out/lib/gompirma/check"
ln -sfn ../../libgompirma-access.so "$out/lib/gompirma/abi/libgompirma-access.so"
ln -sfn ../../libgompirma-access.so "$out/lib/gompirma/check/libtsan.so"
rm "$work"/*.o "$work"/*.obj
echo "$stamp" >"$work/stamp"
