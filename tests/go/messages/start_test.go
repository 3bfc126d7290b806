package messages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/p2p"
)

// TestStartDefersCopy checks calls that only start a receive. Such a call must leave the copy of a large message to a
// thread that waits for the receive. If the sender already waits, the call must copy the message itself.
func TestStartDefersCopy(t *testing.T) {
	for dest := range 2 { // to itself and to the other process
		es := jobWithout(t, 2)
		a, b := es[0], es[dest]
		out := pattern(100_000, 1)
		in := make([]byte, len(out))
		receive := func(tag int32) *Request {
			r, err := b.Irecv(b.World, 0, Bytes(in), 0, tag)
			require.NoError(t, err)
			return r
		}
		persistent, err := b.RecvInit(b.World, 0, Bytes(in), 0, 1)
		require.NoError(t, err)
		for tag, start := range []func() *Request{
			func() *Request { return receive(0) },
			func() *Request { persistent.Start(); return persistent },
			func() *Request {
				var st p2p.Result
				m, err := b.Mprobe(b.World, 0, 0, 2, &st)
				require.NoError(t, err)
				r, err := b.Imrecv(Bytes(in), m)
				require.NoError(t, err)
				return r
			},
		} {
			s, err := a.Isend(a.World, 0, Bytes(out), dest, int32(tag), Standard)
			require.NoError(t, err)
			r := start()
			require.False(t, r.IsComplete(), "%d", tag)
			s2, err := b.Isend(b.World, 0, Bytes(out), 1-dest, 9, Standard)
			require.NoError(t, err)
			require.False(t, r.IsComplete(), "%d: the start of a send copied the data", tag)
			b.Progress()
			require.True(t, r.IsComplete(), "%d", tag)
			require.Equal(t, out, in)
			clear(in)
			require.NoError(t, b.Wait(r, nil))
			require.NoError(t, a.Wait(s, nil))
			other := es[1-dest]
			require.NoError(t, other.Recv(other.World, 0, Bytes(make([]byte, len(out))), dest, 9, nil))
			require.NoError(t, b.Wait(s2, nil))
		}
		persistent.Free()

		done := make(chan error)
		go func() { done <- a.Send(a.World, 0, Bytes(out), dest, 5, Standard) }()
		var st p2p.Result
		require.NoError(t, b.Probe(b.World, 0, 0, 5, &st))
		r := receive(5)
		require.True(t, r.IsComplete(), "the call did not copy, although the sender waits")
		require.NoError(t, b.Wait(r, nil))
		require.NoError(t, <-done)
	}
}

// TestWaitingSenderIsServed checks that a send completes while the receiver's application threads make no calls. The
// sender waits or tests repeatedly. The receive is started before the sender waits, or after.
func TestWaitingSenderIsServed(t *testing.T) {
	for _, early := range []bool{true, false} {
		for _, tests := range []bool{true, false} {
			es := job(t, 2)
			a, b := es[0], es[1]
			out := pattern(100_000, 1)
			in := make([]byte, len(out))
			s, err := a.Isend(a.World, 0, Bytes(out), 1, 0, Standard)
			require.NoError(t, err)
			var st p2p.Result
			require.NoError(t, b.Probe(b.World, 0, 0, 0, &st))
			done := make(chan error)
			wait := func() {
				for i := 1; tests && !s.IsComplete(); i++ {
					a.Progress()
					if i%1024 == 0 {
						a.NotifyReceivers()
					}
				}
				done <- a.Wait(s, nil)
			}
			if !early {
				come := b.arrivedWords()
				go wait()
				require.Eventually(t, func() bool { return b.arrivedWords() > come }, 10*time.Second,
					time.Millisecond, "the sender sent no reminder")
			}
			r, err := b.Irecv(b.World, 0, Bytes(in), 0, 0)
			require.NoError(t, err)
			if early {
				go wait()
			}
			require.NoError(t, <-done)
			// The progress thread has acknowledged the message, and is about to complete the receive.
			require.Eventually(t, r.IsComplete, 10*time.Second, time.Millisecond)
			require.Equal(t, out, in)
			require.NoError(t, b.Wait(r, nil))
		}
	}
}
