#!/bin/bash
# Builds, and runs the tests of some directories: scripts/quick.sh [-n] BUILD [DIRECTORY...]
#
# It is for work in progress, and takes less than two minutes when little has changed; `make test` runs all tests.
# DIRECTORY is the last element of a package's path: coll stands for core/coll, capi/coll and tests/c/unit/coll, and for
# the programs in tests/c/conformance, litmus and regress that test them. Without DIRECTORY the script uses the
# directories of uncommitted changes or, if there are none, of the last commit. -n only prints the selection.
set -u

cd "$(dirname "$0")/.." || exit 1
dry=
if [ "${1:-}" = -n ]; then
	dry=1
	shift
fi
[ $# -ge 1 ] || { echo "usage: scripts/quick.sh [-n] BUILD [DIRECTORY...]" >&2; exit 2; }
build=$1
shift

changed=()
if [ $# -eq 0 ]; then
	mapfile -t changed < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
	if [ ${#changed[@]} -eq 0 ]; then mapfile -t changed < <(git diff --name-only HEAD~1 HEAD); fi
	mapfile -t dirs < <(for file in "${changed[@]}"; do basename "$(dirname "$file")"; done | sort -u)
else
	dirs=("$@")
fi

# programs DIRECTORY: prints an extended regular expression for the names of the MPI programs that test DIRECTORY.
programs() {
	case $1 in
	coll) echo 'conformance/(coll|op)(_|$)|regress/.*coll' ;;
	message | p2p) echo 'conformance/(p2p|request|grequest|wait)(_|$)' ;;
	rma | win | transport | update) echo 'conformance/(win|rma|accumulate|get|put|fetch|compare|fence|flush|lock|pscw|rput|rget|raccumulate|epoch)(_|$)|litmus/' ;;
	comm | group | attribute) echo 'conformance/(comm|group|topo|attr)(_|$)' ;;
	datatype) echo 'conformance/type(_|$)' ;;
	errors | mpierr) echo 'conformance/(err|error|errors|errhandler)' ;;
	info) echo 'conformance/info(_|$)' ;;
	environment) echo 'conformance/env(_|$)' ;;
	pack) echo 'conformance/type_pack' ;;
	runtime) echo 'conformance/(signals|finalize)' ;;
	op) echo 'conformance/op' ;;
	*) echo '' ;;
	esac
}

packages=() units=() wanted=()
for dir in "${dirs[@]}"; do
	for folder in core capi cmd cmd/internal bench fortran; do
		if ls "$folder/$dir"/*_test.go >/dev/null 2>&1; then packages+=("./$folder/$dir"); fi
	done
	for source in tests/c/unit/"$dir"/*.c; do
		if [ -e "$source" ]; then units+=("unit_${dir}_$(basename "$source" .c)_address"); fi
	done
	case $dir in coll | message | p2p) packages+=(./tests/go/collectives ./tests/go/messages) ;; esac
	pattern=$(programs "$dir")
	if [ -n "$pattern" ]; then wanted+=("$pattern"); fi
done
for file in "${changed[@]}"; do # adds the test programs among the changed files to the selection
	case $file in
	tests/c/conformance/*.c | tests/c/litmus/*.c | tests/c/regress/*.c) wanted+=("${file#tests/c/}\$") ;;
	esac
done
pattern=$(IFS='|'; echo "${wanted[*]}")
targets=()
if [ -n "$pattern" ]; then
	mapfile -t targets < <(cd tests/c && ls conformance/*.c litmus/*.c regress/*.c | sed 's/\.c$//' | grep -E "^(${pattern//.c\$/\$})" | tr / _)
fi
if [ ${#packages[@]} -eq 0 ] && [ ${#units[@]} -eq 0 ] && [ ${#targets[@]} -eq 0 ] && [ $# -gt 0 ]; then
	echo "quick.sh: no tests belong to ${dirs[*]}: give the name of a directory in core, capi or cmd, such as coll" >&2
	exit 1
fi
if [ -n "$dry" ]; then
	printf '%s\n' "${packages[@]}" "${units[@]}" "${targets[@]}" | grep .
	exit 0
fi

failed=()
step() { # step NAME COMMAND...
	local name=$1 start=$SECONDS
	shift
	echo "== $name"
	if "$@"; then echo "== $name: ok ($((SECONDS - start)) s)"; else failed+=("$name"); echo "== $name: FAILED"; return 1; fi
}
run_ctest() { ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 120 -j "$(nproc)" "$@"; }
compile() {
	{ [ -e "$build/CMakeCache.txt" ] && [ -z "$(find CMakeLists.txt tests/c -name CMakeLists.txt -newer "$build/CMakeCache.txt")" ]; } ||
		cmake -S . -B "$build" >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; return 1; }
	cmake --build "$build" -j "$(nproc)" --target "$@" >"$build/quick.log" 2>&1 || { tail -n 40 "$build/quick.log"; return 1; }
}

step build scripts/build.sh "$build" || exit 1
step rules go test ./tests/go -run '^TestLint'
if [ ${#packages[@]} -gt 0 ]; then step 'go test' go test "${packages[@]}"; fi
if [ ${#units[@]} -gt 0 ] && step 'unit tests: compile' compile "${units[@]}"; then
	step 'unit tests' run_ctest -R "^unit/($(IFS='|'; echo "${dirs[*]}"))/.*\.address$"
fi
if [ ${#targets[@]} -gt 0 ] && step 'programs: compile' compile "${targets[@]}"; then
	step 'programs, with their largest number of ranks' run_ctest -L quick -R "^($(printf '%s\n' "${targets[@]}" | sed 's/_/\//' | paste -sd'|'))\."
fi
if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failed[*]}"
	exit 1
fi
echo 'all steps passed; make test runs all tests'
