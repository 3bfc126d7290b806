package cluster

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// network starts a job with two ranks on each of two hosts. Every rank puts to every other rank. If `half` is true,
// only the ranks of h1 put.
func network(t *testing.T, half bool, variables ...string) *run {
	t.Helper()
	l := launchers[0]
	l.prepare(t)
	command := append(append([]string{"env"}, variables...), program("network"))
	if half {
		command = append(command, "half")
	}
	return start(t, "", l.command([]int{2, 2}, command...)...)
}

func requireSuccess(t *testing.T, r *run) {
	t.Helper()
	status, took := r.wait()
	require.Equal(t, 0, status)
	require.Contains(t, r.Out.String(), "fine")
	t.Logf("%v", took.Round(time.Millisecond))
	requireNoProcesses(t)
}

// TestSecondNetwork checks that hosts connect through their common network although they also have an isolated network.
// The typical case is a container network, which has the same address on every host.
func TestSecondNetwork(t *testing.T) {
	needBed(t)
	for name, addresses := range map[string][2]string{
		"the same on both":  {"172.17.0.1/16", "172.17.0.1/16"},
		"two not connected": {"172.18.0.1/16", "172.19.0.2/16"},
		"one network":       {"172.20.0.1/16", "172.20.0.2/16"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, a := range addresses {
				host := fmt.Sprintf("h%d", i+1)
				runCommand(t, "bed", "second", host, a)
				defer runCommand(t, "on", host, "ip", "link", "del", "docker0")
			}
			requireSuccess(t, network(t, false))
			requireSuccess(t, network(t, true, "GOMPIRMA_INTERFACE=eth0"))
			requireSuccess(t, network(t, true, "GOMPIRMA_INTERFACE=10.77.0.0/16,lo"))
		})
	}
}

// TestOneWayConnections checks that a job works if only one of two hosts can connect to the other.
func TestOneWayConnections(t *testing.T) {
	needBed(t)
	harness.NeedCommand(t, "nft")
	for _, how := range []string{"drop", "reject"} {
		t.Run(how, func(t *testing.T) { // blocks connections to h2 only, since Hydra's proxies connect to h1
			runCommand(t, "bed", "wall", "h2", how)
			defer runCommand(t, "bed", "wall", "h2", "off")
			requireSuccess(t, network(t, true))
			requireSuccess(t, network(t, false))
		})
	}
}

// TestUnreachable checks that the error for an unreachable process lists all its addresses, with the system's error for
// each.
func TestUnreachable(t *testing.T) {
	needBed(t)
	harness.NeedCommand(t, "nft")
	runCommand(t, "bed", "wall", "h2", "reject")
	defer runCommand(t, "bed", "wall", "h2", "off")
	runCommand(t, "on", "h1", "nft",
		"add table inet shut; add chain inet shut in { type filter hook input priority 0; }; "+
			"add rule inet shut in iifname eth0 tcp dport 20000-20099 drop")
	defer runCommand(t, "on", "h1", "nft", "delete table inet shut")
	r := network(t, false, "GOMPIRMA_PORTS=20000-20099", "GOMPIRMA_PEER_TIMEOUT=8")
	status, took := r.wait()
	require.NotEqual(t, 0, status)
	t.Logf("status %d in %v: %s", status, took.Round(time.Millisecond), r.Err.String())
	require.Regexp(t,
		regexp.MustCompile(`rank [01] on h1 cannot reach rank [23] on h2: .*10\.77\.0\.2 port 200\d\d: `+
			`Connection refused.*GOMPIRMA_INTERFACE`), r.Err.String())
	requireNoProcesses(t)
}

// TestPorts checks that a job works if all ports except those of GOMPIRMA_PORTS are blocked.
func TestPorts(t *testing.T) {
	needBed(t)
	harness.NeedCommand(t, "nft")
	for _, host := range []string{"h1", "h2"} {
		runCommand(t, "on", host, "nft", "add table inet ports; add chain inet ports in { type filter hook "+
			"input priority 0; }; add rule inet ports in iifname eth0 tcp flags & (syn|ack) == syn tcp "+
			"dport != { 20000-20009, 30000-30099 } drop")
		defer runCommand(t, "on", host, "nft", "delete table inet ports")
	}
	t.Setenv("MPIEXEC_PORT_RANGE", "30000:30099") // the launcher needs ports too: those that the firewall permits
	requireSuccess(t, network(t, false, "GOMPIRMA_PORTS=20000-20009"))
	requireSuccess(t, network(t, true, "GOMPIRMA_PORTS=20000-20009", "GOMPIRMA_INTERFACE=eth0"))
}

