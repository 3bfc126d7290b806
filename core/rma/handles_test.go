package rma

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/shm"
)

func TestProposals(t *testing.T) {
	r := registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}
	a, ok := r.propose(0)
	require.True(t, ok)
	require.NotZero(t, indexAt(a), "what an uninitialized handle finds")
	b, _ := r.propose(0)
	require.Equal(t, a+1, b)
	c, _ := r.propose(10)
	require.Equal(t, uint64(10), c, "the least that was asked for")
	r.withdraw(a)
	again, _ := r.propose(0)
	require.Equal(t, a, again, "no window was made of it")
	w := &Window{Handle: handle.Make(handle.Win, numberAt(a))}
	r.add(w, a)
	r.remove(w.Handle)
	next, _ := r.propose(0)
	require.Greater(t, next, a, "a stale handle differs from its successor")
}

// TestHandleNumbers checks that the first 2^27 places have different numbers.
func TestHandleNumbers(t *testing.T) {
	seen := make([]uint64, handle.Numbers/64)
	for place := range uint64(handle.Numbers) {
		n := numberAt(place)
		if seen[n/64]>>(n%64)&1 != 0 {
			t.Fatalf("number %#x comes again at place %d", n, place)
		}
		seen[n/64] |= 1 << (n % 64)
	}
	require.Equal(t, numberAt(5), numberAt(handle.Numbers+5))
}

// TestIndicesInUse checks that windows which are created and freed use few entries of C's table. It also checks that no
// number repeats soon, while different numbers of other windows exist.
func TestIndicesInUse(t *testing.T) {
	const windows, block = 150_000, 1 << lowBits
	for _, live := range []int{0, 1, 600, 3000} {
		r := registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}
		make1 := func() *Window {
			place, ok := r.propose(0)
			require.True(t, ok)
			w := &Window{Handle: handle.Make(handle.Win, numberAt(place))}
			r.add(w, place)
			return w
		}
		for range live {
			make1()
		}
		seen := map[uintptr]bool{}
		highest := uint32(0)
		for i := range windows {
			w := make1()
			if seen[w.Handle] || w.Handle == 0 || handle.Number(w.Handle)&indexMask == 0 {
				t.Fatalf("%d live: window %d has handle %#x", live, i, w.Handle)
			}
			seen[w.Handle] = true
			highest = max(highest, handle.Number(w.Handle)&indexMask)
			r.remove(w.Handle)
		}
		turns := windows/(block<<generationBits-live%block<<generationBits) + 1
		require.Less(t, int(highest), (live/block+turns+2)*block, "%d live", live)
	}
}

// TestMaxWindows checks that propose fails while all indices are in use, and succeeds as soon as an index is free.
func TestMaxWindows(t *testing.T) {
	r := registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}
	var last uint64
	for range handle.MaxWindows {
		place, ok := r.propose(0)
		if !ok {
			t.Fatal("refused too early")
		}
		r.add(&Window{Handle: handle.Make(handle.Win, numberAt(place))}, place)
		last = place
	}
	_, ok := r.propose(0)
	require.False(t, ok)
	r.withdraw(last)
	place, ok := r.propose(0)
	require.True(t, ok)
	require.Equal(t, indexAt(last), indexAt(place))
}

func TestRegions(t *testing.T) {
	var r regions
	mem := make([]byte, 100)
	r.add(region{addr: 1000, bytes: mem, off: 5000})
	r.add(region{addr: 500, bytes: mem, off: 9000, creator: byAllocMem})
	for _, c := range []struct {
		addr  uintptr
		size  int64
		found bool
	}{{1000, 100, true}, {1000, 101, false}, {999, 1, false}, {1099, 1, true}, {1099, 2, false}, {1100, 1, false},
		{500, 100, true}, {0, 1, false}, {1050, 50, true}} {
		x, ok := r.find(c.addr, c.size)
		require.Equal(t, c.found, ok, "%d bytes at %d", c.size, c.addr)
		if ok && c.addr >= 1000 {
			require.Equal(t, int64(5000), x.off)
		}
	}
	_, ok := r.remove(1000, byAllocMem)
	require.False(t, ok, "not one of MPI_Alloc_mem")
	_, ok = r.remove(500, byAllocMem)
	require.True(t, ok)
	_, ok = r.find(500, 1)
	require.False(t, ok)
}

func TestLayoutOfAllocatedWindows(t *testing.T) {
	var all records
	for _, size := range []int64{10, 7, 0, 5000, 1} {
		all = append(all, (&record{size: size, alignment: 64}).encode()...)
	}
	// Rank 1 is on another node.
	w := Window{Flavor: abi.MPI_WIN_FLAVOR_SHARED, local: localMembers{ranks: []int32{0, 2, 3, 4}}}
	offsets, total, alignment := w.layout(all)
	require.Equal(t, []int64{0, 10, 10, 5010}, offsets, "one after the other without a gap")
	require.Equal(t, []int64{5011, shm.PageSize}, []int64{total, alignment})
	w.hints.Common.Promises = Noncontiguous
	offsets, _, _ = w.layout(all)
	require.Equal(t, []int64{0, 4096, 4096, 12288}, offsets, "each on a page")
}

// noDescriptors is a data path whose Install fails, because there is no free window descriptor.
type noDescriptors struct {
	DataPath
	remove func(h uintptr)
}

func (noDescriptors) Install(*Plan) error { return errors.New("no descriptor") }
func (n noDescriptors) Remove(h uintptr)  { n.remove(h) }

// TestHandleOfFailedWindow checks that a failed creation releases the handle as its last step. Another thread may reuse
// a released handle at once, and later steps of the failed creation would destroy the window of that thread.
func TestHandleOfFailedWindow(t *testing.T) {
	removed := 0
	h := &Host{
		Node:      node(t),
		NodeIndex: func(int32) int { return 0 },
		Allgather: func(_ *comm.Comm, mine []byte) ([]byte, error) { return mine, nil },
		Data: noDescriptors{remove: func(h uintptr) {
			removed++
			require.True(t, windows.used[handle.Number(h)&indexMask], "the handle is free already")
		}},
	}
	_, err := Create(h, comm.NewSelf(nil, 0), Spec{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 100, DispUnit: 1})
	require.ErrorContains(t, err, "no descriptor")
	require.Equal(t, 1, removed)
	require.Empty(t, windows.used)
}
