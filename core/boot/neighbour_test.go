package boot

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
)

// anywhere permits any port, at the loopback address.
func anywhere() ListenSpec { return ListenSpec{Addresses: []string{"127.0.0.1"}} }

// watched determines the nodes of a job under a launcher that does not report failures. It waits until each process
// watches the next one.
func watched(t *testing.T, clients []Client) []*NodeMap {
	places := make([]*NodeMap, len(clients))
	each(t, clients, func(c Client) (err error) {
		places[c.Rank()], err = Nodes(c, anywhere, time.Minute)
		return err
	})
	for _, p := range places {
		t.Cleanup(p.Neighbour.Close)
		require.Eventually(t, p.Neighbour.DetectsFailure, 10*time.Second, time.Millisecond, "%s",
			p.Neighbour.UnknownDetail())
		require.Eventually(t, p.Neighbour.isWatched, 10*time.Second, time.Millisecond)
	}
	return places
}

func (n *Neighbour) isWatched() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.watchers) > 0
}

// Checks that a Fence waits for a late process without limit if gompirun watches the processes, or if a connection
// shows that the late process is alive.
func TestLateProcess(t *testing.T) {
	const limit = 20 * time.Millisecond
	byPMIx, _ := pmixJobOf(t, 3)
	byPMI := openJob(t, 3, nil)
	watched(t, byPMIx)
	watched(t, byPMI)
	for name, clients := range map[string][]Client{"gompirun": openJob(t, 3, map[string]string{EnvJob: "job.7"}),
		"PMI-1": byPMI, "PMIx": byPMIx} {
		t.Run(name, func(t *testing.T) {
			each(t, clients, func(c Client) error {
				c.Limit(limit)
				for late := range clients {
					if c.Rank() == late {
						time.Sleep(5*pmi1.DeadlineTick + limit)
					}
					if err := c.Fence(); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// Checks that a Fence returns an error, and does not wait, if another process has ended.
func TestNeighbourEnds(t *testing.T) {
	byPMIx, _ := pmixJobOf(t, 3)
	for _, clients := range [][]Client{openJob(t, 3, nil), byPMIx} {
		places := watched(t, clients)
		for _, c := range clients {
			c.Limit(0)
		}
		places[1].Neighbour.Close()
		err := clients[0].Fence()
		require.ErrorContains(t, err, "rank 1 ended, or its host or network failed")
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
		places[2].Neighbour.EndWatch(clients[2])
	}
}

// Checks that a process listens at a permitted port and publishes the permitted addresses. If the network may need all
// ports, the process does not listen.
func TestNeighbourPorts(t *testing.T) {
	clients := openJob(t, 2, nil)
	l, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer l.Close()
	first := l.Addr().(*net.TCPAddr).Port - (os.Getpid()+2)%4 // the first port that listen tries is in use
	where := ListenSpec{Addresses: []string{"192.0.2.1"}, First: first, Last: first + 3}
	permitted := func() ListenSpec { return where }
	n := listen(clients[0], permitted)
	require.NotNil(t, n.listeners)
	defer n.Close()
	port := n.listeners[0].Addr().(*net.TCPAddr).Port
	require.True(t, first <= port && port <= first+3, "%d of %d to %d", port, first, first+3)
	where.Last--
	none := listen(clients[1], permitted)
	defer none.Close()
	require.Nil(t, none.listeners)
	each(t, clients, Client.Fence)
	value, err := clients[1].Get(0, portKey(0))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d %s 192.0.2.1", port, netNamespace()), value)
	n.rank = 1
	n.watch(clients[0], time.Minute)
	require.Contains(t, n.UnknownDetail(),
		"cannot connect to rank 1: it has no open port: GOMPIRMA_PORTS has 3 ports, but must have at least "+
			"4: two for each of 2 ranks")
}

// Checks that a process listens only on the addresses of the network that the user has named, at the same port of each.
func TestNeighbourListens(t *testing.T) {
	for where, addresses := range map[*ListenSpec][]string{
		{Addresses: []string{"127.0.0.1", "127.0.0.2"}, OnlyListed: true}: {"127.0.0.1", "127.0.0.2"},
		{Addresses: []string{"127.0.0.2"}, OnlyListed: true}:              {"127.0.0.2"},
		{Addresses: []string{"127.0.0.2"}}:                                {"any"},
		{OnlyListed: true}:                                                nil,
	} {
		listeners, err := where.listenIn(2)
		require.Equal(t, addresses == nil, err != nil, "%v", err)
		var all []string
		for _, l := range listeners {
			a := l.Addr().(*net.TCPAddr)
			require.Equal(t, listeners[0].Addr().(*net.TCPAddr).Port, a.Port)
			all = append(all, map[bool]string{true: "any", false: a.IP.String()}[a.IP.IsUnspecified()])
		}
		require.Equal(t, addresses, all)
		closeAll(listeners)
	}
}

// TestNeighbourEndWatch checks that a process listens only until the end of MPI_Init. After that, a process that is
// already connected to it keeps its connection and still detects its failure. A process that connects later is refused,
// and cannot detect whether the first process is alive.
func TestNeighbourEndWatch(t *testing.T) {
	clients := openJob(t, 3, nil)
	places := watched(t, clients)
	port := places[1].Neighbour.listeners[0].Addr().String()
	places[1].Neighbour.EndWatch(clients[1])
	_, err := net.Dial("tcp", port)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.True(t, places[0].Neighbour.DetectsFailure())
	select {
	case <-places[0].Neighbour.Failed():
		t.Error(places[0].Neighbour.Err())
	default:
	}
	places[1].Neighbour.Close()
	<-places[0].Neighbour.Failed()

	// If a connection ends before it has been accepted, the process does not count as failed.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, at, _ := net.SplitHostPort(l.Addr().String())
	require.NoError(t, clients[1].Put("port.9", at+" "+netNamespace()))
	each(t, clients, Client.Fence)
	n := &Neighbour{rank: 9, failed: make(chan struct{})}
	n.watch(clients[0], time.Minute)
	defer n.Close()
	require.Eventually(t, n.DetectsFailure, 10*time.Second, time.Millisecond)
	l.Close()
	require.Eventually(t, func() bool { return !n.DetectsFailure() }, 10*time.Second, time.Millisecond)
	require.Contains(t, n.UnknownDetail(), "cannot connect to rank 9: ")
	select {
	case <-n.Failed():
		t.Error(n.Err())
	default:
	}
}

// Checks that the state of a process that cannot be reached is unknown. In this case the limit applies to a Fence, and
// the error text states the reason.
func TestNeighbourUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	l.Close()
	for _, told := range []string{port + " " + netNamespace(), port + " elsewhere", port, ""} {
		clients := openJob(t, 2, nil)
		require.NoError(t, clients[1].Put(portKey(1), told))
		each(t, clients, Client.Fence)
		n := &Neighbour{rank: 1, failed: make(chan struct{})}
		n.watch(clients[0], time.Minute)
		defer n.Close()
		clients[0].SetWatch(n)
		clients[0].Limit(20 * time.Millisecond)
		err := clients[0].Fence()
		require.ErrorContains(t, err, "this process has waited in MPI_Init for other processes for 20ms")
		require.ErrorContains(t, err, "cannot connect to rank 1: ")
		require.ErrorContains(t, err, EnvTimeout)
	}
}