// TestPortsOfProcess checks that each port on which a process listens is one of GOMPIRMA_PORTS, also those for failure
// detection.
func TestPortsOfProcess(t *testing.T) {
	needBed(t)
	harness.NeedCommand(t, "ss")
	// A process listens on one port at a time. Early in MPI_Init it is the port for the rank that monitors this
	// process; later it is the port for the network.
	for _, place := range []string{"addresses", "connect"} {
		t.Run(place, func(t *testing.T) {
			r, release := startHeld(t, place, "h1", "GOMPIRMA_PORTS=20000-20009")
			out := harness.Output(t, exec.Command("on", "h1", "ss", "-ltnpH"))
			release()
			status, _ := r.wait()
			require.Equal(t, 0, status)
			requireNoProcesses(t)
			ports := map[string]bool{}
			for _, line := range strings.Split(out, "\n") {
				// Skip the launcher's own listening socket, which all processes inherit.
				f := strings.Fields(line)
				if strings.Contains(line, `"held"`) && !strings.Contains(line, "mpiexec") {
					ports[f[3][strings.LastIndex(f[3], ":")+1:]] = true
					require.Regexp(t, `:2000\d$`, f[3], "%s", out)
				}
			}
			require.Len(t, ports, 1, "%s", out)
		})
	}
}

// TestUnknownConnections checks that a job closes connections from processes outside of the job, and that these
// connections do not delay the start.
func TestUnknownConnections(t *testing.T) {
	needBed(t)
	const ports = "21000-21003"
	r := network(t, false, "GOMPIRMA_PORTS="+ports, "GOMPIRMA_PEER_TIMEOUT=20")
	// While the job starts, open up to 3,000 connections to each host. Most are silent; some send invalid data.
	for _, host := range []string{"h1", "h2"} {
		script := `import socket, time
all = []
end = time.time() + 4
while time.time() < end and len(all) < 3000:
    for port in range(21000, 21004):
        s = socket.socket()
        s.settimeout(0.5)
        try:
            s.connect(("` + host + `", port))
            if len(all) % 7 == 0: s.send(b"GET / HTTP/1.0\r\n\r\n" * 4)
            all.append(s)
        except OSError: time.sleep(0.01)
time.sleep(1)
`
		cmd := exec.Command("on", "h1", "python3", "-c", script)
		require.NoError(t, cmd.Start())
		defer cmd.Wait()
	}
	requireSuccess(t, r)
	require.NotContains(t, strings.ToLower(r.Err.String()), "cannot")
}

// congestion returns the congestion control algorithm of each connection of the job from h1 to h2.
func congestion(t *testing.T) (names []string) {
	t.Helper()
	ss := strings.Fields("on h1 ss -tinpHO state established dst 10.77.0.2")
	out := harness.Output(t, exec.Command(ss[0], ss[1:]...))
	for _, line := range strings.Split(out, "\n") {
		launches := strings.Contains(line, "hydra") || strings.Contains(line, "mpiexec")
		if strings.Contains(line, `"busy"`) && !launches {
			names = append(names, regexp.MustCompile(`\b(bbr|cubic|reno)\b`).FindString(line))
		}
	}
	return names
}

// TestPacing checks a system whose default congestion control is BBR, which paces transmissions. The connections of a
// job must use BBR only if their round-trip time is long.
func TestPacing(t *testing.T) {
	needBed(t)
	harness.NeedCommand(t, "ss")
	const file = "/proc/sys/net/ipv4/tcp_congestion_control"
	for _, host := range []string{"h1", "h2"} {
		before, err := exec.Command("on", host, "cat", file).Output()
		require.NoError(t, err)
		if out, err := exec.Command("on", host, "sh", "-c", "echo bbr >"+file).CombinedOutput(); err != nil {
			t.Skipf("this system has no BBR: %s", out)
		}
		defer runCommand(t, "on", host, "sh", "-c", "echo "+strings.TrimSpace(string(before))+" >"+file)
	}
	for name, far := range map[string]bool{"short": false, "long": true} {
		t.Run(name, func(t *testing.T) {
			if far {
				runCommand(t, "bed", "delay", "h2", "5")
				defer runCommand(t, "bed", "delay", "h2", "0")
			}
			r := startBusy(t, "3")
			var names []string
			require.Eventually(t, func() bool {
				if strings.Count(r.Out.String(), "begins") < 4 {
					return false // only connections for failure detection exist during the start
				}
				names = congestion(t)
				// A connection begins without BBR, and switches when its round-trip time is known.
				unpaced := func(name string) bool { return name != "bbr" }
				return len(names) > 0 && (!far || !slices.ContainsFunc(names, unpaced))
			}, limit, 50*time.Millisecond, "connections: %v", &names)
			for _, n := range names {
				require.Equal(t, far, n == "bbr", "%v", names)
			}
			status, _ := r.wait()
			require.Equal(t, 0, status)
			if far {
				// ends the program that delays packets, which also runs on h2
				runCommand(t, "bed", "delay", "h2", "0")
			}
			requireNoProcesses(t)
		})
	}
}
