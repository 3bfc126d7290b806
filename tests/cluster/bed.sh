#!/bin/bash
# A test bed of hosts on one machine: tests/cluster/bed.sh N COMMAND [ARGUMENT...] runs a command next to N hosts, h1 to
# hN, and exits with its status. It needs root. It exits with 77 and a reason if the system does not allow namespaces.
#
# A host is a network namespace with its own host name, IPC and /tmp, at 10.77.0.1 to 10.77.0.N. Everything runs in one
# process namespace that ends with this script: nothing remains, whatever process dies. The command finds these in its
# PATH:
#
#   on HOST COMMAND...      runs a command on a host, in the current directory
#   slurm start             makes the hosts the nodes of a Slurm; slurm COMMAND... runs srun etc. on the first host
#   remote HOST COMMAND...  runs a command on a host, as a substitute for ssh: for launchers
#   bed rate HOST RATE      limits the rate at which a host sends, as 100mbit; "off"
#   bed loss HOST N         drops N percent of the packets that arrive at a host; 0: none
#   bed delay HOST N        delays packets that a host sends by N milliseconds; 0: none
#   bed second HOST ADDRESS/N  gives a host a second, isolated network
#   bed wall HOST HOW       blocks connections to a host, silently (drop) or with an error (reject); "off"
#   bed cut HOST, bed mend HOST            disconnects a host's link, and reconnects it
#   bed freeze HOST, bed thaw HOST         stops all processes of a host, and continues them
#   bed kill HOST           kills all processes of a host
set -eu

top=$(cd "$(dirname "$0")" && pwd)
skip() { echo "bed.sh: skipped: $*" >&2; exit 77; }
number=$1
shift
case $PWD/ in /tmp/*) skip "each host has a /tmp of its own, and this checkout is in /tmp" ;; esac
[ "$(id -u)" -eq 0 ] || skip "hosts are made by root"
for tool in ip unshare nsenter setpriv; do
	command -v $tool >/dev/null || skip "there is no '$tool' (packages iproute2, util-linux)"
done
unshare -n -m -u -i -p -f --mount-proc true 2>/dev/null || skip "this system allows no namespaces"
if [ -z "${BED:-}" ]; then
	BED=$(mktemp -d /var/tmp/gompirma-bed.XXXXXX) # not in /tmp, which hosts do not share
	export BED BED_HOSTS=$number
	# In the background, so that this shell handles a signal at once.
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

# start NAME: starts a process in the namespaces of a host, which keeps them alive.
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

# Two hosts are joined by one wire; more hosts by a switch, which is a namespace too.
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
