#!/bin/bash
# Runs the tests: scripts/test.sh BUILD all|c|go|race|lint|ref|fabric|cluster|browser|scale|flaky
#
# Every step runs even if an earlier step failed. The last lines list the longest tests, the skipped tests with the
# reasons (lines that begin with "left out: "), and the failed steps.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$1 what=$2
jobs=$(nproc)
# The property PROCESSORS of a test is its number of ranks, which wait for each other most of the time. With two slots
# for each processor, ctest keeps the processors busy.
slots=$((2 * jobs))
failed=()
running= ticker= # processes of the current step
mkdir -p "$build" || exit 1
left=$build/left_out.txt # skipped tests, one line each
took=$build/took.txt     # duration of each test: a line "SECONDS NAME..." for each
wrong=$build/wrong.txt   # failed tests, with the first lines of their output
times=$build/steps.txt   # durations of the steps in earlier runs: a line "SECONDS NAME" for each
: >"$left"
: >"$took"
: >"$wrong"

# The command `timeout` runs a step in its own process group, which signals from the terminal or from a caller's time
# limit do not reach. So this trap ends the step.
trap 'kill $running $ticker 2>/dev/null; exit 130' INT TERM

# progress NAME START: prints a line every minute while a step runs. It runs until this script kills it or ends.
progress() {
	local silent # a pipe without a writer; a read from this pipe with a timeout sleeps without a `sleep` process
	exec {silent}<> <(:)
	while read -r -t 60 -u "$silent" || kill -0 $$; do
		echo "== $1: still running after $((SECONDS - $2)) s"
	done 2>/dev/null
}
# last_time NAME: prints how long the step took when it last passed in this build directory.
last_time() {
	[ ! -f "$times" ] || sed -n "s/^\([0-9]*\) $1\$/ (took \1 s the last time)/p" "$times"
}
# keep_time NAME SECONDS: remembers the duration of a step.
keep_time() {
	local others=
	[ ! -f "$times" ] || others=$(grep -v " $1\$" "$times")
	printf '%s\n' "$others" "$2 $1" >"$times"
}
# step NAME SECONDS COMMAND...: runs a command as a step and prints whether it passed. The time limit only ends a
# command that hangs. It is generous, since a loaded machine that has to compile everything needs a long time.
step() {
	local name=$1 limit=$2 start=$SECONDS status
	shift 2
	echo "== $name$(last_time "$name")"
	progress "$name" "$start" &
	ticker=$!
	timeout --kill-after=10 "$limit" "$@" </dev/null &
	running=$!
	wait "$running"
	status=$?
	kill "$ticker"
	wait "$ticker" 2>/dev/null
	running= ticker=
	if [ "$status" -eq 0 ]; then
		echo "== $name: ok ($((SECONDS - start)) s)"
		keep_time "$name" $((SECONDS - start))
	else
		[ "$status" -eq 124 ] && echo "== $name: not done within $limit s"
		failed+=("$name")
		echo "== $name: FAILED"
		return 1
	fi
}
# Lists the packages that the race detector can check. These are all packages except capi and its packages, where C does
# the work, and most packages of tests/go, which run whole programs.
pure() {
	go list ./... | grep -v -e '/capi\(/\|$\)' -e '/tests/' -e '/report/browser$'
	go list ./tests/go/collectives ./tests/go/kernels ./tests/go/messages
}

# go_test STEP SECONDS ARGUMENT...: runs `go test` with a time limit of SECONDS for each package, and of 2 * SECONDS for
# the step. So if a package hangs, the output names it, and the packages after it still run. Arguments must include
# -count=1 for tests/go: Go would reuse results if no Go file has changed, but these tests depend on all files of the
# project.
go_test() {
	step "$1" "$((2 * $2))" go run ./tests/go/report "$left" "$took" "$wrong" "$1" -timeout "$2s" "${@:3}"
}

c_build() {
	step 'cmake' 1800 sh -c 'cmake -S . -B "$0" >"$0/configure.log" 2>&1 || { cat "$0/configure.log"; exit 1; }; cmake --build "$0" -j "$1"' "$build" "$jobs"
	local status=$?
	sed -n 's/^-- left out: //p' "$build/configure.log" >>"$left"
	if [ "$status" -ne 0 ]; then
		echo 'ctest: the build of its programs failed' >>"$left"
		return 1
	fi
}
c() {
	c_build || return
	step 'ctest' 1800 ctest --test-dir "$build" --output-on-failure --output-log "$build/ctest.log" --timeout 120 -j "$slots"
	# ctest lists skipped tests after its counts: "  3 - name (Skipped)".
	sed -n 's/^[[:space:]]*[0-9]* - \(.*\) (\(Skipped\|Disabled\|Not Run\))$/ctest \1: \2/p' "$build/ctest.log" >>"$left"
	ctest_took "$build/ctest.log"
}
# ctest_took LOG: parses lines such as " 7/12 Test  #3: name ......   Passed    0.35 sec".
ctest_took() {
	sed -n 's/^.* Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec *$/\2 ctest \1/p' "$1" >>"$took"
	ctest_wrong <"$1" >>"$wrong"
}
# ctest_wrong: prints the failed tests of a log with the first lines of their output. The output of a test is between
# the line of the test, " 7/12 Test  #3: name ......***Failed  0.35 sec", and that of the next test.
ctest_wrong() {
	awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / || /^ *Start +[0-9]+: / || /tests passed, / { shows = 0 }
		shows > 0 && NF > 0 { print "  " $0; shows-- }
		/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .*\*\*\*(Failed|Timeout|Exception)/ {
			sub(/^.*#[0-9]+: +/, ""); sub(/ *\.+\*\*\*/, ": ");
			print "ctest " $0; shows = 20 }'
}
# Tests the charts of `make bench`. They are a separate module, so that the library does not depend on the modules that
# they need. These modules may be unavailable.
charts() {
	if ! timeout 600 go -C bench/chart list -deps >/dev/null 2>&1 </dev/null; then
		echo 'charts: the Go modules that bench/chart needs are not available' >>"$left"
		return
	fi
	step 'charts' 600 sh -c 'go -C bench/chart vet ./... && go -C bench/chart test ./...'
}
# Lists all packages except those whose tests need several hosts or a browser. These have their own targets.
here() { go list ./... | grep -v -e '/tests/cluster$' -e '/report/browser$'; }
# Lists the packages of `here` that are not in `pure`.
impure() { grep -vxF -f <(pure) <(here); }
# Checks that core and its tests compile without a C compiler.
core() { step 'core without C' 600 env CGO_ENABLED=0 go vet ./core/...; }
lint() {
	step 'format' 600 scripts/format.sh -check
	step 'go vet' 600 go vet ./...
	step 'generated files' 600 sh -c 'go run ./core/abi/gen -check && go run ./core/gen -check && go run ./fortran/gen -check'
}

case $what in
all)
	echo "== steps: cmake, ctest, go test, core without C, race detector, charts, format, go vet, generated files." \
		"About 15 minutes on 2 cores"
	c
	# The step "go vet" replaces the checks of `go test`.
	go_test 'go test' 1200 -vet=off -count=1 -p 2 -parallel 4 $(impure)
	core
	go_test 'race detector' 600 -vet=off -count=1 -race -short -p 2 $(pure)
	charts
	lint
	;;
