package coll

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpareSize checks that the size of a buffer maps to its own list, and that it exceeds the request by less than an
// eighth.
func TestSpareSize(t *testing.T) {
	before := 0
	for n := leastSpare; n < 1<<24; n += n/1000 + 1 {
		size, place := spareSize(n)
		require.GreaterOrEqual(t, size, n)
		require.Less(t, size-n, n/8+1, "%d bytes", n)
		again, same := spareSize(size)
		require.Equal(t, size, again)
		require.Equal(t, place, same)
		require.GreaterOrEqual(t, place, before)
		before = place
	}
	_, place := spareSize(1<<63 - 1)
	require.Less(t, place, len(spares))
}

// TestRooms checks that memory which a call has released is not memory that it still uses.
func TestRooms(t *testing.T) {
	var one, other rooms
	a, b := one.room(leastSpare), one.room(leastSpare)
	require.NotEqual(t, address(a), address(b))
	require.Len(t, one.room(100), 100)
	require.Len(t, one.taken, 2)
	c := other.room(leastSpare)
	require.NotContains(t, []uintptr{address(a), address(b)}, address(c))
	one.end()
	require.Empty(t, one.taken)
}

func TestInOrder(t *testing.T) {
	whole := make([]byte, 30)
	blocks := [][]byte{whole[0:10], whole[10:10], whole[10:30]}
	found := inOrder(blocks, []int{10, 0, 20})
	require.Equal(t, address(whole), address(found))
	require.Len(t, found, 30)
	require.Nil(t, inOrder(blocks, []int{10, 0, 19}), "of another length")
	require.Nil(t, inOrder([][]byte{whole[0:10], whole[11:30]}, []int{10, 19}), "with a gap")
	require.Nil(t, inOrder([][]byte{whole[10:20], whole[0:10]}, []int{10, 10}), "in another order")
	require.Nil(t, inOrder([][]byte{nil, whole}, []int{0, 30}), "which begin with nothing")
}
