#!/bin/sh
# Runs ssh for Hydra (mpiexec.hydra), which waits for ever if ssh cannot connect to a host: remote-shell -x HOST COMMAND
# If ssh fails before it has connected, this script ends Hydra, its parent process.
is_connected=
trap 'is_connected=1' USR1
ssh -o PermitLocalCommand=yes -o "LocalCommand=kill -USR1 $$" "$@"
status=$?
if [ "$status" -ne 0 ] && [ -z "$is_connected" ]; then
	echo "gompirun: ssh cannot start processes on host $2 (status $status). The command \"ssh $2 true\" must work without a password" >&2
	sleep 1 # Hydra forwards the message
	kill -TERM "$PPID"
fi
exit "$status"
