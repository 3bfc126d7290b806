package shm

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBlocks checks that a block can be allocated, opened and freed by three different processes.
func TestBlocks(t *testing.T) {
	onBoth(t, 3, blocksAreShared)
}

func blocksAreShared(t *testing.T, nd []*Node) {
	a, b, c := nd[0], nd[1], nd[2]
	const size = 3 * PageSize

	mine, name, err := a.AllocBlock(size)
	require.NoError(t, err)
	require.Len(t, mine, size)
	require.True(t, a.BlockMapped(name, 0))
	require.False(t, a.BlockMapped(name, 1))
	theirs, err := b.OpenBlock(name, size)
	require.NoError(t, err)
	require.True(t, a.BlockMapped(name, 1))
	require.False(t, a.BlockMapped(name, 2))
	mine[5], mine[size-1] = 1, 2
	require.Equal(t, []byte{1, 2}, []byte{theirs[5], theirs[size-1]})
	require.Equal(t, 1, a.BlocksInUse())

	_, err = c.OpenBlock(name+1<<minArenaLog-2*PageSize, size)
	require.Error(t, err, "beyond the arena")
	_, err = c.OpenBlock(name&^(PageSize-1)|5, size)
	require.Error(t, err, "an arena of 32 bytes")

	// After the last user has returned the block, its owner can allocate it again. The block is zeroed and is not
	// mapped a second time.
	mine[size-1] = 0
	b.FreeBlock(name, size, 64)
	require.Zero(t, a.BlocksInUse())
	again, second, err := a.AllocBlock(size)
	require.NoError(t, err)
	require.Equal(t, name, second)
	require.Equal(t, make([]byte, size), again)
	again[size-1] = 3
	b.FreeBlock(name, size, Dirty)
	third, other, err := a.AllocBlock(size)
	require.NoError(t, err)
	require.Equal(t, name, other)
	require.Equal(t, make([]byte, size), third, "zeroed though nobody said what was used")
	b.FreeBlock(name, size, 0)
}

// TestManyBlocks checks that no block is handed out twice, that another process needs few mappings for all blocks, and
// that the memory of the blocks is released.
func TestManyBlocks(t *testing.T) {
	nd := nodes(t, 2)
	a, b := nd[0], nd[1]
	const n, size = 3000, 2 * PageSize
	names := map[BlockRef]bool{}
	for i := range n {
		mine, name, err := a.AllocBlock(size)
		require.NoError(t, err)
		require.False(t, names[name])
		names[name] = true
		require.Zero(t, bytes.Trim(mine[:16], "\x00"))
		mine[0] = byte(i)
		theirs, err := b.OpenBlock(name, size)
		require.NoError(t, err)
		require.Equal(t, byte(i), theirs[0])
	}
	require.Equal(t, n, a.BlocksInUse())
	require.Less(t, len(b.blocks.mapped), 8)
	for name := range names {
		b.FreeBlock(name, size, 8)
	}
	require.Zero(t, a.BlocksInUse())
	require.LessOrEqual(t, *a.i64(0, CellCachedBytes), int64(MaxCachedBytes))
	for range n {
		mine, name, err := a.AllocBlock(size)
		require.NoError(t, err)
		require.True(t, names[name], "one that was there before")
		require.Zero(t, mine[0])
	}
}
