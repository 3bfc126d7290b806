package rma

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

func node(t *testing.T) *shm.Node {
	f, err := shm.CreateControl(1, 1)
	require.NoError(t, err)
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd()))
	require.NoError(t, err)
	nd, err := shm.Open(fd, 0)
	require.NoError(t, err)
	t.Cleanup(nd.Close)
	return nd
}

// taken returns the number of bytes of the node's memory that are allocated.
func taken(t *testing.T, nd *shm.Node) int64 {
	fd, _, _ := nd.Image()
	var s unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &s))
	return s.Blocks * 512
}

type allocated struct {
	addr uintptr
	size int64
	mark byte
}

func (a allocated) bytes() []byte { return bytesOf(a.addr, a.size) }

// TestAllocRandom allocates and frees memory of many sizes in random order. It checks that allocations are zeroed,
// aligned, disjoint, in a region, and keep their data. It also checks that nearly all memory has been released at the
// end.
func TestAllocRandom(t *testing.T) {
	nd := node(t)
	rnd := rand.New(rand.NewSource(1))
	var live []allocated
	start := taken(t, nd)
	free := func(i int) {
		a := live[i]
		require.Equal(t, bytes.Repeat([]byte{a.mark}, int(a.size)), a.bytes())
		require.NoError(t, FreeMem(nd, a.addr))
		live = slices.Delete(live, i, i+1)
	}
	for step := range 6000 {
		if len(live) > 400 || len(live) > 0 && rnd.Intn(5) < 2 {
			free(rnd.Intn(len(live)))
			continue
		}
		hints := DefaultHints()
		size := int64(1 + rnd.Intn(1<<(1+rnd.Intn(21))))
		if rnd.Intn(10) == 0 {
			hints.Alignment = 64 << rnd.Intn(12)
		}
		addr, err := AllocMem(nd, size, &hints)
		require.NoError(t, err)
		least := hints.Alignment
		if size >= shm.PageSize {
			least = max(least, shm.PageSize)
		}
		require.Zero(t, addr%uintptr(least), "%d bytes aligned to %d", size, least)
		a := allocated{addr, size, byte(step)}
		require.Equal(t, make([]byte, size), a.bytes(), "%d bytes", size)
		copy(a.bytes(), bytes.Repeat([]byte{a.mark}, int(size)))
		r, ok := shared.find(addr, size)
		require.True(t, ok)
		require.Equal(t, r.off+int64(addr-r.addr), offsetOf(t, nd, addr))
		live = append(live, a)
		if step%100 == 0 {
			slices.SortFunc(live, func(a, b allocated) int { return int(int64(a.addr) - int64(b.addr)) })
			for i := 1; i < len(live); i++ {
				require.LessOrEqual(t, live[i-1].addr+uintptr(live[i-1].size), live[i].addr)
			}
		}
	}
	for len(live) > 0 {
		free(len(live) - 1)
	}
	require.LessOrEqual(t, taken(t, nd)-start, int64(len(strides)*chunkSize+maxPooledBytes))
	unused := 0
	for _, a := range small.arenas {
		if a.used == 0 {
			unused++
		}
	}
	require.LessOrEqual(t, unused, 1)
	require.Equal(t, unused, small.emptyArenas)
	dropPool(nd)
	require.Empty(t, shared.list)
}

// offsetOf returns the offset in the node's memory of the byte at addr.
func offsetOf(t *testing.T, nd *shm.Node, addr uintptr) int64 {
	r, _ := shared.find(addr, 1)
	off := r.off + int64(addr-r.addr)
	b, err := nd.Map(off/shm.PageSize*shm.PageSize, shm.PageSize)
	require.NoError(t, err)
	defer nd.Unmap(b)
	here := bytesOf(addr, 1)
	was := here[0]
	here[0] ^= 0xff
	require.Equal(t, here[0], b[off%shm.PageSize])
	here[0] = was
	return off
}

