package messages

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

// wasNotified reports whether e's progress thread was woken since the last call of wasNotified. It then marks the
// thread as asleep, so that the next call can detect the next wake-up.
func wasNotified(e *Engine) bool {
	cell := e.nd.Control()[shm.CellOffset(e.nd.Slots, e.nd.Me):]
	return atomic.SwapUint32(u32(cell, shm.CellProgressSleeps), 1) == 0
}

// TestDoorbells checks when a message wakes the progress thread of its receiver: when the sender has waited for a
// while, or when the message is urgent. A message that the application itself finds by polling wakes no thread.
func TestDoorbells(t *testing.T) {
	for _, noCMA := range []bool{false, true} {
		setCMA(t, noCMA)
		es := jobWithout(t, 2)
		a, b := es[0], es[1]
		wasNotified(a)
		wasNotified(b)
		big, got := pattern(100_000, 1), make([]byte, 100_000)
		small, in := pattern(8, 2), make([]byte, 8)
		send := func(data []byte, tag int32, mode Mode) *Request {
			r, err := a.Isend(a.World, 0, Bytes(data), 1, tag, mode)
			require.NoError(t, err)
			return r
		}
		receive := func(into []byte, tag int32) *Request {
			r, err := b.Irecv(b.World, 0, Bytes(into), 0, tag)
			require.NoError(t, err)
			return r
		}
		finish := func(rs ...*Request) {
			for !rs[0].IsComplete() || !rs[1].IsComplete() {
				a.Progress()
				b.Progress()
			}
			require.NoError(t, waitAll(a, rs[0]))
			require.NoError(t, waitAll(b, rs[1]))
		}

		s1, s2, s3 := send(big, 1, Standard), send(small, 2, Synchronous), send(small, 3, Standard)
		require.True(t, s3.IsComplete())
		require.False(t, wasNotified(b), "messages without a posted receive")
		finish(s2, receive(in, 2))
		require.False(t, wasNotified(a), "acknowledgement of a synchronous send")
		finish(s1, receive(got, 1))
		require.Equal(t, noCMA, wasNotified(a),
			"a request for the data (CTS) must wake the sender's progress thread, an acknowledgement not")
		finish(s3, receive(in, 3))
		wasNotified(b)

		r := receive(got, 4)
		require.False(t, wasNotified(b))
		s := send(big, 4, Standard)
		require.False(t, wasNotified(b), "large message to a posted receive: the receiver may call MPI soon")
		a.m.NotifyReceivers()
		require.True(t, wasNotified(b), "the sender has waited for a while")
		a.m.NotifyReceivers()
		require.False(t, wasNotified(b), "the receiver was notified before")
		finish(s, r)
		wasNotified(a)
		wasNotified(b)
		r = receive(in, 5)
		s = send(small, 5, Synchronous)
		require.False(t, wasNotified(b), "synchronous message to a posted receive")
		a.m.NotifyReceivers()
		require.True(t, wasNotified(b), "the sender of a synchronous message has waited for a while")
		finish(s, r)
		require.False(t, wasNotified(a))
		r = receive(in, 6)
		s = send(small, 6, Standard)
		require.False(t, wasNotified(b), "no process waits for the receive of an eager message")
		finish(s, r)

		s = send(big, 7, Standard|Urgent)
		require.True(t, wasNotified(b), "urgent message")
		finish(s, receive(got, 7))
		require.True(t, wasNotified(a), "the acknowledgement of an urgent message")
		receive(in, 8).Cancel()
		send(big, 9, Standard).Cancel()
		require.True(t, wasNotified(b), "a cancel, for whose answer the sender may wait")
		for a.pendingSends() > 0 {
			b.Progress()
			a.Progress()
		}
	}
}
