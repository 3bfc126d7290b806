#!/bin/bash
# The demo: builds the library and the examples, runs each on four ranks, and reports what was verified: scripts/demo.sh BUILD [TEXT]
# TEXT is the file whose words are counted, the GNU GPL by default. Pictures and full outputs are written into BUILD/demo.
set -u

build=$(mkdir -p "$1" && cd "$1" && pwd) || exit 1
text=${2:-/usr/share/common-licenses/GPL-3}
cd "$(dirname "$0")/.." || exit 1
out=$build/demo
ranks=4
mkdir -p "$out"

echo 'building'
{
	cmake -S . -B "$build" && cmake --build "$build" -j "$(nproc)" --target gompirma_build examples
} >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log"; echo "demo: the build failed; all of its output is in $out/build.log" >&2; exit 1; }

failed=0
# example TITLE PROGRAM ARGUMENT...: runs it on all ranks; the output goes into a file, and is shown.
example() {
	local title=$1 program=$2 log
	shift 2
	log=$out/$program${*:+.$(basename "$1")}.txt
	printf '\n== %s\n   gompirun -n %d %s %s\n' "$title" "$ranks" "$program" "$*"
	local begin=$SECONDS
	if timeout 120 "$build/bin/gompirun" -n "$ranks" "$build/examples/$program" "$@" >"$log" 2>&1 </dev/null; then
		sed 's/^/   /' "$log"
		report+=("verified  $title ($((SECONDS - begin)) s)")
	else
		sed 's/^/   /' "$log"
		report+=("FAILED    $title")
		failed=1
	fi
}
report=()

example "words of $text, counted with MPI_Accumulate and MPI_Compare_and_swap" histogram "$text"
for sync in fence pscw flush; do
	example "heat equation, halos by MPI_Put, synchronized by $sync" heat "$sync" "$out/heat-$sync.png"
done
example 'Mandelbrot set, rows handed out by MPI_Fetch_and_op' mandelbrot "$out/mandelbrot.png"

printf '\n== report\n'
printf '%s\n' "${report[@]}"
for picture in "$out"/*.png; do if [ -e "$picture" ]; then echo "picture   $picture"; fi; done
if [ "$failed" -ne 0 ]; then echo 'demo: something failed' >&2; fi
exit "$failed"
