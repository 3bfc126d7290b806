package messages

import (
	"fmt"
	"math/rand"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/p2p"
)

func cancelled(t *testing.T, e *Engine, r *Request) bool {
	t.Helper()
	r.Cancel()
	var st p2p.Result
	require.NoError(t, e.Wait(r, &st))
	return st.Cancelled
}

// TestCancelQueuedSends checks that sends that wait for space in the receiver's inbox can be cancelled. The messages
// that are not cancelled must arrive in order.
func TestCancelQueuedSends(t *testing.T) {
	es := jobWithout(t, 2)
	a, b := es[0], es[1]
	const n = 160 // messages of 8,000 bytes; 32 fit into the inbox
	var rs []*Request
	for i := 0; i < n; i++ {
		size := 8000
		if i%5 == 4 {
			size = 100_000
		}
		r, err := a.Isend(a.World, 0, Bytes(pattern(size, i)), 1, 0, Standard)
		require.NoError(t, err)
		rs = append(rs, r)
	}
	require.Positive(t, a.m.Counts().PendingPeers)
	left := []int{}
	for i, r := range rs {
		if i >= n/2 && i%2 == 0 {
			require.True(t, cancelled(t, a, r), "message %d", i)
			continue
		}
		left = append(left, i)
	}
	done := make(chan error)
	go func() {
		for _, i := range left {
			if err := a.Wait(rs[i], nil); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	got := make([]byte, 100_000)
	for _, i := range left {
		var st p2p.Result
		require.NoError(t, b.Recv(b.World, 0, Bytes(got), 0, 0, &st))
		require.Equal(t, pattern(int(st.Bytes), i), got[:st.Bytes], "message %d", i)
	}
	require.NoError(t, <-done)
	var st p2p.Result
	require.False(t, b.Iprobe(b.World, 0, 0, 0, &st))
}

// TestCancelOnFreedComm checks that a send can be cancelled before and after the receiver has freed the communicator.
func TestCancelOnFreedComm(t *testing.T) {
	for _, size := range []int{8, 100_000} {
		for dest := 0; dest < 2; dest++ {
			es := job(t, 2)
			id := es[0].World.NewChannel()
			a, b := es[0].World.Channel(id), es[dest].World.Channel(id)
			var rs []*Request
			for i := 0; i < 3; i++ {
				r, err := es[0].Isend(a, 0, Bytes(make([]byte, size)), dest, 0, Synchronous)
				require.NoError(t, err)
				rs = append(rs, r)
			}
			require.True(t, cancelled(t, es[0], rs[1]))
			var st p2p.Result
			require.NoError(t, es[dest].Probe(b, 0, 0, 0, &st))
			b.Forget()
			require.True(t, cancelled(t, es[0], rs[2]), "%d bytes to %d", size, dest)
			require.True(t, cancelled(t, es[0], rs[0]), "%d bytes to %d", size, dest)
		}
	}
}

// TestCancelProbed checks that cancelling a send has no effect after a matched probe has extracted the message: the
// send completes, and the message can be received.
func TestCancelProbed(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		for _, size := range []int{0, 8, 100_000, 3 << 20} {
			for dest := 0; dest < 2; dest++ {
				setCMA(t, noCMA)
				es := job(t, 2)
				out := pattern(size, 1)
				r, err := es[0].Isend(es[0].World, 0, Bytes(out), dest, 3, Synchronous)
				require.NoError(t, err)
				e := es[dest]
				var st p2p.Result
				m, err := e.Mprobe(e.World, 0, 0, 3, &st)
				require.NoError(t, err)
				r.Cancel()
				if size < 1<<20 { // larger data may still be in transfer until the receive below
					require.NoError(t, es[0].Wait(r, &st))
					require.False(t, st.Cancelled)
					clear(out) // the send is complete, so the application may change its buffer
				}
				got := make([]byte, size)
				require.NoError(t, e.Mrecv(Bytes(got), m, &st))
				require.Equal(t, p2p.Result{Source: 0, Tag: 3, Bytes: int64(size)}, st)
				require.Equal(t, pattern(size, 1), got)
				if size >= 1<<20 {
					require.NoError(t, es[0].Wait(r, &st))
				}
				require.Zero(t, e.m.Counts().Matched)
			}
		}
	}
}

// TestCancelRaces checks that sender and receiver agree on the outcome if a send is cancelled while the receiver may be
// about to receive the message.
func TestCancelRaces(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		setCMA(t, noCMA)
		es := job(t, 2)
		all(t, es, func(e *Engine) error {
			rnd := rand.New(rand.NewSource(int64(e.world)))
			c, data := e.World, make([]byte, 70_000)
			for i := int32(0); i < 200; i++ {
				size := []int{1, 5000, 20_000, 70_000}[i%4]
				var st p2p.Result
				told := make([]byte, 1)
				if e.world == 0 {
					r, err := e.Isend(c, 0, Bytes(data[:size]), 1, i, Synchronous)
					if err != nil {
						return err
					}
					for k := rnd.Intn(200); k > 0; k-- {
						e.Progress()
					}
					r.Cancel()
					if err := e.Wait(r, &st); err != nil {
						return err
					}
					if st.Cancelled {
						told[0] = 1
					}
					if err := e.Send(c, 0, Bytes(told), 1, 1000, Standard); err != nil {
						return err
					}
					continue
				}
				for k := rnd.Intn(200); k > 0; k-- {
					e.Progress()
				}
				r, err := e.Irecv(c, 0, Bytes(data[:size]), 0, i)
				if err != nil {
					return err
				}
				if err := e.Recv(c, 0, Bytes(told), 0, 1000, nil); err != nil {
					return err
				}
				if told[0] == 1 {
					r.Cancel()
				}
				if err := e.Wait(r, &st); err != nil {
					return err
				}
				if st.Cancelled != (told[0] == 1) {
					return fmt.Errorf("message %d of %d bytes was cancelled: %d, its receive: %v",
						i, size, told[0], st.Cancelled)
				}
			}
			return nil
		})
	}
}

