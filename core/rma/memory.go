package rma

import (
	"slices"
	"sort"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Memory that this process has mapped from the node's memfd: the memory that MPI_Alloc_mem returned, and the memory of
// windows. If the buffer of a window lies in such a region, the other processes of the node can address it directly.

// region is one mapping.
type region struct {
	addr    uintptr
	bytes   []byte
	off     int64 // offset in the memfd
	creator creator
	huge    bool // consists of huge pages
}

// creator states which code of this process created a region.
type creator int

const (
	byWindow   creator = iota // a window, or the pool of small allocations (pool.go)
	byAllocMem                // MPI_Alloc_mem, for a single allocation; MPI_Free_mem removes the region
)

type regions struct {
	mu   sync.RWMutex
	list []region // sorted by address
}

var shared regions

// onRegion is called for each region that is added, and with offset -1 for each region that is removed.
var onRegion = func(addr uintptr, size, off int64) {}

// OnRegion sets the function that is notified of memory that windows can share. In a call of this function, `size`
// bytes at the address `addr` are at offset `off` of the memfd. The offset -1 means that windows can no longer share
// the memory at `addr`. Precondition: no other function of the package has been called yet.
func OnRegion(f func(addr uintptr, size, off int64)) { onRegion = f }

func (r *regions) add(x region) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(len(r.list), func(i int) bool { return r.list[i].addr > x.addr })
	r.list = append(r.list, region{})
	copy(r.list[i+1:], r.list[i:])
	r.list[i] = x
	onRegion(x.addr, int64(len(x.bytes)), x.off)
}

// find returns the region that contains [addr, addr+size).
func (r *regions) find(addr uintptr, size int64) (region, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := sort.Search(len(r.list), func(i int) bool { return r.list[i].addr > addr }) - 1
	if i < 0 || addr-r.list[i].addr > uintptr(len(r.list[i].bytes)) ||
		size > int64(uintptr(len(r.list[i].bytes))-(addr-r.list[i].addr)) {
		return region{}, false
	}
	return r.list[i], true
}

// remove removes the region that begins at `addr`, if its creator is `by`.
func (r *regions) remove(addr uintptr, by creator) (region, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(len(r.list), func(i int) bool { return r.list[i].addr >= addr })
	if i == len(r.list) || r.list[i].addr != addr || r.list[i].creator != by {
		return region{}, false
	}
	x := r.list[i]
	r.list = slices.Delete(r.list, i, i+1)
	onRegion(addr, 0, -1)
	return x, true
}

// AllocMem implements MPI_Alloc_mem (MPI-5.0 9.2). It allocates size bytes of zeroed memory that windows share with the
// processes of the node. The memory is aligned to at least hints.Alignment bytes. Memory of 4096 bytes or more begins
// on a page. If `hints` request huge pages, the memory consists of huge pages and is aligned to their size. Errors:
// MPI_ERR_ARG if size is negative; MPI_ERR_NO_MEM.
func AllocMem(nd *shm.Node, size int64, hints *Hints) (uintptr, error) {
	if size < 0 {
		return 0, mpierr.New(abi.MPI_ERR_ARG, "size is %d; it must not be negative", size)
	}
	if size == 0 {
		return 0, nil
	}
	alignment := hints.alignment(size)
	if isPooled(size, alignment) {
		// The pool may fail because no address space for another arena is free. There may still be enough
		// address space for this allocation alone.
		if addr, err := small.alloc(nd, size, alignment); err == nil {
			return addr, nil
		}
	}
	off, err := nd.Reserve(size, alignment)
	if err != nil {
		return 0, err
	}
	b, err := nd.MapAligned(off, roundToPages(size), alignment)
	if err != nil {
		nd.Release(off, size)
		return 0, err
	}
	huge, err := nd.CommitMapped(b, off, hints.pageKind())
	if err != nil {
		nd.Unmap(b)
		nd.Release(off, size)
		return 0, err
	}
	addr := address(b)
	shared.add(region{addr: addr, bytes: b, off: off, creator: byAllocMem, huge: huge})
	return addr, nil
}

// pageKind returns the kind of pages that the hints request.
func (h *Hints) pageKind() shm.Pages {
	if h.HugePages {
		return shm.HugePages
	}
	return shm.SmallPages
}

// alignment returns the alignment of size bytes of memory. This is hints.Alignment, or the size of a huge page if that
// is larger, the hints ask for huge pages, and `size` is at least one huge page.
func (h *Hints) alignment(size int64) int64 {
	if h.HugePages && size >= shm.HugePage {
		return max(h.Alignment, shm.HugePage)
	}
	return h.Alignment
}

// FreeMem implements MPI_Free_mem. Error: MPI_ERR_BASE if MPI_Alloc_mem did not return addr, or if addr has been freed
// already.
func FreeMem(nd *shm.Node, addr uintptr) error {
	if addr == 0 {
		return nil
	}
	known, ok := small.free(nd, addr)
	if !known {
		var x region
		if x, ok = shared.remove(addr, byAllocMem); ok {
			nd.Unmap(x.bytes)
			nd.Release(x.off, int64(len(x.bytes)))
		}
	}
	if !ok {
		return mpierr.New(abi.MPI_ERR_BASE,
			"%#x was not returned by MPI_Alloc_mem, or has been freed", addr)
	}
	return nil
}

func roundToPages(n int64) int64 { return (n + shm.PageSize - 1) / shm.PageSize * shm.PageSize }
