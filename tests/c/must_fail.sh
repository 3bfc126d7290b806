#!/bin/sh
# must_fail.sh END TEXT COMMAND...: succeeds if the command ends in the way that END names:
#     nonzero    the exit status is 1 to 128, except 124 (a time limit), and no signal killed a rank
#     signal     a signal killed the command or a rank
# Standard error must contain TEXT literally; an empty TEXT permits any output. The word FAIL must not be printed.
end=$1
text=$2
shift 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
"$@" >"$folder/out" 2>"$folder/err"
status=$?
cat "$folder/out" "$folder/err"
fail() {
    echo "must_fail.sh: $1"
    exit 1
}
[ $status -ne 0 ] || fail "status 0, but an error was to end the job"
[ $status -ne 124 ] || fail "the command ran into a time limit"
if [ $status -gt 128 ] || grep -q 'was killed by signal' "$folder/err"; then
    [ "$end" = signal ] || fail "a signal ended it (status $status), but an error was to end the job"
elif [ "$end" != nonzero ]; then
    fail "status $status, but a signal was to end the job"
fi
[ -z "$text" ] || grep -qF -e "$text" "$folder/err" || fail "standard error has no: $text"
! grep -q FAIL "$folder/out" "$folder/err" || fail "it printed FAIL"
