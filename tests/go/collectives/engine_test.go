// Package collectives tests core/coll on the C message engine. It simulates several processes of one node in the test
// process.
package collectives

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	kernels "gompirma/capi/datatype"
	"gompirma/capi/engine"
	"gompirma/core/abi"
	"gompirma/core/coll"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
	"gompirma/core/p2p"
	"gompirma/core/shm"
	"gompirma/core/shm/plain"
)

func init() {
	op.Kernel = kernels.Apply
}

// Engine holds the collectives and the messages of one simulated process.
type Engine struct {
	*coll.Engine
	msg *p2p.Engine
}

// wait waits until a request is complete, finishes the request, and returns its error.
func (e *Engine) wait(r p2p.Request) error {
	if err := e.msg.AwaitFor(r.IsComplete, shm.Waiting{Peer: shm.PeersSeveral}); err != nil {
		return err
	}
	x := r.Finish()
	return x.Err()
}

// nodes creates the shared memory of a node with n processes. It maps the memory n times in this process, once for each
// simulated process.
func nodes(t testing.TB, n int) []*shm.Node {
	f, err := shm.CreateControl(n, 1)
	require.NoError(t, err)
	defer f.Close()
	out := make([]*shm.Node, n)
	for i := range out {
		fd, err := unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		out[i], err = shm.Open(fd, i)
		require.NoError(t, err)
		t.Cleanup(out[i].Close)
	}
	return out
}

// job returns n simulated processes of one node. Their collectives use messages, not shared memory. The shared-memory
// collectives are written in C; tests/c/unit/coll/shm_coll.c and the conformance programs test them.
func job(t testing.TB, n int) []*Engine {
	es := make([]*Engine, n)
	for i, nd := range nodes(t, n) {
		all, err := engine.NewOnOneNode(n, int32(i))
		require.NoError(t, err)
		t.Cleanup(all.Free)
		msg, err := p2p.New(nd, p2p.Config{Size: n, Processes: all, Open: engine.Open})
		require.NoError(t, err)
		nd.Waiter = plain.Waiter{Node: nd, Serve: msg.Progress, BeforeSleep: msg.NotifyReceivers}
		es[i] = &Engine{coll.New(msg), msg}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, e := range es {
		wg.Add(1)
		go func() { // simulates the process's progress thread by periodic polling
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Microsecond):
					e.msg.Progress()
				}
			}
		}()
	}
	t.Cleanup(func() { close(stop); wg.Wait() })
	return es
}

// onAllRanks runs f concurrently for every process, with the process's MPI_COMM_WORLD. If calls of f return errors, it
// fails the test with the first of these errors.
func onAllRanks(t testing.TB, es []*Engine, f func(e *Engine, c *comm.Comm) error) {
	t.Helper()
	errs := make([]error, len(es))
	var wg sync.WaitGroup
	var first sync.Once
	who := 0
	for i, e := range es {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if errs[i] = f(e, e.msg.World); errs[i] != nil {
				first.Do(func() { who = i; e.msg.Shared().MarkFailed(i) }) // ends other ranks' waits
			}
		}()
	}
	wg.Wait()
	require.NoError(t, errs[who], "process %d", who)
}

// onSizes runs f on jobs of 1, 2, 3 and 5 processes.
func onSizes(t *testing.T, f func(t *testing.T, es []*Engine)) {
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { f(t, job(t, n)) })
	}
}

// bcast broadcasts b from root. b must have the same length at all members.
func bcast(e *Engine, c *comm.Comm, b []byte, root int) error {
	bytes, err := datatype.Get(abi.MPI_BYTE)
	if err != nil {
		return err
	}
	var pin runtime.Pinner // keeps b in place: the engine stores only its address
	defer pin.Unpin()
	if len(b) > 0 {
		pin.Pin(&b[0])
	}
	return e.Run(&coll.Call{Kind: coll.KindBcast, Comm: c, Root: int32(root),
		Recv: coll.Buffer{Addr: address(b), Count: int64(len(b)), Type: bytes}})
}

func TestByteCollectives(t *testing.T) {
	onSizes(t, func(t *testing.T, es []*Engine) {
		n := len(es)
		onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
			for k, size := range []int{0, 8, 100, 5000, 100000} {
				if err := e.Barrier(c); err != nil {
					return err
				}
				var want []byte
				for i := 0; i < n; i++ {
					want = append(want, input(k, i, size)...)
				}
				got, err := e.Allgather(c, input(k, c.Rank(), size))
				if err != nil || !bytes.Equal(want, got) {
					return fmt.Errorf("allgather of %d bytes: %v", size, err)
				}
				b := input(k, c.Rank(), size)
				if err := bcast(e, c, b, k%n); err != nil || !bytes.Equal(input(k, k%n, size), b) {
					return fmt.Errorf("bcast of %d bytes: %v", size, err)
				}
			}
			return nil
		})
	})
}

// TestMessagesMismatch checks that a member detects from the received data if another member has passed a different
// length.
func TestMessagesMismatch(t *testing.T) {
	for size, class := range map[int]int32{16: abi.MPI_ERR_COUNT, 4: abi.MPI_ERR_TRUNCATE} {
		es := job(t, 2)
		onAllRanks(t, es, func(e *Engine, c *comm.Comm) error {
			if c.Rank() == 0 {
				return bcast(e, c, make([]byte, 8), 0)
			}
			err := bcast(e, c, make([]byte, size), 0)
			if mpierr.ClassOf(err) != class {
				return fmt.Errorf("%d bytes: %v", size, err)
			}
			return nil
		})
	}
}

// TestFailureEndsMessages checks that, after a member fails, the calls of the other members return an error, and that
// no data arrives in their buffers afterwards.
func TestFailureEndsMessages(t *testing.T) {
	es := job(t, 3)
	done := make(chan error)
	b := make([]byte, 8)
	go func() { done <- bcast(es[1], es[1].msg.World, b, 0) }()
	time.Sleep(5 * time.Millisecond)
	es[2].msg.Shared().MarkFailed(2)
	require.EqualValues(t, abi.MPI_ERR_PROC_ABORTED, mpierr.ClassOf(<-done))
	late := input(1, 0, 8)
	o := p2p.NewOperation(es[0].msg.World, comm.Collective, 1, 1)
	o.Addr, o.Size = address(late), 8
	_, err := es[0].msg.Perform(o)
	require.NoError(t, err)
	runtime.KeepAlive(late)
	time.Sleep(5 * time.Millisecond)
	require.Equal(t, make([]byte, 8), b)
}
