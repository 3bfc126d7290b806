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
