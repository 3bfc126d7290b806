package coll

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPoolSize checks that a released buffer returns to its own pool. It also checks that a buffer exceeds the
// requested size by at most an eighth.
func TestPoolSize(t *testing.T) {
	before := 0
	for n := minPooledBytes; n < 1<<24; n += n/1000 + 1 {
		size, place := poolSize(n)
		require.GreaterOrEqual(t, size, n)
		require.Less(t, size-n, n/8+1, "%d bytes", n)
		again, same := poolSize(size)
		require.Equal(t, size, again)
		require.Equal(t, place, same)
		require.GreaterOrEqual(t, place, before)
		before = place
	}
	_, place := poolSize(1<<63 - 1)
	require.Less(t, place, len(bufferPools))
}

// TestCallBuffers checks that buffers in use do not overlap, within a call and between two calls.
func TestCallBuffers(t *testing.T) {
	var one, other callBuffers
	a, b := one.alloc(minPooledBytes), one.alloc(minPooledBytes)
	require.NotEqual(t, address(a), address(b))
	require.Len(t, one.alloc(100), 100)
	require.Len(t, one.acquired, 2)
	c := other.alloc(minPooledBytes)
	require.NotContains(t, []uintptr{address(a), address(b)}, address(c))
	one.release()
	require.Empty(t, one.acquired)
}

func TestContiguousBlocks(t *testing.T) {
	whole := make([]byte, 30)
	blocks := [][]byte{whole[0:10], whole[10:10], whole[10:30]}
	found := contiguousBlocks(blocks, []int{10, 0, 20})
	require.Equal(t, address(whole), address(found))
	require.Len(t, found, 30)
	require.Nil(t, contiguousBlocks(blocks, []int{10, 0, 19}), "of another length")
	require.Nil(t, contiguousBlocks([][]byte{whole[0:10], whole[11:30]}, []int{10, 19}), "with a gap")
	require.Nil(t, contiguousBlocks([][]byte{whole[10:20], whole[0:10]}, []int{10, 10}), "in another order")
	require.Nil(t, contiguousBlocks([][]byte{nil, whole}, []int{0, 30}), "which begin with nothing")
}
