package p2p

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlots: numbers are not used again, and many places are given back when none is in use.
func TestSlots(t *testing.T) {
	var s slots
	old := map[uint64]bool{}
	for round := 0; round < 3; round++ {
		ops := map[uint64]*op{}
		for i := 0; i < 2*manySlots; i++ {
			o := &op{}
			id := s.add(o)
			require.NotZero(t, id)
			require.False(t, old[id], "%#x", id)
			old[id], ops[id] = true, o
			if i%3 == 0 {
				s.remove(id)
				delete(ops, id)
			}
		}
		require.Equal(t, len(ops), s.used)
		for id := range old {
			require.Same(t, ops[id], s.get(id))
		}
		for id := range ops {
			s.remove(id)
		}
		require.Zero(t, s.used)
		require.Empty(t, s.at)
		require.Nil(t, s.get(1<<32))
	}
}