c) c ;;
go)
	go_test 'go test' 1200 -count=1 -p 2 -parallel 4 $(here)
	core
	;;
race) go_test 'race detector' 600 -race -p 2 $(pure) ;;
lint)
	lint
	step 'rules' 600 go test ./tests/go -run TestLint
	;;
ref) step 'reference MPI' 1800 tests/c/ref.sh ;;
fabric)
	# With GOMPIRMA_TEST_SHORT, each C program and variant runs once, with its largest number of ranks. Programs
	# that `make test` already runs on several nodes are omitted. The model runs one job for each profile.
	labels='^(conformance|litmus|regress|matrix|examples|fortran)$' short=
	[ -z "${GOMPIRMA_TEST_SHORT:-}" ] || labels='^(widest|examples|fortran)$' short=-short
	c_build && for n in ${GOMPIRMA_TEST_NODES:-2 3}; do
		step "ctest on $n nodes" 3600 env GOMPIRMA_NODES="$n" ctest --test-dir "$build" --output-on-failure \
			--output-log "$build/ctest-$n.log" --timeout 120 -j "$jobs" -L "$labels" -LE one_node
		GOMPIRMA_NODES=$n go_test "go test on $n nodes" 1200 $short -count=1 -p 2 ./tests/go/model ./tests/go/matrix
		ctest_took "$build/ctest-$n.log"
	done
	;;
cluster)
	# If bed.sh cannot create the hosts, all tests of the step are skipped, and the reason is the message of bed.sh.
	tests/cluster/bed.sh 3 true 2>"$build/bed.log"
	if [ $? -eq 77 ]; then
		sed 's/^bed.sh: skipped: /jobs over several hosts: /' "$build/bed.log" >>"$left"
	else
		step 'hosts' 1800 tests/cluster/bed.sh 3 go run ./tests/go/report "$left" "$took" "$wrong" hosts \
			-timeout 1200s -count=1 -v ./tests/cluster
	fi
	;;
browser)
	GOMPIRMA_BROWSER=1 go_test 'browser' 450 -count=1 -v ./cmd/internal/report/browser
	;;
scale)
	heartbeats=unit_fabric_heartbeats_address
	step 'cmake' 1800 sh -c 'cmake -S . -B "$0" >"$0/configure.log" 2>&1 && cmake --build "$0" -j "$1" --target "$2"' "$build" "$jobs" $heartbeats &&
		step 'heartbeats' 600 sh -c 'for nodes in 10 100 1000; do "$0" $nodes 100 || exit; done' "$build/tests/c/unit/$heartbeats"
	step 'boot and windows' 600 go test -count=1 -v -run '^Test(Scale|HierarchyScale|WindowScale)$' ./core/boot ./core/comm ./capi
	;;
flaky)
	# GOMPIRMA_CHANGED_SINCE=COMMIT selects only tests that have changed since COMMIT, and repeats them for at most
	# GOMPIRMA_TEST_LIMIT, a duration such as 300s.
	c_build && step 'flaky tests' 86400 go run ./tests/go/flaky -times "${GOMPIRMA_TEST_TIMES:-10}" \
		-limit "${GOMPIRMA_TEST_LIMIT:-0s}" -changed "${GOMPIRMA_CHANGED_SINCE:-}" "$build" ${GOMPIRMA_TESTS:-}
	;;
*) echo "usage: scripts/test.sh BUILD all|c|go|race|lint|ref|fabric|cluster|browser|scale|flaky" >&2; exit 2 ;;
esac

if [ -s "$took" ]; then
	echo 'slowest:'
	LC_ALL=C sort -rn "$took" | sed -e 's/ / s: /' -e 's/^/  /' -e 20q
fi
LC_ALL=C sort -u "$left" | sed 's/^/left out: /'
if [ ${#failed[@]} -gt 0 ]; then
	cat "$wrong"
	printf 'failed: %s\n' "${failed[*]}"
	exit 1
fi
echo 'all steps passed'
