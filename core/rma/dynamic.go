package rma

import (
	"slices"
	"sync"

	"gompirma/core/shm"
)

// Dynamic windows (MPI-5.0 12.2.4). Each member keeps the table of what it has attached in its own part of the node's
// memory, where the origins look an address up by themselves. C writes and reads it: struct gompi_attached in
// capi/win/attached.h.
//
//	0   version  uint64
//	8   count    uint64
//	64  entries  32 bytes each: address, size, offset of the memory in the node's memfd (-1: ordinary memory), 0

const (
	// MostAttached is the number of regions that a member can have attached to one window at a time.
	MostAttached  = 1 << 20
	attachedHead  = 64
	attachedEntry = 32
	attachedSize  = attachedHead + MostAttached*attachedEntry
	attachedStep  = 64 << 10 // memory for the table is taken in such steps
)

// attached is this member's own table.
type attached struct {
	nd  *shm.Node
	off int64 // in the memfd

	bytes []byte // mapped here

	mu        sync.Mutex
	committed int64
}

// takeAttached returns a table for a new window. To give its address space back takes a look at all limits of memory,
// and with it a window took 700 us, now 15 to 50: the table of one that is freed is kept, with the memory of one step.
func (h *Host) takeAttached() (*attached, error) {
	if a := h.table.Swap(nil); a != nil {
		return a, nil
	}
	return newAttached(h.Node)
}

// giveAttached takes back the table of a window that no process uses any longer.
func (h *Host) giveAttached(a *attached) {
	if a.committed == attachedStep {
		a.clear()
		if h.table.CompareAndSwap(nil, a) {
			return
		}
	}
	a.close()
}

// newAttached reserves the address space of a table, takes the memory of its first step and maps it.
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

// GrowAttached takes memory for another step of the own table, and returns the bytes that have memory then.
// MPI_ERR_NO_MEM.
func (w *Window) GrowAttached() (int64, error) {
	a := w.own
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.nd.Commit(a.off+a.committed, attachedStep); err != nil {
		return 0, err
	}
	a.committed += attachedStep
	return a.committed, nil
}

// AttachedTable returns where the table of another rank's attached memory is mapped here; 0 if it cannot be mapped, or
// is on another node.
func (w *Window) AttachedTable(rank int) uintptr {
	i, ok := slices.BinarySearch(w.near.ranks, int32(rank))
	if !ok {
		return 0
	}
	return w.MapAttached(w.tables[i], attachedSize)
}

// MapAttached returns where [off, off+size) of the node's memory is mapped here, mapping it if it is not yet; 0 if it
// cannot be mapped. The mappings stay until the window is freed. Small regions share them: a system lets a process have
// so many (vm.max_map_count).
func (w *Window) MapAttached(off, size int64) uintptr {
	if from := off / arenaSize * arenaSize; off+size <= from+arenaSize {
		if addr := w.mapOnce(from, arenaSize); addr != 0 {
			return addr + uintptr(off-from)
		}
	}
	from := off / shm.PageSize * shm.PageSize
	if addr := w.mapOnce(from, pages(off+size-from)); addr != 0 {
		return addr + uintptr(off-from)
	}
	return 0
}

// mapOnce returns where whole pages of the node's memory are mapped here for this window, 0 if they cannot be.
func (w *Window) mapOnce(off, size int64) uintptr {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := extent{off, size}
	if addr, ok := w.maps[key]; ok {
		return addr
	}
	b, err := w.host.Node.TryMap(off, size)
	if err != nil {
		return 0
	}
	w.mapped = append(w.mapped, b)
	if w.maps == nil {
		w.maps = map[extent]uintptr{}
	}
	w.maps[key] = address(b)
	return w.maps[key]
}
