package rma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/handle"
)

func TestProposals(t *testing.T) {
	r := registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}
	a, gen, ok := r.propose(0)
	require.True(t, ok)
	require.NotZero(t, a, "what an uninitialized handle finds")
	b, _, _ := r.propose(0)
	require.Equal(t, a+1, b)
	c, _, _ := r.propose(10)
	require.Equal(t, uint32(10), c, "the least that was asked for")
	r.withdraw(a)
	again, _, _ := r.propose(0)
	require.Equal(t, a, again)
	w := &Window{Handle: handle.Make(handle.Win, gen, a)}
	r.enter(w, gen)
	r.remove(w.Handle)
	_, next, _ := r.propose(0)
	require.NotEqual(t, gen, next, "a stale handle differs from its successor")
}

func TestRegions(t *testing.T) {
	var r regions
	mem := make([]byte, 100)
	r.add(region{addr: 1000, bytes: mem, off: 5000})
	r.add(region{addr: 500, bytes: mem, off: 9000, owned: true})
	for _, c := range []struct {
		addr  uintptr
		size  int64
		found bool
	}{{1000, 100, true}, {1000, 101, false}, {999, 1, false}, {1099, 1, true}, {1099, 2, false}, {1100, 1, false}, {500, 100, true}, {0, 1, false}, {1050, 50, true}} {
		x, ok := r.find(c.addr, c.size)
		require.Equal(t, c.found, ok, "%d bytes at %d", c.size, c.addr)
		if ok && c.addr >= 1000 {
			require.Equal(t, int64(5000), x.off)
		}
	}
	_, ok := r.remove(1000, true)
	require.False(t, ok, "not one of MPI_Alloc_mem")
	_, ok = r.remove(500, true)
	require.True(t, ok)
	_, ok = r.find(500, 1)
	require.False(t, ok)
}

func TestLayoutOfAllocatedWindows(t *testing.T) {
	m := []record{{size: 10, alignment: 64}, {size: 0, alignment: 64}, {size: 5000, alignment: 64}, {size: 1, alignment: 64}}
	for i := range m {
		m[i].flavor = 314 // MPI_WIN_FLAVOR_SHARED
	}
	offsets, total := layout(m)
	require.Equal(t, []int64{0, 10, 10, 5010}, offsets, "one after the other without a gap")
	require.Equal(t, int64(5011), total)
	for i := range m {
		m[i].hints.NonContiguous = true
	}
	offsets, _ = layout(m)
	require.Equal(t, []int64{0, 4096, 4096, 12288}, offsets, "each on a page")
}
