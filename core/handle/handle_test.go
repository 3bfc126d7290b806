package handle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	table := NewTable[int](Win)
	a, b := 1, 2
	ha, ok := table.Add(&a)
	require.True(t, ok)
	hb, _ := table.Add(&b)
	require.NotEqual(t, ha, hb)
	require.GreaterOrEqual(t, ha, uintptr(0x1000))
	require.Less(t, ha, uintptr(1)<<31)
	require.Same(t, &a, table.Get(ha))
	require.Same(t, &a, table.Remove(ha))
	require.Nil(t, table.Get(ha), "stale")
	require.Nil(t, table.Remove(ha), "removed twice")
	hc, _ := table.Add(&a)
	require.Equal(t, Index(ha), Index(hc), "indices are used again")
	require.NotEqual(t, ha, hc, "but not handles")
	require.Nil(t, table.Get(ha))
	require.Equal(t, 2, table.Len())
}

func TestForeignValues(t *testing.T) {
	table := NewTable[int](Comm)
	x := 1
	h, _ := table.Add(&x)
	for _, bad := range []uintptr{0, 1, 0x101, h + 1, h ^ 1<<27, h | 1<<31, h | 1<<40, ^uintptr(0)} {
		require.Nil(t, table.Get(bad), "%#x", bad)
		require.Nil(t, table.Remove(bad), "%#x", bad)
	}
}
