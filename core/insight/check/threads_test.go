package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight"
)

// Checks that a thread is ordered after its creator, and that a thread is ordered after each thread that it has joined.
// The clock must have only as many entries as strands exist at a time. Threads without events are ordered like their
// records.
func TestStrands(t *testing.T) {
	c := New(2, nil)
	k := c.ranks[1]
	does := func(thread int, what int, object uint64) {
		c.Record(1, &insight.Record{Thread: thread, Events: []insight.Event{{Kind: what, Object: object}}})
	}
	works := func(thread int) timestamp {
		c.Record(1, &insight.Record{Thread: thread})
		return k.now()
	}
	for range 3 {
		made := works(0)
		does(0, insight.Fork, 7)
		meanwhile := works(0)
		does(5, insight.Enter, 7)
		does(5, insight.Drop, 7)
		inside := works(5)
		require.Equal(t, 2, inside.strand)
		require.True(t, made.before(k.clock))
		require.False(t, meanwhile.before(k.clock))
		does(5, insight.Leave, 8)
		works(0)
		require.False(t, inside.before(k.clock))
		does(0, insight.Acquire, 8)
		works(0)
		require.True(t, inside.before(k.clock))
		require.True(t, meanwhile.before(k.clock))
	}
	require.Empty(t, k.forks)
	require.Equal(t, 3, c.strandCount)

	unknown := works(9)
	works(0)
	require.True(t, unknown.before(k.clock))

	// The second strand starts after the first has ended. But both started at the same fork, so the second is not
	// ordered after the first.
	does(0, insight.Fork, 1)
	does(0, insight.Fork, 2)
	does(5, insight.Enter, 1)
	first := works(5)
	does(5, insight.Leave, 3)
	does(6, insight.Enter, 2)
	works(6)
	require.False(t, first.before(k.clock))
	require.NotEqual(t, first.strand, k.now().strand)
}

// Checks that the space keeps only two kinds of accesses to freed memory: accesses through a window and accesses that
// have not ended.
func TestFreedMemory(t *testing.T) {
	s := newSpace()
	add := func(low uint64, win *window, over bool) {
		a := &access{site: &callSite{}, win: win, spans: []span{{low, low + 4}}}
		s.add(a)
		if over {
			a.isOver = true
			s.noteEnd(a)
		}
	}
	add(100, nil, true)
	add(200, nil, false)
	add(300, &window{}, true)
	add(996, nil, true)
	add(998, nil, true)
	s.free(span{100, 1000})
	var left []uint64
	s.each(&access{spans: []span{{0, 4096}}}, func(a *access) { left = append(left, a.low()) })
	require.ElementsMatch(t, []uint64{200, 300, 998}, left)
	require.Equal(t, 3, s.count)
}
