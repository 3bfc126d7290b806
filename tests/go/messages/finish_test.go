package messages

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

func never() bool { return false }

// TestFinalizeWithdraws checks that MPI_Finalize of the sender withdraws many unreceived messages, as soon as the
// receiver is also in MPI_Finalize, but not earlier. The receiver still stores the messages, or has freed their
// communicator.
func TestFinalizeWithdraws(t *testing.T) {
	for _, freed := range []bool{false, true} {
		es := jobWithout(t, 2)
		a, b := es[0], es[1]
		send := func(tag int32) *Request {
			r, err := a.Isend(a.World, 0, Bytes(nil), 1, tag, Synchronous)
			require.NoError(t, err)
			b.Progress()
			return r
		}
		for range 2 * manyNumbers {
			send(1)
		}
		last := send(2)
		_, err := b.Irecv(b.World, 0, Bytes(nil), 0, 2)
		require.NoError(t, err)
		require.NoError(t, a.Wait(last, nil))
		if freed {
			b.m.Forget(b.World.Context(0), 1)
			for b.m.Counts().PendingPeers > 0 || a.hasUnread() {
				a.Progress()
				b.Progress()
			}
			require.Zero(t, b.m.Counts().Unexpected)
		}
		require.Equal(t, 2*manyNumbers, a.pendingSends())
		done := make(chan error, 1)
		go func() { done <- a.WaitAllSent(never) }()
		for range 1000 {
			b.Progress()
		}
		require.Empty(t, done, "MPI_Finalize returned before the receiver was in MPI_Finalize")
		b.nd.SetState(b.nd.Me, shm.Finishing)
		for len(done) == 0 {
			b.Progress()
		}
		require.NoError(t, <-done)
		require.Zero(t, a.pendingSends())
		require.Zero(t, a.m.Counts().NumberCapacity, "the empty table of send numbers still has memory")
	}
}
