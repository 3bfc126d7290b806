#!/bin/sh
# must_fail.sh COMMAND...: succeeds if the command ends with a nonzero status and has not printed a line with FAIL.
out=$("$@" 2>&1)
status=$?
printf '%s\n' "$out"
if [ $status -eq 0 ]; then
    echo "must_fail.sh: status 0, but an error was to end the job"
    exit 1
fi
if [ $status -eq 124 ]; then
    echo "must_fail.sh: the command ran into a time limit"
    exit 1
fi
case $out in
*FAIL*) exit 1 ;;
esac
exit 0
