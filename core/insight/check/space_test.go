package check

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight"
)

// Checks that `each` and `overlap` find every access that touches the same bytes exactly once, for any size of access.
// A plain list of accesses is the reference.
func TestSpace(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	s := newSpace()
	var all []*access
	make := func() *access {
		var spans []span
		low := uint64(r.Intn(40 << pageBits))
		for range 1 + r.Intn(4) {
			length := uint64(1 + r.Intn(100))
			if r.Intn(10) == 0 {
				length = uint64(r.Intn(30<<pageBits) + 1)
			}
			spans = append(spans, span{low, low + length})
			low += length + uint64(r.Intn(5000))
		}
		return &access{site: &callSite{}, spans: merged(spans)}
	}
	for range 3000 {
		switch {
		case len(all) > 0 && r.Intn(3) == 0:
			i := r.Intn(len(all))
			s.remove(all[i])
			all = slices.Delete(all, i, i+1)
		default:
			a := make()
			s.add(a)
			all = append(all, a)
		}
		require.Equal(t, len(all), s.count)
		a, got, want := make(), map[*access]int{}, map[*access]int{}
		s.each(a, func(x *access) {
			if _, is := overlap(a, x); is {
				got[x]++
			}
		})
		for _, x := range all {
			if _, is := overlap(x, a); is {
				want[x]++
			}
		}
		require.Equal(t, want, got)
	}
}

// Checks that adjacent spans are joined, in any order.
func TestMergedSpans(t *testing.T) {
	require.Equal(t, []span{{1, 7}, {9, 12}}, merged([]span{{9, 10}, {3, 7}, {10, 12}, {1, 3}, {8, 8}}))
	at, is := overlap(&access{spans: []span{{0, 4}, {8, 12}}}, &access{spans: []span{{4, 8}, {10, 20}}})
	require.True(t, is)
	require.Equal(t, span{10, 12}, at)
	_, is = overlap(&access{spans: []span{{0, 4}, {8, 12}}}, &access{spans: []span{{4, 8}, {12, 20}}})
	require.False(t, is)
}

// Checks that the space keeps only the latest ended access of a program location. It must drop an access that precedes
// the clocks of all ranks.
func TestSpaceForgets(t *testing.T) {
	s := newSpace()
	for i := range 10 {
		a := &access{site: &callSite{rank: 0, address: 5}, spans: []span{{0, 8}}, isOver: true,
			end: timestamp{0, uint32(i + 1)}}
		s.add(a)
		s.noteEnd(a)
		require.Equal(t, 1, s.count)
	}
	open := &access{site: &callSite{rank: 1, address: 5}, spans: []span{{0, 8}}}
	s.add(open)
	forget := func(all vector) { s.forget(func(a *access) bool { return a.endedBefore(all) }) }
	forget(vector{9, 9})
	require.Equal(t, 2, s.count)
	forget(vector{10, 9})
	require.Equal(t, 1, s.count)
	s.remove(open)
	require.Zero(t, s.count)
}

// Checks that many equal accesses have one entry in the space until all of them have ended.
func TestRepeatedAccess(t *testing.T) {
	c := New(2, func(int, uint64) insight.Location { return insight.Location{} })
	k := c.ranks[0]
	var all []*access
	for i := range 1000 {
		a := &access{site: &callSite{address: 7, name: "MPI_Put"}, kind: reads, remote: true,
			spans: []span{{8, 16}}, group: &operation{epoch: i}}
		c.addOwned(0, a, k.clock)
		all = append(all, a)
	}
	require.Equal(t, 1, k.space.count)
	require.Equal(t, 999, all[0].group.epoch, "who comes after it comes after the latest")
	all[999].abandon()
	for i, a := range all[:999] {
		require.False(t, all[0].isOver)
		c.endAccess(a, timestamp{0, uint32(i)})
		c.endAccess(a, timestamp{0, 5000}) // a second end is ignored
	}
	require.True(t, all[0].isOver)
	require.Equal(t, timestamp{0, 998}, all[0].end)
	other := &access{site: &callSite{address: 8, name: "MPI_Put"}, kind: reads, spans: []span{{8, 16}}}
	c.addOwned(0, other, k.clock)
	require.Equal(t, 2, k.space.count)
}
