package shm

import (
	"sort"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// heap allocates page-aligned extents of this process' own heap region. Only this process allocates there, so the lock
// is in private memory. Therefore a process that dies while it holds the lock cannot block other processes.
type heap struct {
	mu   sync.Mutex
	base int64    // offset of the region in the memfd
	size int64    // size of the region in bytes
	end  int64    // end of the highest extent in use
	peak *int64   // the highest value of `end` so far, in shared memory
	free []extent // sorted by offset, no two adjacent
}

type extent struct{ off, size int64 }

func (h *heap) init(base, size int64, peak *int64) {
	h.base, h.size, h.end, h.peak = base, size, base, peak
	atomic.StoreInt64(peak, base)
}

// alloc allocates size bytes (a multiple of PageSize) aligned to align (a power of two >= PageSize) and returns their
// offset. It returns false if the region is full.
func (h *heap) alloc(size, align int64) (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, e := range h.free {
		off := roundUp(e.off, align)
		if off+size > e.off+e.size {
			continue
		}
		rest := []extent{}
		if off > e.off {
			rest = append(rest, extent{e.off, off - e.off})
		}
		if tail := e.off + e.size - (off + size); tail > 0 {
			rest = append(rest, extent{off + size, tail})
		}
		h.free = append(h.free[:i], append(rest, h.free[i+1:]...)...)
		return off, true
	}
	off := roundUp(h.end, align)
	if off+size > h.base+h.size {
		return 0, false
	}
	if off > h.end {
		h.freeLocked(extent{h.end, off - h.end})
	}
	h.end = off + size
	if h.end > atomic.LoadInt64(h.peak) {
		atomic.StoreInt64(h.peak, h.end)
	}
	return off, true
}

func (h *heap) freeExtent(e extent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.freeLocked(e)
}

func (h *heap) freeLocked(e extent) {
	i := sort.Search(len(h.free), func(i int) bool { return h.free[i].off > e.off })
	h.free = append(h.free, extent{})
	copy(h.free[i+1:], h.free[i:])
	h.free[i] = e
	if i+1 < len(h.free) && h.free[i].off+h.free[i].size == h.free[i+1].off {
		h.free[i].size += h.free[i+1].size
		h.free = append(h.free[:i+1], h.free[i+2:]...)
	}
	if i > 0 && h.free[i-1].off+h.free[i-1].size == h.free[i].off {
		h.free[i-1].size += h.free[i].size
		h.free = append(h.free[:i], h.free[i+1:]...)
	}
	if n := len(h.free); n > 0 && h.free[n-1].off+h.free[n-1].size == h.end {
		h.end = h.free[n-1].off
		h.free = h.free[:n-1]
	}
}

// Reserve allocates size bytes of address space (rounded up to whole pages) in this process' heap region and returns
// their offset in the memfd. The pages have no memory yet. Each process calls Commit for the part of the range that it
// will use. So each process gets memory of its own NUMA node. Errors: MPI_ERR_NO_MEM if the region is used up.
func (nd *Node) Reserve(size, align int64) (int64, error) {
	if align < PageSize {
		align = PageSize
	}
	if size < 0 || size > nd.heapStride {
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM, "cannot allocate %d bytes of shared memory: the maximum is "+
			"%d", size,
			nd.heapStride)
	}
	off, ok := nd.heap.alloc(roundUp(max(size, 1), PageSize), align)
	if !ok && nd.WaitReleased() {
		off, ok = nd.heap.alloc(roundUp(max(size, 1), PageSize), align)
	}
	if !ok {
		return 0, mpierr.New(abi.MPI_ERR_NO_MEM,
			"cannot allocate %d bytes of shared memory: the reserved address space of %d bytes is used "+
				"up", size, nd.heapStride)
	}
	return off, nil
}

// Release frees the memory and the address space of a range that Reserve returned. Large amounts are released in the
// background (release.go). Precondition: no process has the range mapped any longer.
func (nd *Node) Release(off, size int64) {
	nd.releaseExtent(extent{off, roundUp(max(size, 1), PageSize)})
}

// Map maps [off, off+size) of the memfd as shared memory, for reading and writing, at an address that the system
// chooses. off and size must be multiples of the page size. Errors: MPI_ERR_NO_MEM; the text names the limit that may
// have been reached.
func (nd *Node) Map(off, size int64) ([]byte, error) {
	b, err := nd.TryMap(off, size)
	return b, noMapping(size, err)
}

// TryMap does the same as Map, for callers that have a fallback: it returns the error of the system call unchanged.
func (nd *Node) TryMap(off, size int64) ([]byte, error) {
	if off < 0 || size <= 0 || off > nd.end-size {
		return nil, mpierr.New(abi.MPI_ERR_INTERN, "cannot map %d bytes at offset %d of shared memory of %d "+
			"bytes (internal error)",
			size, off, nd.end)
	}
	p, err := nd.memory.mapping(nil, off, size)
	if err != nil {
		return nil, err
	}
	return bytesAt(p, size), nil
}

// MapAligned does the same as Map, at an address that is a multiple of `align`, a power of two.
func (nd *Node) MapAligned(off, size, align int64) ([]byte, error) {
	if align <= PageSize {
		return nd.Map(off, size)
	}
	// Reserve address space for the worst case. mapInto uses `size` bytes from the first aligned address on, and
	// unmaps all other pages.
	room, err := unix.MmapPtr(-1, 0, nil, uintptr(size+align), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, noMapping(size+align, err)
	}
	return nd.mapInto(room, off, size, align)
}

// noMapping converts an error of mmap(2) to MPI_ERR_NO_MEM. It returns other errors and nil unchanged.
func noMapping(size int64, err error) error {
	if _, of := err.(unix.Errno); !of {
		return err
	}
	return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot map %d bytes of shared memory: %v%s", size, err,
		limit.MmapErrorDetail("/", err))
}
