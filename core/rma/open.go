package rma

import (
	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// reserve reserves, at the node leader, address space for the node's control memory and for the node's segment of an
// allocated window. It does nothing at other members.
func (w *Window) reserve(members records) error {
	if !w.local.isLeader() {
		return nil
	}
	if w.block == 0 {
		err := w.reserveControl()
		if err != nil && w.local.table {
			w.local.table = false
			err = w.reserveControl()
		}
		if err != nil {
			return err
		}
	}
	if w.allocates() {
		_, total, alignment := w.layout(members)
		if err := w.checkMemory(total); err != nil {
			return err
		}
		x, err := w.reserveRange(total, alignment)
		w.segmentOff = x.off
		return err
	}
	return nil
}

// reserveControl reserves address space for the control memory and allocates memory for its used pages.
func (w *Window) reserveControl() error {
	x, err := w.reserveRange(w.local.controlBytes(), shm.PageSize)
	for _, u := range w.local.usedPages() {
		if err == nil {
			err = w.host.Node.Commit(x.off+u.off, u.size)
		}
	}
	w.controlOff = x.off
	return err
}

// allocControl allocates zeroed control memory as a block of shared memory. If memory is short, it retries without the
// table of all members. Precondition: usesAllPages; otherwise reserveControl allocates the control memory.
func (w *Window) allocControl() (err error) {
	w.control, w.block, err = w.host.Node.AllocBlock(w.local.controlBytes())
	if err != nil && w.local.table {
		w.local.table = false
		w.control, w.block, err = w.host.Node.AllocBlock(w.local.controlBytes())
	}
	clear(w.control) // an earlier user of this block may have left data in it
	return err
}

// minCheckedBytes is the size in bytes of the smallest window for which checkMemory checks the available memory. The
// check would take a third of the time of creating a small window. For smaller windows, each member detects a lack of
// memory only when it allocates its own part.
const minCheckedBytes = 16 << 20

// checkMemory returns an error if the machine has less free memory than the window needs (`total` bytes), so that no
// member begins to allocate. It does not check control groups: each member checks the limits of its own group.
func (w *Window) checkMemory(total int64) error {
	if total < minCheckedBytes {
		return nil
	}
	room := limit.MachineMemory("/")
	if total > room.Usable() && w.host.Node.WaitAllReleased() {
		room = limit.MachineMemory("/")
	}
	if total > room.Usable() {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "cannot allocate %d bytes of window memory: only %d are "+
			"available %s", total,
			room.Usable(), room.LimitedBy)
	}
	return nil
}

// reserveRange reserves address space, which the window releases when it is closed.
func (w *Window) reserveRange(size, alignment int64) (x extent, err error) {
	if x.off, err = w.host.Node.Reserve(size, alignment); err == nil {
		x.size = size
		w.reserved = append(w.reserved, x)
	}
	return x, err
}

// layout returns the offset of each local member's part in this node's segment of an allocated window, and the size and
// alignment of the segment. Parts of MPI_Win_allocate begin on pages, so that each member's memory comes from its own
// NUMA node. Parts of MPI_Win_allocate_shared follow each other without a gap, or begin on pages if all members ask for
// that (alloc_shared_noncontig).
func (w *Window) layout(members records) (offsets []int64, total, alignment int64) {
	offsets = make([]int64, len(w.local.ranks))
	alignment = shm.PageSize
	contiguous := w.Flavor == abi.MPI_WIN_FLAVOR_SHARED && w.hints.Common.Promises&Noncontiguous == 0
	for i, r := range w.local.ranks {
		m := members.at(int(r))
		alignment = max(alignment, m.alignment)
		if !contiguous {
			to := max(m.alignment, shm.PageSize)
			total = (total + to - 1) / to * to
		}
		offsets[i] = total
		total += m.size
	}
	return offsets, total, alignment
}

// open maps the window's memory in this process, commits this member's part and creates the window descriptor.
func (w *Window) open(members records) (err error) {
	nd := w.host.Node
	switch {
	case w.control != nil:
	case w.block != 0:
		w.control, err = nd.OpenBlock(w.block, w.local.controlBytes())
	default:
		w.control, err = nd.Map(w.controlOff, roundToPages(w.local.controlBytes()))
	}
	if err != nil {
		return err
	}
	var offsets []int64
	if w.allocates() {
		var total, alignment int64
		offsets, total, alignment = w.layout(members)
		if total > 0 {
			if w.segment, err = nd.MapAligned(w.segmentOff, roundToPages(total), alignment); err != nil {
				return err
			}
			w.Base = address(w.segment) + uintptr(offsets[w.local.me])
		}
		if w.Size > 0 {
			// Commits all pages that hold a byte of this member's memory. If two members share a page, both
			// commit it.
			from, to := offsets[w.local.me]/shm.PageSize*shm.PageSize,
				roundToPages(offsets[w.local.me]+w.Size)
			if w.hugePages, err = nd.CommitMapped(w.segment[from:to], w.segmentOff+from,
				w.hints.pageKind()); err != nil {
				return err
			}
		}
		if w.segment != nil {
			shared.add(region{addr: address(w.segment), bytes: w.segment, off: w.segmentOff,
				huge: w.hugePages})
		}
		if w.Size == 0 {
			w.Base = 0
		}
	}
	w.targets = make([]Target, len(w.local.ranks))
	for i, r := range w.local.ranks {
		m := members.at(int(r))
		t := Target{Rank: r, Size: m.size, DispUnit: m.dispUnit, Peer: w.Group.World(int(r)),
			Address: uintptr(m.address)}
		switch {
		case w.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC:
			w.attachedOffs = append(w.attachedOffs, m.memfdOff)
		case i == w.local.me:
			t.Base, t.Direct, t.Address = w.Base, true, w.Base
		case w.segment != nil:
			t.Base, t.Direct = address(w.segment)+uintptr(offsets[i]), true
		case m.size == 0:
			t.Direct = true
		case m.inPlace != 0:
			if err := w.mapInPlace(&t, &m); err != nil {
				return err
			}
		case m.memfdOff >= 0:
			skip := m.memfdOff % shm.PageSize
			b, err := nd.Map(m.memfdOff-skip, roundToPages(m.size+skip))
			if err != nil {
				return err
			}
			w.mapped = append(w.mapped, b)
			t.Base, t.Direct = address(b)+uintptr(skip), true
		}
		w.targets[i] = t
	}
	p := Plan{Handle: w.Handle, Group: w.Group, Flavor: w.Flavor, Rank: w.Rank, Members: members.n(),
		Local: w.targets, Control: address(w.control), HintsAddr: address(w.control) +
			uintptr(w.local.hintsOff(0)),
		Hints: w.hints, AllowedPromises: w.allowed}
	p.Hints.HugePages = w.hugePages
	if w.attached != nil {
		p.Attached, p.AttachedBytes = address(w.attached.bytes), w.attached.committed
	}
	if w.spans() {
		p.Rows = w.local.writtenRows()
		p.MemberOf = func(rank int) Member {
			m := members.at(rank)
			return Member{Size: m.size, DispUnit: m.dispUnit, Peer: w.Group.World(rank)}
		}
		if w.local.table {
			p.Table = address(w.control) + uintptr(w.local.rowsOff())
		}
		if w.local.isLeader() {
			p.Leaders, p.Node = w.leaders()
			p.LeadersContext = w.leadersContext
		}
		if w.Size > 0 && w.Flavor != abi.MPI_WIN_FLAVOR_DYNAMIC {
			w.region = w.host.Data.Register(w.Base, w.Size)
		}
	}
	return w.host.Data.Install(&p)
}
