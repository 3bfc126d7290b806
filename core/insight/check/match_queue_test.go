package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// Checks that messages and receives match in their order, also with wildcards. A message that was matched with the
// wrong receive must be inserted at its former position.
func TestMatchQueue(t *testing.T) {
	var m comm
	sent := func(from, tag int) *send {
		s := &send{}
		s.envelope = envelope{from, tag}
		m.matchSend(0, s)
		return s
	}
	expected := func(from, tag int) *receive {
		r := &receive{}
		r.envelope = envelope{from, tag}
		m.matchReceive(0, r)
		return r
	}
	const source, tag = abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG
	a, b, c := sent(1, 5), sent(2, 5), sent(1, 6)
	require.Same(t, b, expected(2, tag).send)
	require.Same(t, a, expected(source, 5).send)
	queueAt(&m.unmatchedSends, 0).restore(&a.queued, a)
	require.Same(t, a, expected(1, tag).send)
	require.Same(t, c, expected(source, tag).send)
	require.Empty(t, m.unmatchedSends[0].byEnvelope)

	first, second, third := expected(source, 7), expected(3, 7), expected(source, tag)
	require.True(t, m.postedReceives[0].remove(&second.queued))
	require.False(t, m.postedReceives[0].remove(&second.queued))
	require.Same(t, first, sent(3, 7).receive)
	require.Same(t, third, sent(3, 7).receive)
	require.Nil(t, sent(3, 7).receive)
}

// Checks that matching one of many messages does not search through the others, also for a receive with a wildcard.
func TestMatchQueueIsNotSearched(t *testing.T) {
	const messages = 10_000
	for _, wild := range []envelope{{abi.MPI_ANY_SOURCE, 0}, {0, abi.MPI_ANY_TAG}} {
		var m comm
		for i := range messages {
			s := &send{}
			s.envelope = envelope{i, i}
			m.matchSend(0, s)
		}
		for i := range messages {
			r := &receive{}
			r.envelope = envelope{messages - 1 - i, messages - 1 - i} // the newest message first
			want := r.envelope
			if wild.from == abi.MPI_ANY_SOURCE {
				r.from = wild.from
			} else {
				r.tag = wild.tag
			}
			m.matchReceive(0, r)
			if r.send == nil || r.send.envelope != want {
				require.FailNow(t, "wrong message", "%v", r.send)
			}
		}
		// The first receive with a wildcard visits each message once, to index it.
		require.Equal(t, messages, m.unmatchedSends[0].visited)
		require.Empty(t, m.unmatchedSends[0].byEnvelope)
	}
}
