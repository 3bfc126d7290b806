#!/bin/bash
# Runs the tests: scripts/test.sh BUILD all|c|go|race|lint|ref
# Every step runs even when one before it failed; each test runner closes with its own counts, the last lines say which steps failed.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$1 what=$2
jobs=$(nproc)
failed=()
running=

# `timeout` puts a step into a process group of its own, which neither the terminal nor a caller's time limit reaches.
trap '[ -z "$running" ] || kill "$running" 2>/dev/null; exit 130' INT TERM

# step NAME SECONDS COMMAND...; says whether it passed
step() {
	local name=$1 limit=$2 start=$SECONDS
	shift 2
	echo "== $name"
	timeout --kill-after=10 "$limit" "$@" </dev/null &
	running=$!
	if wait "$running"; then
		echo "== $name: ok ($((SECONDS - start)) s)"
	else
		local status=$?
		[ "$status" -eq 124 ] && echo "== $name: not done within $limit s"
		failed+=("$name")
		echo "== $name: FAILED"
		return 1
	fi
}
# What the race detector can see into: everything but capi, where C does the work.
pure() { go list ./... | grep -v '/capi$'; }

c() {
	step 'cmake' 600 sh -c 'cmake -S . -B "$0" >"$0.cmake.log" 2>&1 || { cat "$0.cmake.log"; exit 1; }; rm -f "$0.cmake.log"; cmake --build "$0" -j "$1"' "$build" "$jobs" || return
	step 'ctest' 900 ctest --test-dir "$build" --output-on-failure --timeout 120 -j "$jobs"
}
lint() {
	step 'go vet' 300 go vet ./...
	step 'generated files' 120 sh -c 'go run ./core/abi/gen -check && go run ./fortran/gen -check'
}

case $what in
all)
	c
	step 'go test' 900 go test -p 2 ./...
	step 'race detector' 600 go test -race -short -p 2 $(pure | grep -v '/tests/')
	lint
	;;
c) c ;;
go) step 'go test' 900 go test -p 2 ./... ;;
race) step 'race detector' 900 go test -race -p 2 $(pure | grep -v '/tests/') ;;
lint)
	lint
	step 'rules' 120 go test ./tests/go -run TestLint
	;;
ref) step 'reference MPI' 1800 tests/c/ref.sh ;;
*) echo "usage: scripts/test.sh BUILD all|c|go|race|lint|ref" >&2; exit 2 ;;
esac

if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failed[*]}"
	exit 1
fi
echo 'all steps passed'
