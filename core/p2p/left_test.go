package p2p

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/request"
)

// TestReminderMakesRoom: a reminder flushes what has waited for room, so sends begin and end while they are gone through.
func TestReminderMakesRoom(t *testing.T) {
	es := jobWithout(t, 2)
	a, b := es[0], es[1]
	a.noCMA, b.noCMA = true, true
	const n = ringData + 30_000
	out, in := pattern(n, 1), make([]byte, n)
	require.NoError(t, a.Attach(BufferOf{}, abi.MPI_BUFFER_AUTOMATIC, 0))
	first, err := a.Isend(a.World, 0, Bytes(out[:100_000]), 1, 1, Standard)
	require.NoError(t, err)
	require.NoError(t, a.Send(a.World, 0, Bytes(out), 1, 2, Buffered))
	r, err := b.Irecv(b.World, 0, Bytes(in), 0, 2)
	require.NoError(t, err)
	a.Progress() // until the ring is full
	require.Equal(t, 2, a.sends.used)
	small, err := a.Isend(a.World, 0, Bytes(out[:eagerMax]), 1, 3, Standard)
	require.NoError(t, err)
	require.False(t, small.IsComplete())
	b.mu.Lock()
	b.congestLocked(true)
	b.unlock()
	b.Progress()
	a.sends.at = append([]slot(nil), a.sends.at...) // one more needs a new place
	a.remind()
	require.Equal(t, 2, a.sends.used, "the small one stays, the other one has left")
	for !r.IsComplete() {
		a.Progress()
		b.Progress()
	}
	require.Equal(t, out, in)
	require.NoError(t, b.Wait(r, nil))
	var rs [2]*request.Request
	for i, data := range [2][]byte{in[:100_000], in[:eagerMax]} {
		rs[i], err = b.Irecv(b.World, 0, Bytes(data), 0, int32(1+2*i))
		require.NoError(t, err)
	}
	for !first.IsComplete() || !small.IsComplete() || !rs[0].IsComplete() || !rs[1].IsComplete() {
		a.Progress()
		b.Progress()
	}
	require.NoError(t, b.WaitAll(rs[:]...))
	require.NoError(t, a.WaitAll(first, small))
	b.mu.Lock()
	b.congestLocked(false)
	b.unlock()
}
