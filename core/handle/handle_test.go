package handle

import (
	"math/rand"
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
	require.Equal(t, Win, KindOf(ha))
	require.Same(t, &a, table.Get(ha))
	require.Same(t, &a, table.Remove(ha))
	require.Nil(t, table.Get(ha), "stale")
	require.Nil(t, table.Remove(ha), "removed twice")
	hc, _ := table.Add(&a)
	require.NotEqual(t, ha, hc)
	require.Nil(t, table.Get(ha))
	require.Equal(t, 2, table.Len())
}

// TestReserve checks that a reserved handle has no object until Set stores one, and that it can be removed before Set.
func TestReserve(t *testing.T) {
	table := NewTable[int](Win)
	x := 1
	h, ok := table.Reserve()
	require.True(t, ok)
	require.Nil(t, table.Get(h))
	other, _ := table.Reserve()
	require.NotEqual(t, h, other)
	table.Set(h, &x)
	require.Same(t, &x, table.Get(h))
	table.Remove(other)
	require.Equal(t, 1, table.Len())
	require.Same(t, &x, table.Remove(h))
}

func TestForeignValues(t *testing.T) {
	table := NewTable[int](Comm)
	require.Nil(t, table.Get(0), "an empty table")
	x := 1
	h, _ := table.Add(&x)
	for _, bad := range []uintptr{0, 1, 0x101, h + 1, h ^ 1<<27, h | 1<<31, h | 1<<40, ^uintptr(0)} {
		require.Nil(t, table.Get(bad), "%#x", bad)
		require.Nil(t, table.Remove(bad), "%#x", bad)
	}
}

// shortTable returns a table whose numbers have only the given number of bits, so that they repeat soon.
func shortTable(bits int) *Table[int] {
	t := NewTable[int](Request)
	t.mask = 1<<bits - 1
	return t
}

// TestCycle checks that a handle repeats only after as many new handles as the package comment states. It tests several
// counts of live handles.
func TestCycle(t *testing.T) {
	const bits = 14
	for _, live := range []int{0, 1, 5, 31, 32, 33, 200, 1000} {
		table := shortTable(bits)
		x := 1
		for range live {
			table.Add(&x)
		}
		first, _ := table.Add(&x)
		size := len(table.entries)
		require.LessOrEqual(t, 2*live, size)
		table.Remove(first)
		seen := map[uintptr]bool{first: true}
		n := 1
		for ; ; n++ {
			h, ok := table.Add(&x)
			require.True(t, ok)
			require.Same(t, &x, table.Get(h))
			table.Remove(h)
			if h == first {
				break
			}
			require.False(t, seen[h], "%d live: handle %#x came again after %d", live, h, n)
			seen[h] = true
		}
		require.Equal(t, (size-live)*(1<<bits)/size, n, "%d live", live)
		require.Len(t, table.entries, size, "the table did not grow")
	}
}

// TestGrowth adds and removes handles at random, so that the table grows and shrinks. It checks that every live handle
// is found, that no two handles are equal, and that no removed handle is reused soon.
func TestGrowth(t *testing.T) {
	const bits = 20
	table := shortTable(bits)
	r := rand.New(rand.NewSource(1))
	objects := map[uintptr]*int{}
	var handles []uintptr
	removed := map[uintptr]int{}
	for step := range 1 << 17 {
		if r.Intn(100) < 52 || len(handles) == 0 {
			x := new(int)
			h, ok := table.Add(x)
			require.True(t, ok)
			require.Nil(t, objects[h], "handle %#x is live already", h)
			if when, ok := removed[h]; ok {
				require.Greater(t, step-when, 1<<bits/2, "handle %#x", h)
			}
			objects[h] = x
			handles = append(handles, h)
		} else {
			i := r.Intn(len(handles))
			h := handles[i]
			handles[i] = handles[len(handles)-1]
			handles = handles[:len(handles)-1]
			require.Same(t, objects[h], table.Remove(h))
			require.Nil(t, table.Get(h))
			delete(objects, h)
			removed[h] = step
		}
	}
	for h, x := range objects {
		require.Same(t, x, table.Get(h))
	}
	require.Equal(t, len(objects), table.Len())
}

// TestFull checks that Add fails if the table is full, that the table keeps its objects, and that Add succeeds again
// after a removal.
func TestFull(t *testing.T) {
	table := NewTable[int](Comm)
	table.maxLive = 128
	x := 1
	var handles []uintptr
	for range 128 {
		h, ok := table.Add(&x)
		require.True(t, ok)
		handles = append(handles, h)
	}
	_, ok := table.Add(&x)
	require.False(t, ok)
	for _, h := range handles {
		require.Same(t, &x, table.Get(h))
	}
	table.Remove(handles[77])
	h, ok := table.Add(&x)
	require.True(t, ok)
	require.NotEqual(t, handles[77], h)
}

func BenchmarkAddGetRemove(b *testing.B) {
	table := NewTable[int](Request)
	x := 1
	for range b.N {
		h, _ := table.Add(&x)
		table.Get(h)
		table.Remove(h)
	}
}

// TestShrink creates and frees handles in waves, so that the table grows and shrinks. It checks that every live handle
// is found, that no two handles are equal, and that no removed handle is reused soon.
func TestShrink(t *testing.T) {
	const bits = 20
	for seed := range int64(20) {
		table := shortTable(bits)
		r := rand.New(rand.NewSource(seed))
		objects := map[uintptr]*int{}
		var handles []uintptr
		known := map[uintptr]bool{} // all handles so far
		shrunk := 0
		for wave := range 12 {
			for range 1 << (6 + wave%6) {
				x := new(int)
				h, ok := table.Add(x)
				require.True(t, ok)
				require.False(t, known[h], "handle %#x came again after %d", h, len(known))
				known[h], objects[h] = true, x
				handles = append(handles, h)
			}
			for left := r.Intn(10); len(handles) > left; {
				i := r.Intn(len(handles))
				h := handles[i]
				handles[i] = handles[len(handles)-1]
				handles = handles[:len(handles)-1]
				require.Same(t, objects[h], table.Remove(h))
				require.Nil(t, table.Remove(h))
				delete(objects, h)
			}
			for table.shrinkLocked() && len(table.entries) > minEntries {
				shrunk++
			}
			for h, x := range objects {
				require.Same(t, x, table.Get(h))
			}
			require.Equal(t, len(objects), table.Len())
		}
		require.NotZero(t, shrunk)
	}
}

// TestTrim checks that a table shrinks to its initial size after most of a large number of handles have been freed.
func TestTrim(t *testing.T) {
	table := NewTable[int](Request)
	x := 1
	first, _ := table.Add(&x)
	var handles []uintptr
	for range 100_000 {
		h, _ := table.Add(&x)
		handles = append(handles, h)
	}
	last, _ := table.Add(&x)
	for _, h := range handles {
		table.Remove(h)
	}
	table.trim()
	require.Len(t, table.entries, minEntries)
	for _, h := range []uintptr{first, last} {
		require.Same(t, &x, table.Get(h))
	}
	for _, h := range handles {
		require.Nil(t, table.Get(h))
	}
}