// dropPool releases all arenas of the pool.
func dropPool(nd *shm.Node) {
	for _, a := range small.arenas {
		shared.remove(address(a.bytes), byWindow)
		nd.Unmap(a.bytes)
		nd.Release(a.off, arenaSize)
	}
	small = pool{byAddr: map[uintptr]*arena{}}
}

func TestFreeRefuses(t *testing.T) {
	nd := node(t)
	defer dropPool(nd)
	hints := DefaultHints()
	for _, size := range []int64{1, 64, 100, 3000, 20000, 40000, 200000, 1 << 20, 1<<20 + 1, 5 << 20} {
		addr, err := AllocMem(nd, size, &hints)
		require.NoError(t, err)
		other, err := AllocMem(nd, size, &hints)
		require.NoError(t, err)
		for _, wrong := range []uintptr{addr + 1, addr - 1, addr + 64, addr + uintptr(size), addr + chunkSize,
			addr + shm.PageSize, addr - shm.PageSize, 64, 1 << 40} {
			if wrong == other {
				continue
			}
			require.Equal(t, int32(abi.MPI_ERR_BASE), mpierr.ClassOf(FreeMem(nd, wrong)),
				"FreeMem must refuse an address %d bytes after an allocation of %d bytes",
				int64(wrong-addr), size)
		}
		require.NoError(t, FreeMem(nd, addr))
		require.Equal(t, int32(abi.MPI_ERR_BASE), mpierr.ClassOf(FreeMem(nd, addr)), "FreeMem must "+
			"refuse to free an allocation of %d bytes twice", size)
		require.NoError(t, FreeMem(nd, other))
	}
	require.NoError(t, FreeMem(nd, 0))
}

// TestAllocReuses checks that repeated allocation and freeing needs no new memory. It also checks that the memory of a
// chunk is released when all blocks of the chunk are free.
func TestAllocReuses(t *testing.T) {
	nd := node(t)
	defer dropPool(nd)
	hints := DefaultHints()
	first, err := AllocMem(nd, 100, &hints)
	require.NoError(t, err)
	start := taken(t, nd)
	require.NoError(t, FreeMem(nd, first))
	for range 100 {
		addr, err := AllocMem(nd, 100, &hints)
		require.NoError(t, err)
		require.Equal(t, first, addr)
		require.NoError(t, FreeMem(nd, addr))
	}
	require.Equal(t, start, taken(t, nd))
	large, err := AllocMem(nd, 200000, &hints)
	require.NoError(t, err)
	for _, size := range []int64{200000, 199000} {
		bytesOf(large, size)[size-1] = 1
		require.NoError(t, FreeMem(nd, large))
		again, err := AllocMem(nd, size, &hints)
		require.NoError(t, err)
		require.Equal(t, large, again)
		require.Zero(t, bytesOf(large, size)[size-1])
	}
	require.NoError(t, FreeMem(nd, large))
	require.Equal(t, start+roundToPages(200000), taken(t, nd))
	large, err = AllocMem(nd, 300000, &hints)
	require.NoError(t, err)
	require.Equal(t, start+roundToPages(300000), taken(t, nd))
	require.NoError(t, FreeMem(nd, large))
	start += roundToPages(300000)
	var all []uintptr
	for range 20 * chunkSize / 128 {
		addr, err := AllocMem(nd, 100, &hints)
		require.NoError(t, err)
		all = append(all, addr)
	}
	require.Equal(t, int64(19*chunkSize), taken(t, nd)-start)
	for i, addr := range all { // one block of each chunk stays allocated
		if i%(chunkSize/128) != 7 {
			require.NoError(t, FreeMem(nd, addr))
		}
	}
	require.Equal(t, int64(19*chunkSize), taken(t, nd)-start)
	for i, addr := range all {
		if i%(chunkSize/128) == 7 {
			require.NoError(t, FreeMem(nd, addr))
		}
	}
	require.Equal(t, start, taken(t, nd))
}
