package messages

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
)

func class(err error) int32 { return mpierr.ClassOf(err) }

func TestTruncation(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		for _, n := range []int{10, 5000, 20_000, 100_000} {
			for _, dest := range []int{0, 1} { // to itself and to the other process
				setCMA(t, noCMA)
				es := job(t, 2)
				e, to := es[0], es[dest]
				for _, early := range []bool{true, false} {
					got := make([]byte, n+10)
					var r *Request
					if early {
						r, _ = to.Irecv(to.World, 0, Bytes(got[:n-3]), 0, 7)
					}
					s, err := e.Isend(e.World, 0, Bytes(pattern(n, 1)), dest, 7,
						Synchronous)
					require.NoError(t, err)
					if !early {
						r, _ = to.Irecv(to.World, 0, Bytes(got[:n-3]), 0, 7)
					}
					var st p2p.Result
					err = to.Wait(r, &st)
					require.Equal(t, int32(abi.MPI_ERR_TRUNCATE), class(err))
					require.ErrorContains(t, err,
						fmt.Sprintf("has %d bytes, but the receive buffer has only %d", n, n-3))
					require.Equal(t, p2p.Result{Source: 0, Tag: 7, Class: abi.MPI_ERR_TRUNCATE,
						Bytes: int64(n - 3), Text: err.Error()}, st)
					require.Equal(t, pattern(n, 1)[:n-3], got[:n-3])
					require.Equal(t, make([]byte, 13), got[n-3:])
					require.NoError(t, e.Wait(s, nil))
				}
			}
		}
	}
}

func TestSynchronousSendWaitsForItsReceive(t *testing.T) {
	for _, n := range []int{0, 8, 100_000} {
		for _, dest := range []int{0, 1} {
			es := job(t, 2)
			s, err := es[0].Isend(es[0].World, 0, Bytes(make([]byte, n)), dest, 0, Synchronous)
			require.NoError(t, err)
			var st p2p.Result
			require.NoError(t, es[dest].Probe(es[dest].World, 0, 0, 0, &st))
			for i := 0; i < 100; i++ {
				es[0].Progress()
				es[1].Progress()
			}
			require.False(t, s.IsComplete(), "%d bytes to %d", n, dest)
			require.NoError(t, es[dest].Recv(es[dest].World, 0, Bytes(make([]byte, n)), 0, 0, nil))
			require.NoError(t, es[0].Wait(s, nil))
		}
	}
}

