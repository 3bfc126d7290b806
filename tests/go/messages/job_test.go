// Package messages tests core/p2p on the C message engine. It simulates several processes of one node in the test
// process.
package messages

import (
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/p2p"
	"gompirma/core/shm"
	"gompirma/core/shm/plain"
)

// Engine holds the messages of a simulated process: the interfaces of core/p2p and of C.
type Engine struct {
	*p2p.Engine
	m     *engine.Messages
	nd    *shm.Node
	world int
}

// job returns n simulated processes of one node, each with a goroutine that simulates its progress thread.
func job(t testing.TB, n int) []*Engine {
	es := jobWithout(t, n)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, e := range es {
		wg.Add(1)
		go func() {
			defer wg.Done()
			progressLoop(e, stop)
		}()
	}
	t.Cleanup(func() {
		close(stop)
		wg.Wait()
	})
	return es
}

// jobWithout returns n simulated processes of one node without progress threads.
func jobWithout(t testing.TB, n int) []*Engine {
	f, err := shm.CreateControl(n, 1)
	require.NoError(t, err)
	defer f.Close()
	es := make([]*Engine, n)
	for i := range es {
		fd, err := unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		nd, err := shm.Open(fd, i)
		require.NoError(t, err)
		e := &Engine{nd: nd, world: i}
		all, err := engine.NewOnOneNode(n, int32(i))
		require.NoError(t, err)
		t.Cleanup(all.Free)
		open := func(p *p2p.CarrierConfig) (p2p.Carrier, error) {
			carrier, err := engine.Open(p)
			if err == nil {
				e.m = carrier.(*engine.Messages)
			}
			return carrier, err
		}
		e.Engine, err = p2p.New(nd, p2p.Config{Size: n, Processes: all, Open: open})
		require.NoError(t, err)
		es[i] = e
		nd.Waiter = plain.Waiter{Node: nd, Serve: es[i].Progress, BeforeSleep: es[i].NotifyReceivers}
	}
	t.Cleanup(func() {
		for _, e := range es {
			s := e.m.Counts()
			require.Zero(t, s.Sends, "pending sends of process %d", e.world)
			require.Zero(t, s.Receives, "pending receives of process %d", e.world)
			require.Zero(t, s.PendingPeers, "processes for which process %d has pending sends", e.world)
			require.Zero(t, s.Unexpected, "unexpected messages in process %d", e.world)
			require.Zero(t, s.UnexpectedBytes, "bytes of unexpected messages in process %d", e.world)
			require.Zero(t, s.Matched, "messages that matched probes of process %d hold", e.world)
			require.False(t, s.HoldsBack, "process %d still asks senders to keep their data", e.world)
		}
		for _, e := range es {
			e.m.Close()
			e.nd.Close()
		}
	})
	return es
}

// progressLoop simulates the progress thread of a process: it sleeps until its doorbell is notified, and then makes
// progress until it sleeps again (capi/base/wait.c). It polls the doorbell periodically instead of waiting on a futex.
func progressLoop(e *Engine, stop chan struct{}) {
	cell := e.nd.Control()[shm.CellOffset(e.nd.Slots, e.nd.Me):]
	sleeps, doorbell := u32(cell, shm.CellProgressSleeps), u32(cell, shm.CellDoorbell)
	serve := func() bool { return e.hasUnread() && e.Progress() }
	for {
		for serve() {
			select {
			case <-stop:
				return
			default:
			}
		}
		atomic.StoreUint32(sleeps, 1)
		seen := atomic.LoadUint32(doorbell)
		if e.Progress() {
			continue
		}
		for atomic.LoadUint32(doorbell) == seen {
			select {
			case <-stop:
				return
			default:
				time.Sleep(20 * time.Microsecond)
			}
		}
	}
}

// all runs f concurrently for every process, and fails the test if a call of f returns an error.
func all(t testing.TB, es []*Engine, f func(e *Engine) error) {
	t.Helper()
	errs := make(chan error, len(es))
	for _, e := range es {
		go func() { errs <- f(e) }()
	}
	timeout := time.After(2 * time.Minute)
	for range es {
		select {
		case err := <-errs:
			require.NoError(t, err)
		case <-timeout:
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			require.Fail(t, "deadlock")
		}
	}
}

func pattern(n int, seed int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 12345
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func TestSendRecvSizes(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		setCMA(t, noCMA)
		es := job(t, 2)
		all(t, es, func(e *Engine) error {
			for i, n := range []int{0, 1, 8, 15, 16, 17, 63, 64, 100, 4095, 4096, 4097, eagerMax - 1,
				eagerMax, eagerMax + 1, 40_000, 100_000, 3 << 20} {
				for _, mode := range []Mode{Standard, Synchronous} {
					want := pattern(n, i)
					if e.world == 0 {
						if err := e.Send(e.World, comm.PointToPoint, Bytes(want), 1,
							int32(i), mode); err != nil {
							return err
						}
						continue
					}
					got := make([]byte, n)
					var st p2p.Result
					if err := e.Recv(e.World, comm.PointToPoint, Bytes(got), abi.MPI_ANY_SOURCE,
						abi.MPI_ANY_TAG, &st); err != nil {
						return err
					}
					if string(got) != string(want) ||
						st != (p2p.Result{Source: 0, Tag: int32(i), Bytes: int64(n)}) {
						return fmt.Errorf("%d bytes: wrong data or status %+v", n, st)
					}
				}
			}
			return nil
		})
	}
}

func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, 1024, 4096, 8192, 65536, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			es := job(b, 2)
			b.ReportAllocs()
			b.ResetTimer()
			all(b, es, func(e *Engine) error {
				buf := make([]byte, n)
				for i := 0; i < b.N; i++ {
					if e.world == 0 {
						if err := e.Send(e.World, 0, Bytes(buf), 1, 0,
							Standard); err != nil {
							return err
						}
						if err := e.Recv(e.World, 0, Bytes(buf), 1, 0, nil); err != nil {
							return err
						}
					} else {
						if err := e.Recv(e.World, 0, Bytes(buf), 0, 0, nil); err != nil {
							return err
						}
						if err := e.Send(e.World, 0, Bytes(buf), 0, 0,
							Standard); err != nil {
							return err
						}
					}
				}
				return nil
			})
		})
	}
}