// TestForgedCancel checks two kinds of records that concern the message of another process. A record that requests a
// cancel, or that reports the message as dropped, must have no effect.
func TestForgedCancel(t *testing.T) {
	es := jobWithout(t, 3)
	a, b := es[0], es[1]
	big, small := make([]byte, 100_000), make([]byte, 8)
	var rs []*Request
	for tag := int32(4); tag < 7; tag++ {
		r, err := a.Isend(a.World, 0, Bytes(big), 1, tag, Standard)
		require.NoError(t, err)
		rs = append(rs, r)
	}
	require.NoError(t, a.Send(a.World, 0, Bytes(small), 1, 4, Standard))
	var st p2p.Result
	require.NoError(t, b.Probe(b.World, 0, 0, 4, &st))
	ctx := a.World.Context(0)
	forge := func(e *Engine, k kind, h record) { e.m.Inject(h.bytes(k, 0, nil)) }
	const id = firstNumber
	forge(b, kindCancel, record{ctx: ctx, src: 0, tag: 4, from: 2, id: id})
	forge(b, kindCancel, record{ctx: ctx, src: 0, tag: 4, from: 0, id: 0})
	forge(b, kindCancel, record{ctx: ctx, src: -5, tag: 1 << 30, from: 0, id: ^uint64(0)})
	forge(b, kindCancel, record{ctx: ctx + 99, src: 0, tag: 4, from: 0, id: id})
	for i := range uint64(2) {
		forge(a, kindGone, record{ctx: ctx, from: 2, id: id + i})
		forge(a, kindGone, record{ctx: ctx, from: 0, id: id + i})
		forge(a, kindGone, record{ctx: ctx, from: 1, id: id + i + 1<<32})
	}
	require.NoError(t, b.Recv(b.World, 0, Bytes(big), 0, 4, nil))
	require.NoError(t, b.Recv(b.World, 0, Bytes(small), 0, 4, nil))
	require.NoError(t, a.Wait(rs[0], &st))
	require.False(t, st.Cancelled)
	// If the receiver has reported a message as dropped, the cancel of its send completes at once. The forged
	// records must not count as such a report. The record for the last message names the right receiver and counts.
	for i, gone := range []bool{false, true} {
		if gone {
			forge(a, kindGone, record{ctx: ctx, from: 1, id: id + 2})
		}
		rs[1+i].Cancel()
		require.Equal(t, gone, rs[1+i].IsComplete())
		for !rs[1+i].IsComplete() {
			b.Progress()
			a.Progress()
		}
		require.NoError(t, a.Wait(rs[1+i], &st))
		require.True(t, st.Cancelled)
	}
	b.m.Forget(ctx, 1) // drops the last message, which process 1 still holds
}

// TestCancelWithoutMemory checks the cancel of a message that a matched probe has found, if the message is larger than
// the receiver's available memory. The data of the message stays with the sender. So the send completes only after the
// receive.
func TestCancelWithoutMemory(t *testing.T) {
	for dest := range 2 {
		es := jobWithout(t, 2)
		a, b := es[0], es[dest]
		out, in := pattern(8, 1), make([]byte, 8)
		s, err := a.Isend(a.World, 0, Memory(addressOf(out), 1<<46), dest, 0, Standard)
		require.NoError(t, err)
		var st p2p.Result
		m, err := b.Mprobe(b.World, 0, 0, 0, &st)
		require.NoError(t, err)
		s.Cancel()
		b.Progress()
		require.False(t, s.IsComplete())
		require.Equal(t, int32(abi.MPI_ERR_TRUNCATE), mpierr.ClassOf(b.Mrecv(Bytes(in), m, &st)))
		require.Equal(t, out, in)
		require.NoError(t, a.Wait(s, &st))
		require.False(t, st.Cancelled)
		runtime.KeepAlive(out)
	}
}
