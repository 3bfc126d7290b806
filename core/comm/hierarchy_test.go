package comm

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/group"
)

// places is a Host that implements only the method Node.
type places struct {
	Host
	of func(w int32) int
}

func (p places) Node(w int32) int { return p.of(w) }

func TestHierarchy(t *testing.T) {
	on := func(nodes ...int) places { return places{of: func(w int32) int { return nodes[w] }} }
	g := group.Range(0, 5, 1)
	require.Nil(t, hierarchyOf(on(3, 3, 3, 3, 3), g, 2))
	require.Equal(t, &Hierarchy{Node: 1, NodeOf: []int32{0, 0, 1, 1, 1}, Leaders: []int32{0, 2},
		Local:           []int32{2, 3, 4},
		MaxRanksPerNode: 3, Regular: true}, hierarchyOf(on(7, 7, 2, 2, 2), g, 3))
	require.Equal(t, &Hierarchy{Node: 0, NodeOf: []int32{0, 1, 0, 2, 1}, Leaders: []int32{0, 1, 3},
		Local:           []int32{0, 2},
		MaxRanksPerNode: 2}, hierarchyOf(on(9, 4, 9, 0, 4), g, 2))
}

// TestHierarchyScale measures the time and the memory that each process needs for the hierarchy of a communicator of
// 100,000 processes.
func TestHierarchyScale(t *testing.T) {
	const n, nodes = 100000, 1000
	host := places{of: func(w int32) int { return int(w) * nodes / n }}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	s := hierarchyOf(host, group.Range(0, n, 1), n/2)
	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	require.Len(t, s.Leaders, nodes)
	require.Less(t, held, int64(n)*8)
	t.Logf("%d processes on %d nodes: %.2f ms, %d KiB stay", n, nodes, float64(took.Microseconds())/1000, held>>10)
}