func TestProbes(t *testing.T) {
	es := job(t, 2)
	a, b := es[0], es[1]
	var st p2p.Result
	require.False(t, b.Iprobe(b.World, 0, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
	require.Nil(t, b.Improbe(b.World, 0, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
	done := make(chan error)
	go func() { done <- b.Probe(b.World, 0, 0, 4, &st) }()
	require.NoError(t, a.Send(a.World, 0, Bytes(pattern(10, 1)), 1, 3, Standard))
	select {
	case <-done:
		require.Fail(t, "a message with another tag ended the probe")
	case <-time.After(5 * time.Millisecond):
	}
	require.NoError(t, a.Send(a.World, 0, Bytes(pattern(20, 2)), 1, 4, Standard))
	require.NoError(t, <-done)
	require.Equal(t, p2p.Result{Source: 0, Tag: 4, Bytes: 20}, st)
	// A probe with wildcards finds the older message. A matched probe extracts that message, so that the next
	// receive does not match it.
	require.True(t, b.Iprobe(b.World, 0, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
	require.Equal(t, p2p.Result{Source: 0, Tag: 3, Bytes: 10}, st)
	m, err := b.Mprobe(b.World, 0, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st)
	require.NoError(t, err)
	got := make([]byte, 20)
	require.NoError(t, b.Recv(b.World, 0, Bytes(got), abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
	require.Equal(t, int32(4), st.Tag)
	require.NoError(t, b.Mrecv(Bytes(got[:10]), m, &st))
	require.Equal(t, p2p.Result{Source: 0, Tag: 3, Bytes: 10}, st)
	require.Equal(t, pattern(10, 1), got[:10])
}

func TestCancel(t *testing.T) {
	es := job(t, 2)
	a, b := es[0], es[1]
	got := []byte{1, 2, 3}
	r, _ := b.Irecv(b.World, 0, Bytes(got), 0, 1)
	r.Cancel()
	var st p2p.Result
	require.NoError(t, b.Wait(r, &st))
	require.True(t, st.Cancelled)
	// The receive of this message cannot be cancelled after it has matched.
	r, _ = b.Irecv(b.World, 0, Bytes(got), 0, 1)
	require.NoError(t, a.Send(a.World, 0, Bytes([]byte{7, 8, 9}), 1, 1, Synchronous))
	r.Cancel()
	require.NoError(t, b.Wait(r, &st))
	require.False(t, st.Cancelled)
	require.Equal(t, []byte{7, 8, 9}, got)
	// A send cannot be cancelled after its message has matched a receive. TestCancelRaces cancels unmatched sends.
	r, _ = b.Irecv(b.World, 0, Bytes(got), 0, 1)
	s, _ := a.Isend(a.World, 0, Bytes(make([]byte, 3)), 1, 1, Synchronous)
	s.Cancel()
	require.NoError(t, b.Wait(r, nil))
	require.NoError(t, a.Wait(s, &st))
	require.False(t, st.Cancelled)
}

func TestRequestsFreedWhileActive(t *testing.T) {
	es := job(t, 2)
	a, b := es[0], es[1]
	for i := 0; i < 50; i++ {
		got, n := make([]byte, 20_000), []int{4, 20_000}[i%2]
		r, _ := b.Irecv(b.World, 0, Bytes(got[:n]), 0, 1)
		r.Free()
		out := pattern(n, i)
		s, _ := a.Isend(a.World, 0, Bytes(out), 1, 1, Synchronous)
		s.Free()
		// When this second message has arrived, the first message must have arrived, too.
		require.NoError(t, a.Send(a.World, 0, Bytes(nil), 1, 2, Standard))
		require.NoError(t, b.Recv(b.World, 0, Bytes(nil), 0, 2, nil))
		// The receive may be complete already, and its request in use for another operation. The request of the
		// send completes only after the receive.
		require.Eventually(t, func() bool {
			a.Progress()
			return a.pendingSends() == 0
		}, 10*time.Second, time.Millisecond)
		require.Zero(t, b.m.Counts().Posted)
		require.Equal(t, out, got[:n])
	}
	require.NoError(t, a.WaitAllSent(never), "sends whose requests are freed must complete")
}

func TestPersistent(t *testing.T) {
	es := job(t, 2)
	out, in := make([]byte, 20_000), make([]byte, 20_000)
	all(t, es, func(e *Engine) error {
		for _, n := range []int{100, 20_000} {
			var r *Request
			var err error
			if e.world == 0 {
				r, err = e.SendInit(e.World, 0, Bytes(out[:n]), 1, 5, Synchronous)
			} else {
				r, err = e.RecvInit(e.World, 0, Bytes(in[:n]), abi.MPI_ANY_SOURCE, 5)
			}
			if err != nil {
				return err
			}
			if !r.IsInactive() || r.IsComplete() {
				return fmt.Errorf("active at its creation")
			}
			for i := 0; i < 20; i++ {
				if e.world == 0 {
					copy(out, pattern(n, i))
				}
				r.Start()
				var st p2p.Result
				if err := e.Wait(r, &st); err != nil {
					return err
				}
				if !r.IsInactive() {
					return fmt.Errorf("active after the wait")
				}
				if e.world == 1 && (string(in[:n]) != string(pattern(n, i)) ||
					st != (p2p.Result{Source: 0, Tag: 5, Bytes: int64(n)})) {
					return fmt.Errorf("round %d: wrong data or status %+v", i, st)
				}
			}
			r.Free()
		}
		return nil
	})
}

// TestRandomRecords checks that records with random fields do not damage the engine: it still works afterwards.
func TestRandomRecords(t *testing.T) {
	es := job(t, 2)
	e := es[0]
	rnd := rand.New(rand.NewSource(5))
	contexts := map[uint64]bool{}
	got := make([]byte, 50_000)
	s, _ := e.Isend(e.World, 0, Bytes(make([]byte, 50_000)), 1, 0, Standard)
	for i := 0; i < 20_000; i++ {
		small := func() uint64 { return uint64(rnd.Intn(5)) - 1 }
		r := record{ctx: small(), src: int32(small()), tag: int32(small()), from: int32(small()),
			class: int32(small()), size: small(), id: firstNumber | small()}
		if rnd.Intn(2) == 0 {
			r.id = rnd.Uint64()
		}
		if rnd.Intn(2) == 0 {
			r.size = rnd.Uint64()
		}
		r.ctx |= 1<<60 | uint64(rnd.Intn(lanes))<<4 // a context that no communicator has; Forget drops it below
		contexts[r.ctx] = true
		k := kind(rnd.Intn(int(kindLast)))
		if k == kindAck || k == kindCTS {
			r.from = int32(rnd.Intn(2)) * 7 // this process (not the send's destination), or no process
		}
		payload := make([]byte, rnd.Intn(3)*16+rnd.Intn(2))
		rnd.Read(payload)
		e.m.Inject(r.bytes(k, uint8(rnd.Intn(16)), payload))
	}
	require.NoError(t, es[1].Recv(es[1].World, 0, Bytes(got), 0, 0, nil))
	require.NoError(t, e.Wait(s, nil))
	require.Positive(t, e.m.Counts().Unexpected, "some of the records must be valid messages")
	for ctx := range contexts {
		e.m.Forget(ctx, 1)
	}
	for e.Progress() || es[1].Progress() {
	}
}

// TestManyThreads checks that several threads of two processes can exchange messages on one communicator. Each pair of
// threads uses its own tag.
func TestManyThreads(t *testing.T) {
	es := job(t, 2)
	const threads = 6
	all(t, es, func(e *Engine) error {
		errs := make(chan error, threads)
		for th := int32(0); th < threads; th++ {
			go func() {
				for i := 0; i < 100; i++ {
					n := []int{8, 3000, 20_000}[i%3]
					got := make([]byte, n)
					if err := e.Sendrecv(e.World, comm.PointToPoint, Bytes(pattern(n, i)),
						1-e.world, th, Bytes(got), 1-e.world, th, nil); err != nil {
						errs <- err
						return
					}
					if string(got) != string(pattern(n, i)) {
						errs <- fmt.Errorf("thread %d message %d", th, i)
						return
					}
				}
				errs <- nil
			}()
		}
		for i := 0; i < threads; i++ {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
}

func TestFailureEndsWait(t *testing.T) {
	es := job(t, 2)
	marked := make(chan struct{})
	go func() {
		time.Sleep(5 * time.Millisecond)
		es[0].nd.MarkFailed(1)
		close(marked)
	}()
	err := es[0].Recv(es[0].World, 0, Bytes(make([]byte, 8)), 1, 0, nil)
	require.Equal(t, int32(abi.MPI_ERR_PROC_ABORTED), class(err))
	<-marked
	require.Zero(t, es[0].m.Counts().Posted, "the receive is still posted")
}

// TestCMARefused checks that data is sent in segments if a process cannot read the sender's memory through CMA. The
// system may forbid the access, or the receiver may be in another process namespace, where the sender's process id
// names another process. The test changes the token by which a reader recognizes the sender.
func TestCMARefused(t *testing.T) {
	es := job(t, 2)
	*u64(es[0].inbox(0), inboxToken)++
	all(t, es, func(e *Engine) error {
		for i := 0; i < 3; i++ {
			want := pattern(200_000, i)
			if e.world == 0 {
				if err := e.Send(e.World, 0, Bytes(want), 1, 0, Standard); err != nil {
					return err
				}
				continue
			}
			got := make([]byte, len(want))
			if err := e.Recv(e.World, 0, Bytes(got), 0, 0, nil); err != nil {
				return err
			}
			if string(got) != string(want) {
				return fmt.Errorf("message %d", i)
			}
		}
		return nil
	})
	require.Equal(t, int64(3), es[1].m.Counts().Segmented)
}

// TestInvalidBuffers checks that sender and receiver both get an error if the buffer of either is invalid, and that
// both continue to work.
func TestInvalidBuffers(t *testing.T) {
	es := job(t, 2)
	good := make([]byte, 100_000)
	for _, bad := range []int{0, 1} {
		errs := make([]error, 2)
		all(t, es, func(e *Engine) error {
			b := Bytes(good)
			if e.world == bad {
				b = Memory(1<<40|0x123000, int64(len(good)))
			}
			if e.world == 0 {
				errs[0] = e.Send(e.World, 0, b, 1, 0, Standard)
			} else {
				errs[1] = e.Recv(e.World, 0, b, 0, 0, nil)
			}
			return nil
		})
		require.Equal(t, int32(abi.MPI_ERR_BUFFER), class(errs[0]))
		require.Equal(t, int32(abi.MPI_ERR_BUFFER), class(errs[1]))
	}
	all(t, es, func(e *Engine) error {
		if e.world == 0 {
			return e.Send(e.World, 0, Bytes(good), 1, 0, Standard)
		}
		return e.Recv(e.World, 0, Bytes(good), 0, 0, nil)
	})
}

// TestDamagedRingEndsWaits checks that an invalid record in an inbox makes a wait of the process return an error.
func TestDamagedRingEndsWaits(t *testing.T) {
	es := jobWithout(t, 2)
	b := es[1].inbox(es[1].worldLane())
	*u64(b, inboxFirst+8) = recordWord(kindLast, 0, recordSize)
	*u64(b, inboxFirst) = *u64(b, inboxKey)
	*u64(b, inboxTail) += 64
	err := es[1].Recv(es[1].World, 0, Bytes(make([]byte, 8)), 0, 0, nil)
	require.Equal(t, int32(abi.MPI_ERR_INTERN), class(err))
	require.ErrorContains(t, err, "damaged")
}
