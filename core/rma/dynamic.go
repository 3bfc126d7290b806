package rma

import (
	"slices"
	"sync"

	"gompirma/core/shm"
)

// Dynamic windows (MPI-5.0 12.2.4). Each member has a table of the memory that it has attached, with at most
// MaxAttached entries. The table is in the member's part of the node's memory, where origins read it without the
// target's help. C writes and reads the table: struct gompi_attached_regions in capi/win/attached.h.

const (
	attachedSize = attachedHead + MaxAttached*AttachedEntryBytes
	attachedStep = 64 << 10 // memory for the table is allocated in steps of this size
)

// attached is this member's table of attached memory.
type attached struct {
	nd  *shm.Node
	off int64 // offset of the table in the memfd

	bytes []byte // the table, mapped in this process

	mu        sync.Mutex
	committed int64
}

// acquireAttached returns a table for a new window. It uses the cached table of a freed window, if there is one. A
// window with a new table costs 700 us, because all memory limits are checked when the address space of a table is
// released. With a cached table it costs 15 to 50 us. At most one table is cached, with the memory of one step.
func (h *Host) acquireAttached() (*attached, error) {
	if a := h.cachedAttached.Swap(nil); a != nil {
		return a, nil
	}
	return newAttached(h.Node)
}

// releaseAttached frees or caches the table of a window. Precondition: no process uses the table any longer.
func (h *Host) releaseAttached(a *attached) {
	if a.committed == attachedStep {
		a.clear()
		if h.cachedAttached.CompareAndSwap(nil, a) {
			return
		}
	}
	a.close()
}

// newAttached reserves the address space of a table, allocates memory for the first step (attachedStep bytes) and maps
// the table.
func newAttached(nd *shm.Node) (*attached, error) {
	off, err := nd.Reserve(attachedSize, 0)
	if err != nil {
		return nil, err
	}
	a := &attached{nd: nd, off: off}
	if err = nd.Commit(off, attachedStep); err == nil {
		a.committed = attachedStep
		a.bytes, err = nd.Map(off, attachedSize)
	}
	if err != nil {
		nd.Release(off, attachedSize)
		return nil, err
	}
	return a, nil
}

func (a *attached) close() {
	a.nd.Unmap(a.bytes)
	a.nd.Release(a.off, attachedSize)
}

// GrowAttached allocates memory for another step (attachedStep bytes) of this member's table. It returns the number of
// bytes of the table that then have memory. Error: MPI_ERR_NO_MEM.
func (w *Window) GrowAttached() (int64, error) {
	a := w.attached
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.nd.Commit(a.off+a.committed, attachedStep); err != nil {
		return 0, err
	}
	a.committed += attachedStep
	return a.committed, nil
}

// AttachedTable returns the address at which another rank's table of attached memory is mapped in this process. It
// returns 0 if the table cannot be mapped or the rank is on another node.
func (w *Window) AttachedTable(rank int) uintptr {
	i, ok := slices.BinarySearch(w.local.ranks, int32(rank))
	if !ok {
		return 0
	}
	return w.MapAttached(w.attachedOffs[i], attachedSize)
}

// MapAttached returns the address in this process of [off, off+size) of the node's memory. It maps this memory if
// necessary, and returns 0 if the memory cannot be mapped. The mappings stay until the window is freed. Regions within
// one arena share a mapping, since the system limits the number of mappings of a process (vm.max_map_count).
func (w *Window) MapAttached(off, size int64) uintptr {
	if from := off / arenaSize * arenaSize; off+size <= from+arenaSize {
		if addr := w.mapCached(from, arenaSize); addr != 0 {
			return addr + uintptr(off-from)
		}
	}
	from := off / shm.PageSize * shm.PageSize
	if addr := w.mapCached(from, roundToPages(off+size-from)); addr != 0 {
		return addr + uintptr(off-from)
	}
	return 0
}

// mapCached returns the address at which whole pages of the node's memory are mapped for this window, and maps them if
// necessary. It returns 0 if they cannot be mapped.
func (w *Window) mapCached(off, size int64) uintptr {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := extent{off, size}
	if addr, ok := w.attachedMaps[key]; ok {
		return addr
	}
	b, err := w.host.Node.TryMap(off, size)
	if err != nil {
		return 0
	}
	w.mapped = append(w.mapped, b)
	if w.attachedMaps == nil {
		w.attachedMaps = map[extent]uintptr{}
	}
	w.attachedMaps[key] = address(b)
	return w.attachedMaps[key]
}
