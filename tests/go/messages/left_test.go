package messages

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/p2p"
	"gompirma/core/shm"
)

// TestReminderRacesStart checks two kinds of records of a sender: a reminder that the sender waits (RECORD_REMINDER),
// and a cancel. The call that starts the matching receive may read such a record from the inbox together with the
// message. The progress thread then finds an empty inbox. The record must have an effect even then.
func TestReminderRacesStart(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		es := jobWithout(t, 2)
		a, b := es[0], es[1]
		out, in := pattern(100_000, 1), make([]byte, 100_000)
		s, err := a.Isend(a.World, 0, Bytes(out), 1, 0, Standard)
		require.NoError(t, err)
		if cancelled {
			s.Cancel()
		} else {
			a.m.NotifyReceivers()
		}
		r, err := b.Irecv(b.World, 0, Bytes(in), 0, 0)
		require.NoError(t, err)
		require.True(t, r.IsComplete(), "the receive did not handle the reminder or cancel")
		require.Equal(t, out, in)
		require.NoError(t, a.Wait(s, nil))
		require.NoError(t, b.Wait(r, nil))
	}
}

// TestCancelRacesStart checks a cancel that a starting call reads from the inbox, as in TestReminderRacesStart. A
// matched probe has extracted the cancelled message. The receiver must fetch the message's data, so that the send
// completes.
func TestCancelRacesStart(t *testing.T) {
	es := jobWithout(t, 2)
	a, b := es[0], es[1]
	out, in := pattern(100_000, 1), make([]byte, 100_000)
	s, err := a.Isend(a.World, 0, Bytes(out), 1, 0, Standard)
	require.NoError(t, err)
	m, err := b.Mprobe(b.World, 0, 0, 0, &p2p.Result{})
	require.NoError(t, err)
	s.Cancel()
	// The buffer is so large that this call reads the inbox, which contains the cancel.
	other, err := b.Irecv(b.World, 0, Bytes(make([]byte, 2000)), 0, 1)
	require.NoError(t, err)
	a.Progress()
	require.True(t, s.IsComplete(), "the receiver did not handle the cancel")
	require.NoError(t, a.Wait(s, nil))
	require.NoError(t, b.Mrecv(Bytes(in), m, nil))
	require.Equal(t, out, in)
	require.NoError(t, a.Send(a.World, 0, Bytes(nil), 1, 1, Standard))
	require.NoError(t, b.Wait(other, nil))
}

// TestStartWakesWaiter checks that a thread that sleeps in a wait is woken when another thread of its process starts
// the matching operation. The starting call leaves the copy of the data to a waiting thread.
func TestStartWakesWaiter(t *testing.T) {
	for _, sends := range []bool{false, true} {
		es := jobWithout(t, 1)
		e := es[0]
		out, in := pattern(100_000, 1), make([]byte, 100_000)
		send := func() *Request {
			r, err := e.Isend(e.World, 0, Bytes(out), 0, 0, Standard)
			require.NoError(t, err)
			return r
		}
		receive := func() *Request {
			r, err := e.Irecv(e.World, 0, Bytes(in), 0, 0)
			require.NoError(t, err)
			return r
		}
		first, second := receive, send
		if sends {
			first, second = send, receive
		}
		r := first()
		done := make(chan error, 1)
		go func() { done <- e.Wait(r, nil) }()
		waitAsleep(t, e)
		other := second()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(20 * time.Second):
			require.Fail(t, "the waiting thread was not woken")
		}
		require.Equal(t, out, in)
		require.NoError(t, e.Wait(other, nil))
	}
}

// waitAsleep waits until a thread of e's process sleeps in a wait.
func waitAsleep(t *testing.T, e *Engine) {
	cell := e.nd.Control()[shm.CellOffset(e.nd.Slots, e.nd.Me):]
	require.Eventually(t, func() bool {
		return atomic.LoadUint32(u32(cell, shm.CellHasSleepers)) == 1 &&
			atomic.LoadUint32(u32(cell, shm.CellPollerCount)) == 0
	}, 20*time.Second, time.Millisecond)
}

// TestReminderFlushesSends checks that sends can be added and removed while NotifyReceivers iterates over the pending
// sends. That happens because NotifyReceivers also flushes sends that waited for space in the inbox.
func TestReminderFlushesSends(t *testing.T) {
	setCMA(t, true)
	es := jobWithout(t, 2)
	a, b := es[0], es[1]
	const n = 320_000 // between the capacity of the inbox and twice that
	out, in := pattern(n, 1), make([]byte, n)
	others := make([]*Request, 14)
	for i := range others {
		var err error
		others[i], err = a.Isend(a.World, 0, Bytes(nil), 1, 4, Synchronous)
		require.NoError(t, err)
	}
	first, err := a.Isend(a.World, 0, Bytes(out[:n-10_000]), 1, 1, Standard)
	require.NoError(t, err)
	second, err := a.Isend(a.World, 0, Bytes(out), 1, 2, Standard)
	require.NoError(t, err)
	r, err := b.Irecv(b.World, 0, Bytes(in), 0, 2)
	require.NoError(t, err)
	a.Progress() // fills the inbox
	require.Equal(t, int64(16), a.m.Counts().NumberCapacity)
	require.Equal(t, 16, a.pendingSends(), "the table of pending sends must be full")
	small, err := a.Isend(a.World, 0, Bytes(out[:eagerMax]), 1, 3, Standard)
	require.NoError(t, err)
	require.False(t, small.IsComplete())
	b.requestFlow(flowKeep)
	b.Progress()
	a.m.NotifyReceivers()
	require.Equal(t, int64(17), a.m.Counts().NumberCapacity)
	require.Equal(t, 16, a.pendingSends(), "the small send must be pending, and the second send complete")
	for !r.IsComplete() {
		a.Progress()
		b.Progress()
	}
	require.Equal(t, out, in)
	require.NoError(t, b.Wait(r, nil))
	var rs [2]*Request
	for i, data := range [2][]byte{in[:n-10_000], in[:eagerMax]} {
		rs[i], err = b.Irecv(b.World, 0, Bytes(data), 0, int32(1+2*i))
		require.NoError(t, err)
	}
	for !first.IsComplete() || !small.IsComplete() || !rs[0].IsComplete() || !rs[1].IsComplete() {
		a.Progress()
		b.Progress()
	}
	require.NoError(t, waitAll(b, rs[:]...))
	require.NoError(t, waitAll(a, first, second, small))
	for range others {
		require.NoError(t, b.Recv(b.World, 0, Bytes(nil), 0, 4, nil))
	}
	require.NoError(t, waitAll(a, others...))
	b.requestFlow(flowAlong)
}
