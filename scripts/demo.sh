#!/bin/bash
# Builds the library and the examples, runs each example on four ranks, and reports the checks that each example has
# made: scripts/demo.sh BUILD [TEXT]
#
# TEXT is the file whose words are counted, by default the GNU GPL. The script writes pictures and full outputs to
# BUILD/demo.
set -u

build=$(mkdir -p "$1" && cd "$1" && pwd) || exit 1
text=${2:-/usr/share/common-licenses/GPL-3}
cd "$(dirname "$0")/.." || exit 1
out=$build/demo
ranks=4
mkdir -p "$out"

echo 'building (some minutes the first time)'
{
	cmake -S . -B "$build" && cmake --build "$build" -j "$(nproc)" --target gompirma_build examples
} 2>&1 | tee "$out/build.log"
if [ "${PIPESTATUS[0]}" -ne 0 ]; then
	echo "demo: the build failed; its output is in $out/build.log" >&2
	exit 1
fi

failed=0
# example NAME TITLE PROGRAM ARGUMENT...: runs PROGRAM on all ranks. It writes the output to NAME.txt and shows it.
example() {
	local name=$1 title=$2 program=$3 begin=$SECONDS result=FAILED
	shift 3
	printf '\n== %s\n   gompirun -n %d %s %s\n' "$title" "$ranks" "$program" "$*"
	if timeout 120 "$build/bin/gompirun" -n "$ranks" "$build/examples/$program" "$@" >"$out/$name.txt" 2>&1 </dev/null; then
		result=verified
	else
		failed=1
	fi
	sed 's/^/   /' "$out/$name.txt"
	report+=("$(printf '%-10s%s (%d s)' "$result" "$title" $((SECONDS - begin)))")
}
report=()
rm -f "$out"/*.png "$out"/report.html

example histogram "words of $text, counted with MPI_Accumulate and MPI_Compare_and_swap" histogram "$text"
for sync in fence pscw flush; do
	example "heat-$sync" "heat equation, halos by MPI_Put, synchronized by $sync" heat "$sync" "$out/heat-$sync.png"
done
example mandelbrot 'Mandelbrot set, rows handed out by MPI_Fetch_and_op' mandelbrot "$out/mandelbrot.png"

# --check must find the error of racy_halo and name its line. gompirun's exit status is then 3.
title='a fence is missing in a halo exchange: --check finds it'
begin=$SECONDS
result=FAILED
printf '\n== %s\n   gompirun -n %d --check racy_halo\n' "$title" "$ranks"
timeout 120 "$build/bin/gompirun" -n "$ranks" --check "$build/examples/racy_halo" >"$out/racy_halo.txt" 2>&1 </dev/null
status=$?
line=$(grep -o -m 1 'racy_halo\.c:[0-9]*' "$out/racy_halo.txt")
if [ "$status" -eq 3 ] && [ -n "$line" ]; then result=found; else failed=1; fi
sed 's/^/   /' "$out/racy_halo.txt" | head -n 12
report+=("$(printf '%-10s%s, at %s (%d s)' "$result" "$title" "${line:-no line}" $((SECONDS - begin)))")

# Makes a page that shows how a run spent its time.
title='heat equation as a timeline: --trace, gompirun report'
begin=$SECONDS
result=FAILED
printf '\n== %s\n   gompirun -n %d --trace=trace.json heat fence; gompirun report trace.json -o report.html\n' "$title" "$ranks"
if timeout 120 "$build/bin/gompirun" -n "$ranks" --trace="$out/trace.json" "$build/examples/heat" fence "$out/heat-trace.png" \
	--steps 200 >"$out/trace.txt" 2>&1 </dev/null &&
	timeout 120 "$build/bin/gompirun" report "$out/trace.json" -o "$out/report.html" >>"$out/trace.txt" 2>&1; then
	result=written
else
	failed=1
fi
sed 's/^/   /' "$out/trace.txt"
report+=("$(printf '%-10s%s (%d s)' "$result" "$title" $((SECONDS - begin)))")

printf '\n== report\n'
printf '%s\n' "${report[@]}"
if [ -s "$out/report.html" ]; then echo "page      $out/report.html"; fi
for picture in "$out"/*.png; do if [ -s "$picture" ]; then echo "picture   $picture"; fi; done
if [ "$failed" -ne 0 ]; then echo 'demo: at least one step failed; the report marks it with FAILED' >&2; fi
exit "$failed"
