#!/bin/bash
# Creates a test bed of simulated hosts on one machine. tests/cluster/bed.sh N COMMAND [ARGUMENT...] creates N hosts, h1
# to hN, runs the command outside of them, and exits with the command's status. It needs root. If the system does not
# permit namespaces, it prints a reason and exits with 77.
#
# Host hI is a set of namespaces: a network with the address 10.77.0.I, a host name, IPC and /tmp. All hosts are in one
# process namespace, which ends with this script. So no process remains, whatever process dies. The command finds these
# programs in its PATH:
#
#   on HOST COMMAND...      runs a command on a host, in the current directory
#   slurm start             makes the hosts the nodes of a Slurm cluster
#   slurm COMMAND...        runs a command of Slurm, such as srun, on the first host
#   remote HOST COMMAND...  runs a command on a host; replaces ssh for launchers
#   bed rate HOST RATE      limits the rate at which a host sends, for example to 100mbit; RATE off ends the limit
#   bed loss HOST N         drops N percent of the packets that arrive at a host
#   bed delay HOST N        delays packets that a host sends by N milliseconds
#   bed second HOST ADDRESS/BITS  gives a host a second, isolated network
#   bed wall HOST HOW       blocks connections to a host: HOW is drop, reject (with an error), or off
#   bed cut HOST, bed mend HOST            disconnects a host from the network, and reconnects it
#   bed freeze HOST, bed thaw HOST         stops all processes of a host, and continues them
#   bed kill HOST           kills all processes of a host
set -eu

top=$(cd "$(dirname "$0")" && pwd)
skip() { echo "bed.sh: skipped: $*" >&2; exit 77; }
number=$1
shift
case $PWD/ in /tmp/*) skip "this checkout is in /tmp, which the hosts do not share; move it" ;; esac
[ "$(id -u)" -eq 0 ] || skip "only root can create hosts"
for tool in ip unshare nsenter setpriv; do
	command -v $tool >/dev/null || skip "'$tool' is not installed (packages iproute2, util-linux)"
done
unshare -n -m -u -i -p -f --mount-proc true 2>/dev/null || skip "this system does not permit namespaces"
if [ -z "${BED:-}" ]; then
	BED=$(mktemp -d /var/tmp/gompirma-bed.XXXXXX) # not in /tmp, which hosts do not share
	export BED BED_HOSTS=$number
	# Runs in the background, so that this shell handles a signal immediately.
	setpriv --pdeathsig KILL unshare -p -f --kill-child --mount-proc "$top/bed.sh" "$number" "$@" <&0 &
	inner=$!
	trap 'kill -KILL $inner 2>/dev/null || :; wait $inner 2>/dev/null || :; rm -rf "$BED"' EXIT
	trap 'exit 143' TERM
	trap 'exit 130' INT
	trap 'exit 129' HUP
	status=0
	wait $inner || status=$?
	exit "$status"
fi
mkdir "$BED/bin"
for name in on remote bed slurm; do ln -s "$top/bed/$name" "$BED/bin/$name"; done
export PATH="$BED/bin:$PATH"

hosts="127.0.0.1 localhost"
for ((i = 1; i <= number; i++)); do hosts+=$'\n'"10.77.0.$i h$i"; done
echo "$hosts" >"$BED/hosts"

# start NAME: creates the namespaces of a host, and in them a process that keeps them alive.
start() {
	unshare -n -m -u -i sh -c 'echo ready >"$1"; exec sleep infinity' first "$BED/ready.$1" </dev/null >/dev/null 2>&1 &
	echo $! >"$BED/pid.$1"
	for ((tries = 0; tries < 500; tries++)); do
		[ -s "$BED/ready.$1" ] && return
		sleep 0.01
	done
	echo "bed.sh: host $1 did not start" >&2
	exit 1
}

# A virtual cable (veth) connects two hosts. A switch, a bridge in its own namespace, connects more than two.
if [ "$number" -gt 2 ]; then
	start switch
	switch=$(cat "$BED/pid.switch")
	nsenter -t "$switch" -n ip link add bridge type bridge
	nsenter -t "$switch" -n ip link set bridge up
fi
for ((i = 1; i <= number; i++)); do
	start "h$i"
	pid=$(cat "$BED/pid.h$i")
	if [ "$number" -gt 2 ]; then
		ip link add eth0 netns "$pid" type veth peer name "port$i" netns "$switch"
		nsenter -t "$switch" -n ip link set "port$i" master bridge up
	elif [ "$i" -eq 2 ]; then
		ip link add eth0 netns "$(cat "$BED/pid.h1")" type veth peer name eth0 netns "$pid"
	fi
done
for ((i = 1; i <= number; i++)); do
	on "h$i" sh -e -c '
		hostname "$1"
		mount --bind "$2" /etc/hosts
		mount -t tmpfs tmpfs /tmp
		ip link set lo up
		ip addr add "10.77.0.$3/16" dev eth0
		ip link set eth0 up' host "h$i" "$BED/hosts" "$i" || { echo "bed.sh: host h$i did not start" >&2; exit 1; }
done
for ((i = 1; i <= number; i++)); do
	for ((tries = 0; tries < 500; tries++)); do
		on "h$i" ip link show eth0 | grep -q 'state UP' && break
		sleep 0.01
	done
done

status=0
"$@" || status=$?
exit "$status"
