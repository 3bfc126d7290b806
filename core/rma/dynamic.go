package rma

import (
	"slices"
	"sort"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Dynamic windows (MPI-5.0 12.2.4). Each member keeps the table of what it has attached in its own part of the node's
// memory, where the origins look an address up by themselves: sorted by address, with a version that is odd while the
// table changes, so that a reader who came at a bad time looks again. The layout is struct gompi_attached in
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

	mu        sync.Mutex
	bytes     []byte
	committed int64
	list      []piece // sorted by address; what the table says
	// regions of no bytes by address, which the table does not say: they are there to be detached
	empty map[uintptr]int
}

type piece struct {
	addr uintptr
	size int64
	heap int64
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

// Attach is MPI_Win_attach. It is local and costs O(n) in the number of attached regions. MPI_ERR_RMA_FLAVOR: not a
// dynamic window; MPI_ERR_SIZE, MPI_ERR_BASE; MPI_ERR_RMA_ATTACH: it overlaps what is attached already, or too much is.
func (w *Window) Attach(addr uintptr, size int64) error {
	if w.own == nil {
		return mpierr.New(abi.MPI_ERR_RMA_FLAVOR, "memory can be attached to dynamic windows only")
	}
	switch {
	case size < 0:
		return mpierr.New(abi.MPI_ERR_SIZE, "size %d is negative", size)
	case addr == 0 && size > 0:
		return mpierr.New(abi.MPI_ERR_BASE, "base is NULL for %d bytes", size)
	case beyond(addr, size):
		return mpierr.New(abi.MPI_ERR_SIZE, "%d bytes at %#x reach beyond the address space", size, addr)
	}
	return w.own.attach(addr, size)
}

func (a *attached) attach(addr uintptr, size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if size == 0 {
		if a.empty == nil {
			a.empty = map[uintptr]int{}
		}
		a.empty[addr]++
		return nil
	}
	i := sort.Search(len(a.list), func(i int) bool { return a.list[i].addr >= addr })
	for _, j := range []int{i - 1, i} {
		if j >= 0 && j < len(a.list) && a.list[j].addr < addr+uintptr(size) && addr < a.list[j].addr+
			uintptr(a.list[j].size) {
			return mpierr.New(abi.MPI_ERR_RMA_ATTACH,
				"%d bytes at %#x overlap the %d bytes at %#x that are attached already", size, addr,
				a.list[j].size,
				a.list[j].addr)
		}
	}
	n := len(a.list) + 1
	if n > MostAttached {
		return mpierr.New(abi.MPI_ERR_RMA_ATTACH, "%d regions are attached already: more are not possible",
			MostAttached)
	}
	if need := int64(attachedHead + n*attachedEntry); need > a.committed {
		if err := a.nd.Commit(a.off+a.committed, attachedStep); err != nil {
			return err
		}
		a.committed += attachedStep
	}
	p := piece{addr, size, -1}
	if r, ok := shared.find(addr, size); ok {
		p.heap = r.off + int64(addr-r.addr)
	}
	a.insert(i, p)
	return nil
}

// overlaps returns whether memory that is attached, and reached by the ring path, lies in r.
func (a *attached) overlaps(r span) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.list {
		if p.heap < 0 && p.addr < r.hi && r.lo < p.addr+uintptr(p.size) {
			return true
		}
	}
	return false
}

// Detach is MPI_Win_detach: base is what was attached. An access that comes later is refused. MPI_ERR_RMA_FLAVOR;
// MPI_ERR_BASE: nothing was attached there.
func (w *Window) Detach(addr uintptr) error {
	if w.own == nil {
		return mpierr.New(abi.MPI_ERR_RMA_FLAVOR, "memory can be detached from dynamic windows only")
	}
	a := w.own
	a.mu.Lock()
	defer a.mu.Unlock()
	i := sort.Search(len(a.list), func(i int) bool { return a.list[i].addr >= addr })
	if i == len(a.list) || a.list[i].addr != addr {
		if n := a.empty[addr]; n > 1 {
			a.empty[addr] = n - 1
			return nil
		} else if n == 1 {
			delete(a.empty, addr)
			return nil
		}
		return mpierr.New(abi.MPI_ERR_BASE, "no memory is attached at %#x", addr)
	}
	a.remove(i)
	return nil
}

// AttachedTable returns where the table of rank's attached memory is mapped here; 0 if it cannot be mapped, or is on
// another node.
func (w *Window) AttachedTable(rank int) uintptr {
	if rank == w.Rank {
		return address(w.own.bytes)
	}
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
