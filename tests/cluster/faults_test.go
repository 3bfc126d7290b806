package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// busy starts a job that works for so many seconds, by the launcher that is there soonest.
func busy(t *testing.T, seconds string, variables ...string) *run {
	t.Helper()
	l := launchers[0]
	l.prepare(t)
	command := append([]string{"env"}, variables...)
	return start(t, "", l.command([]int{2, 2}, append(command, program("busy"), seconds)...)...)
}

// A network that is slow or loses packets changes no result.
func TestPoorNetwork(t *testing.T) {
	needBed(t)
	for name, c := range map[string][2][]string{
		"as it is": {{"true"}, {"true"}},
		"slow":     {{"bed", "rate", "h2", "100mbit"}, {"bed", "rate", "h2", "off"}},
		"losing":   {{"bed", "loss", "h2", "2"}, {"bed", "loss", "h2", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "losing" {
				needCommand(t, "nft")
			}
			do(t, c[0]...)
			defer do(t, c[1]...)
			r := busy(t, "3")
			status, _ := r.wait()
			require.Equal(t, 0, status)
			require.Contains(t, r.out.String(), "fine after")
			t.Logf("%s", r.out.String())
			nothingLeft(t)
		})
	}
}

// A link or a host that comes back in time loses nothing.
func TestInterrupted(t *testing.T) {
	needBed(t)
	for _, c := range []struct{ name, break_, mend string }{{"link", "cut", "mend"}, {"host", "freeze", "thaw"}} {
		t.Run(c.name, func(t *testing.T) {
			r := busy(t, "6", "GOMPIRMA_PEER_TIMEOUT=20")
			r.untilAll(t, 4)
			do(t, "bed", c.break_, "h2")
			time.Sleep(2 * time.Second)
			do(t, "bed", c.mend, "h2")
			status, _ := r.wait()
			require.Equal(t, 0, status)
			require.Contains(t, r.out.String(), "fine after")
			nothingLeft(t)
		})
	}
}

// What does not come back ends the job in the time that was set, with a line that names who is lost.
func TestLost(t *testing.T) {
	needBed(t)
	for _, c := range []struct {
		name, break_, mend string
		idle               bool
	}{{"link", "cut", "mend", false}, {"idle link", "cut", "mend", true}, {"host", "freeze", "thaw", false},
		{"idle host", "freeze", "thaw", true}} {
		t.Run(c.name, func(t *testing.T) {
			var r *run
			if c.idle {
				l := launchers[0]
				l.prepare(t)
				r = start(t, "", l.command([]int{2, 2}, "env", "GOMPIRMA_PEER_TIMEOUT=3",
					program("where"), "sleep", "3")...)
			} else {
				r = busy(t, "25", "GOMPIRMA_PEER_TIMEOUT=3")
			}
			r.untilAll(t, 4)
			do(t, "bed", c.break_, "h2")
			lost := time.Now()
			status, _ := r.wait()
			took := time.Since(lost)
			do(t, "bed", c.mend, "h2")
			t.Logf("status %d in %v", status, took.Round(time.Millisecond))
			require.NotEqual(t, 0, status)
			require.Less(t, took, 15*time.Second)
			if r.err.String() != "" { // which Hydra sometimes loses when a job is aborted
				require.Contains(t, r.err.String(), "h2")
			}
			nothingLeft(t)
		})
	}
}
