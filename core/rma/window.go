// Package rma owns windows (MPI-5.0 12): their creation and end, memory, hints and the table of epochs. It decides
// everything about a window when it is created and writes it into a slot; from then on the calls of the data path work
// from the slot alone, in capi's C code, without coming back.
//
// Words used here and in capi: a *process* is numbered on its node; a *rank* is the rank in a window's group; a *slot*
// is what C knows of a window; a target is *direct* if its memory is mapped in this process, otherwise operations on it
// go to the *agent* of its process.
package rma

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/group"
	"gompirma/core/handle"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Host is what windows need from the process they live in. package core provides it.
type Host struct {
	Node *shm.Node
	Data DataPath
	// NodeIndex returns the number on this node of the process with a world rank, -1 for one on another node.
	NodeIndex func(world int32) int
	// Allgather exchanges blocks of equal size among the members of c, in the order of their ranks.
	Allgather func(c *comm.Comm, mine []byte) ([]byte, error)
	// InPieces is that of the node: it calls take for size bytes, piece after piece, as long as memory for cost
	// bytes of them is there.
	InPieces func(size, cost int64, take func(at, size int64) error) error
}

// Window is an MPI window at one member. What is fixed at creation is read freely; the rest is safe for concurrent use.
type Window struct {
	Handle   uintptr
	Group    *group.Group
	Rank     int
	Flavor   int32 // abi.MPI_WIN_FLAVOR_
	Base     uintptr
	Size     int64 // bytes
	DispUnit int32
	Targets  []Target

	Errhandler atomic.Uint64 // handle of the error handler
	Attrs      any           // core/attr: cached attributes, guarded by it

	host      *Host
	own       *attached // of a dynamic window
	tables    []int64   // of a dynamic window: where the members' tables are in the memfd
	control   []byte    // control memory
	segment   []byte    // memory of an allocated window, mapped whole; nil for MPI_Win_create
	hugePages bool      // some of the member's own memory is of huge pages
	mapped    [][]byte
	reserved  []extent     // what this member, the leader, reserved for all: control memory, then the segment
	held      []span       // memory shared in place that this window uses
	followed  map[int]bool // members whose memory was mapped since
	hotTries  int          // times that it was hot and could not be shared in place
	ending    atomic.Bool

	controlOff, segmentOff int64 // where those are in the memfd

	mu    sync.Mutex
	maps  map[extent]uintptr // of a dynamic window: attached memory of others that is mapped here
	name  string
	hints Hints
}

type extent struct{ off, size int64 }

// MemberSize is sizeof(struct gompi_win_member) in capi/win/win.h, compared at compile time there.
const MemberSize = 256

// SharedSize returns the size of the control memory of a window of n members: members, barrier, posts (capi/win/win.h),
// a line that counts who has left, and the members' words for MPI_Win_set_info.
func SharedSize(n int) int64 {
	return hintsOffset(n, n)
}

// hintsOffset returns where in control memory a member of n leaves its hints for MPI_Win_set_info: the class of what is
// wrong with them, then Hints.common.
func hintsOffset(n, rank int) int64 {
	return leftOffset(n) + shm.CacheLine + int64(rank)*(4+commonSize)
}

func leftOffset(n int) int64 {
	used := MemberSize*int64(n) + shm.BarrierSize(n) + int64(n)*int64(n)
	return (used + shm.CacheLine - 1) / shm.CacheLine * shm.CacheLine
}

// Spec is what a member asks for when it creates a window.
type Spec struct {
	Flavor   int32
	Base     uintptr // MPI_Win_create only
	Size     int64   // bytes
	DispUnit int32
	Info     func(key string) (string, bool) // look-up of info keys; nil: no info
	// what is wrong with the member's arguments already; the others learn that creation fails
	Err error
}

// record is what members tell each other first.
type record struct {
	class     int32
	flavor    int32
	unit      int32
	size      int64
	heap      int64 // offset of the memory in the memfd, -1: ordinary memory
	address   uint64
	proposal  uint64 // place of a handle, see handles.go
	alignment int64
	// what of the memory is shared in place: nothing, wholePagesShared, allShared; heap is where the window would
	// begin
	inPlace uint8
	hints   Hints // Hints.common, as this member asks for them
}

const (
	recordHints = 56 // where its hints begin
	recordSize  = recordHints + commonSize
)

func (r *record) encode() []byte {
	b := make([]byte, recordSize)
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(r.class))
	le.PutUint32(b[4:], uint32(r.flavor))
	le.PutUint32(b[8:], uint32(r.unit))
	le.PutUint32(b[12:], uint32(r.proposal))
	le.PutUint64(b[16:], uint64(r.size))
	le.PutUint64(b[24:], uint64(r.heap))
	le.PutUint64(b[32:], r.address)
	le.PutUint64(b[40:], uint64(r.alignment))
	le.PutUint32(b[48:], uint32(r.proposal>>32))
	b[52] = r.inPlace
	r.hints.putCommon(b[recordHints:])
	return b
}

func decode(b []byte) record {
	le := binary.LittleEndian
	return record{
		class: int32(le.Uint32(b[0:])), flavor: int32(le.Uint32(b[4:])), unit: int32(le.Uint32(b[8:])),
		proposal: uint64(le.Uint32(b[48:]))<<32 | uint64(le.Uint32(b[12:])), size: int64(le.Uint64(b[16:])),
		heap: int64(le.Uint64(b[24:])), address: le.Uint64(b[32:]),
		alignment: int64(le.Uint64(b[40:])), inPlace: b[52],
		hints: commonOf(b[recordHints:]),
	}
}

// Create makes a window, collectively over c: MPI_Win_create, MPI_Win_allocate and MPI_Win_allocate_shared (MPI-5.0
// 12.2.1 to 12.2.3).
//
// It costs a member three exchanges of 64 bytes or less and 32 bytes of memory a member besides the shared control
// memory. If a member's arguments are wrong or there is not enough memory, all members return an error, the one that
// found it with its class, the others with the class of the first that did. MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_ARG,
// MPI_ERR_INFO_VALUE, MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED: the members cannot share memory.
func Create(h *Host, c *comm.Comm, spec Spec) (*Window, error) {
	hints, err := DefaultHints(), spec.Err
	if err == nil {
		hints, err = check(&spec)
	}
	if c.IsInter() {
		return nil, mpierr.New(abi.MPI_ERR_COMM, "the communicator is an intercommunicator")
	}
	n := c.Size()
	w := &Window{host: h, Group: c.Group(), Rank: c.Rank(), Flavor: spec.Flavor, Base: spec.Base, Size: spec.Size,
		DispUnit: spec.DispUnit, hints: hints}
	w.Errhandler.Store(abi.MPI_ERRORS_ARE_FATAL)

	place, ok := windows.propose(0)
	if !ok {
		err = tooMany()
	}
	mine := record{class: mpierr.ClassOf(err), flavor: spec.Flavor, unit: spec.DispUnit, size: spec.Size, heap: -1,
		address: uint64(spec.Base), proposal: place,
		alignment: hints.alignment(spec.Size), hints: hints}
	if spec.Flavor == abi.MPI_WIN_FLAVOR_CREATE && spec.Size > 0 && err == nil {
		if r, ok := shared.find(spec.Base, spec.Size); ok {
			mine.heap = r.off + int64(spec.Base-r.addr)
			w.hugePages = r.huge
			if hints.InPlace == InPlaceOn || hints.InPlace == InPlaceRequired {
				w.hints.Shared = "true"
			}
		} else {
			mine.heap, mine.inPlace, err = w.enterInPlace()
		}
		mine.class = mpierr.ClassOf(err)
	}
	if spec.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC && err == nil {
		if w.own, err = newAttached(h.Node); err == nil {
			mine.heap = w.own.off
		}
		mine.class = mpierr.ClassOf(err)
	}
	all, xerr := h.Allgather(c, mine.encode())
	if xerr != nil {
		w.close(neverMade)
		windows.withdraw(place)
		return nil, xerr
	}
	members := make([]record, n)
	for i := range members {
		members[i] = decode(all[i*recordSize:])
	}
	if err := agree(err, members, &w.hints); err != nil {
		w.close(neverMade)
		windows.withdraw(place)
		return nil, err
	}

	// The lowest member of the node reserves; its reservation and the window's handle are agreed on together.
	err = w.reserve(members)
	place, xerr = w.agreeOnHandle(c, members, place, &err)
	if xerr == nil && err == nil {
		err = w.open(c, members)
	}
	if xerr == nil {
		xerr = w.allFine(c, &err)
	}
	if xerr != nil || err != nil {
		w.close(neverMade)
		windows.withdraw(place) // last: from here on another thread may make a window with this handle
		if xerr != nil {
			return nil, xerr
		}
		return nil, err
	}
	windows.enter(w, place)
	return w, nil
}

// check looks at one member's arguments and returns its hints.
func check(spec *Spec) (Hints, error) {
	switch {
	case spec.Size < 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_SIZE, "size %d is negative", spec.Size)
	case spec.DispUnit <= 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_DISP, "displacement unit %d is not positive", spec.DispUnit)
	case spec.Flavor == abi.MPI_WIN_FLAVOR_CREATE && spec.Base == 0 && spec.Size > 0:
		return Hints{}, mpierr.New(abi.MPI_ERR_BASE, "base is NULL for a window of %d bytes", spec.Size)
	case spec.Flavor != abi.MPI_WIN_FLAVOR_CREATE && spec.Size > shm.HeapStride:
		return Hints{}, mpierr.New(abi.MPI_ERR_SIZE, "size %d: at most %d bytes are possible", spec.Size,
			int64(shm.HeapStride))
	}
	return NewHints(spec.Info)
}

// agree turns the members' verdicts on their own arguments into one for all, compares what must be the same, and gives
// hints the values in force.
func agree(own error, members []record, hints *Hints) error {
	if own != nil {
		return own
	}
	for i, m := range members {
		if m.class != abi.MPI_SUCCESS {
			return mpierr.New(m.class, "the arguments of rank %d are wrong", i)
		}
	}
	first := members[0]
	for i, m := range members {
		if m.flavor != first.flavor {
			return mpierr.New(abi.MPI_ERR_WIN,
				"rank %d creates a window of flavor %d, rank 0 one of flavor %d", i, m.flavor,
				first.flavor)
		}
	}
	asked := make([]Hints, len(members))
	for i, m := range members {
		asked[i] = m.hints
	}
	hints.combine(asked)
	hints.keepTrue(len(members), func(i int) (int64, int32) { return members[i].size, members[i].unit })
	return nil
}

// leader is the member that reserves memory for all.
const leader = 0

// reserve takes, at the leader, the address space of the control memory and of an allocated window's memory.
func (w *Window) reserve(members []record) error {
	if w.Rank != leader {
		return nil
	}
	sizes := []int64{SharedSize(len(members))}
	alignment := int64(shm.PageSize)
	if w.allocates() {
		_, total := layout(members)
		sizes = append(sizes, total)
		for _, m := range members {
			alignment = max(alignment, m.alignment)
		}
		// In vain if the machine has not that much. What the members' control groups allow each finds out for
		// itself.
		if room := limit.MachineMemory("/"); total > room.Usable() {
			return mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of window memory: only %d are available %s",
				total, room.Usable(), room.By)
		}
	}
	for _, size := range sizes {
		off, err := w.host.Node.Reserve(size, alignment)
		if err != nil {
			return err
		}
		w.reserved = append(w.reserved, extent{off, size})
	}
	return w.host.Node.Commit(w.reserved[0].off, w.reserved[0].size)
}

// allocates returns whether the window's memory is made with it.
func (w *Window) allocates() bool {
	return w.Flavor == abi.MPI_WIN_FLAVOR_ALLOCATE || w.Flavor == abi.MPI_WIN_FLAVOR_SHARED
}

// layout returns where each member's part of an allocated window begins, and the size of all. Parts of MPI_Win_allocate
// begin on pages, so that each member's memory comes from its own NUMA node; those of MPI_Win_allocate_shared follow
// each other without a gap unless all members ask for pages.
func layout(members []record) (offsets []int64, total int64) {
	offsets = make([]int64, len(members))
	contiguous := members[0].flavor == abi.MPI_WIN_FLAVOR_SHARED && slices.ContainsFunc(members,
		func(m record) bool { return !m.hints.NonContiguous })
	for i, m := range members {
		if !contiguous {
			to := max(m.alignment, shm.PageSize)
			total = (total + to - 1) / to * to
		}
		offsets[i] = total
		total += m.size
	}
	return offsets, total
}

func tooMany() error {
	return mpierr.New(abi.MPI_ERR_NO_MEM, "%d windows exist already", handle.MaxWindows)
}

// agreeOnHandle finds a place whose index is free at all members, and distributes the leader's reservations with it.
func (w *Window) agreeOnHandle(c *comm.Comm, members []record, mine uint64, err *error) (place uint64, fatal error) {
	place = mine
	var highest uint64
	for _, m := range members {
		highest = max(highest, m.proposal)
	}
	for {
		if place != highest {
			windows.withdraw(place)
			var ok bool
			if place, ok = windows.propose(highest); !ok && *err == nil {
				*err = tooMany()
			}
		}
		b := make([]byte, 32)
		le := binary.LittleEndian
		le.PutUint32(b[0:], uint32(mpierr.ClassOf(*err)))
		if place == highest {
			b[4] = 1
		}
		le.PutUint64(b[8:], place)
		for i, r := range w.reserved {
			le.PutUint64(b[16+8*i:], uint64(r.off))
		}
		all, xerr := w.host.Allgather(c, b)
		if xerr != nil {
			return place, xerr
		}
		done := true
		for i := 0; i < len(members); i++ {
			m := all[32*i:]
			if class := int32(le.Uint32(m)); class != 0 && *err == nil {
				*err = mpierr.New(class, "rank %d could not reserve the memory", i)
			}
			done = done && m[4] == 1
			highest = max(highest, le.Uint64(m[8:]))
		}
		if *err != nil {
			return place, nil
		}
		if done {
			w.Handle = handle.Make(handle.Win, numberAt(place))
			// What the leader reserved, as far as the others need it: offsets are followed by the sizes
			// that everybody can compute.
			w.controlOff = int64(le.Uint64(all[32*leader+16:]))
			w.segmentOff = int64(le.Uint64(all[32*leader+24:]))
			return place, nil
		}
	}
}

// open maps what the window needs and makes its slot.
func (w *Window) open(c *comm.Comm, members []record) (err error) {
	nd := w.host.Node
	n := len(members)
	if w.control, err = nd.Map(w.controlOff, pages(SharedSize(n))); err != nil {
		return err
	}
	var offsets []int64
	if w.allocates() {
		var total, alignment int64
		offsets, total = layout(members)
		for _, m := range members {
			alignment = max(alignment, m.alignment)
		}
		if total > 0 {
			if w.segment, err = nd.MapAligned(w.segmentOff, pages(total), alignment); err != nil {
				return err
			}
			w.Base = address(w.segment) + uintptr(offsets[w.Rank])
		}
		if w.Size > 0 {
			// Whole pages, each by the member whose memory begins in it or covers it; a page that two
			// members share is committed by both.
			from, to := offsets[w.Rank]/shm.PageSize*shm.PageSize, pages(offsets[w.Rank]+w.Size)
			if w.hugePages, err = nd.CommitMapped(w.segment[from:to], w.segmentOff+from,
				w.hints.pages()); err != nil {
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
	w.Targets = make([]Target, n)
	for i, m := range members {
		t := Target{Size: m.size, DispUnit: m.unit, Peer: w.Group.World(i),
			Address: uintptr(m.address)}
		switch {
		case w.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC:
			w.tables = append(w.tables, m.heap)
		case i == w.Rank:
			t.Base, t.Direct, t.Address = w.Base, true, w.Base
		case w.segment != nil:
			t.Base, t.Direct = address(w.segment)+uintptr(offsets[i]), true
		case m.size == 0:
			t.Direct = true
		case m.inPlace != 0:
			if err := w.mapInPlace(&t, &m); err != nil {
				return err
			}
		case m.heap >= 0:
			skip := m.heap % shm.PageSize
			b, err := nd.Map(m.heap-skip, pages(m.size+skip))
			if err != nil {
				return err
			}
			w.mapped = append(w.mapped, b)
			t.Base, t.Direct = address(b)+uintptr(skip), true
		}
		w.Targets[i] = t
	}
	return w.host.Data.Install(&Plan{Handle: w.Handle, Flavor: w.Flavor, Rank: w.Rank, Targets: w.Targets,
		Shared: address(w.control), Granularity: w.hints.Granularity, HotAfter: w.hotAfter(members)})
}

// allFine is the last exchange of creation: a window exists at all members or at none.
func (w *Window) allFine(c *comm.Comm, err *error) error {
	b := make([]byte, 4)
	binary.LittleEndian.PutUint32(b, uint32(mpierr.ClassOf(*err)))
	all, xerr := w.host.Allgather(c, b)
	if xerr != nil {
		return xerr
	}
	for i := 0; i < c.Size() && *err == nil; i++ {
		if class := int32(binary.LittleEndian.Uint32(all[4*i:])); class != 0 {
			*err = mpierr.New(class, "rank %d could not make the window", i)
		}
	}
	return nil
}

// ending is how a window ends.
type ending int

const (
	neverMade ending = iota // its creation failed
	freed                   // it was there: its control memory is in use until all members have come to the end
)

// close gives back what this member has of the window.
func (w *Window) close(how ending) {
	nd := w.host.Node
	if w.Handle != 0 {
		w.host.Data.Remove(w.Handle)
	}
	w.leaveInPlace()
	if w.segment != nil {
		shared.remove(address(w.segment), byWindow)
		nd.Unmap(w.segment)
	}
	for _, b := range w.mapped {
		nd.Unmap(b)
	}
	if w.control != nil {
		if how == freed {
			left := counter(w.control, leftOffset(len(w.Targets)))
			left.Add(1)
			if w.Rank == leader {
				// What the leader gives back may be used again at once: nobody may look at it any more.
				nd.Wait(func() bool { return int(left.Load()) == len(w.Targets) })
			} else {
				nd.Wake(w.host.NodeIndex(w.Group.World(leader)))
			}
		}
		nd.Unmap(w.control)
	}
	for _, r := range w.reserved {
		nd.Release(r.off, r.size)
	}
	if w.own != nil {
		w.own.close()
		w.own = nil
	}
	w.control, w.segment, w.mapped, w.reserved = nil, nil, nil, nil
}

// Free is MPI_Win_free (MPI-5.0 12.2.5), collective over the window's group. before is called when the epochs have been
// looked at and before the members meet; its error ends the call, and the window lives on. MPI_ERR_RMA_SYNC: an epoch
// is open; the window is then unchanged, and before has not been called.
func (w *Window) Free(before func() error) error {
	if err := w.host.Data.MayFree(w.Handle); err != nil {
		return err
	}
	if err := before(); err != nil {
		return err
	}
	if err := w.host.Data.MayFree(w.Handle); err != nil { // before runs code of the application
		return err
	}
	w.ending.Store(true)
	if err := w.host.Data.Meet(w.Handle, MeetToFree); err != nil {
		return err
	}
	w.close(freed)
	windows.remove(w.Handle)
	return nil
}

// Name returns the window's name, "" if it was never given one.
func (w *Window) Name() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.name
}

// SetName names the window.
func (w *Window) SetName(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.name = name
}

// Hints returns the hints in force.
func (w *Window) Hints() Hints {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hints
	h.HugePages = w.hugePages
	return h
}

// SetHints is MPI_Win_set_info (MPI-5.0 12.2.7), collective over the window's group: two barriers. err is what is wrong
// with this member's arguments already, info nil stands for no keys. Keys of the memory that is there keep their
// values. MPI_ERR_INFO_VALUE: a value of a member's is wrong; nothing has changed anywhere, and all members return an
// error.
func (w *Window) SetHints(info func(key string) (string, bool), err error) error {
	w.mu.Lock()
	old := w.hints
	w.mu.Unlock()
	n := old
	if err == nil && info != nil {
		err = n.Apply(info)
	}
	n.Alignment, n.HugePages, n.InPlace = old.Alignment, old.HugePages, old.InPlace // of memory that is there
	members := len(w.Targets)
	mine := w.control[hintsOffset(members, w.Rank):]
	binary.LittleEndian.PutUint32(mine, uint32(mpierr.ClassOf(err)))
	n.putCommon(mine[4:])
	if merr := w.host.Data.Meet(w.Handle, MeetToSetHints); merr != nil {
		return merr
	}
	hints := make([]Hints, members)
	for i := range hints {
		theirs := w.control[hintsOffset(members, i):]
		if class := int32(binary.LittleEndian.Uint32(theirs)); class != abi.MPI_SUCCESS && err == nil {
			err = mpierr.New(class, "the arguments of rank %d are wrong", i)
		}
		hints[i] = commonOf(theirs[4:])
	}
	// Nobody may leave other hints before all have read these.
	if merr := w.host.Data.Meet(w.Handle, MeetToSetHints); merr != nil {
		return merr
	}
	if err != nil {
		return err
	}
	n.combine(hints)
	n.keepTrue(members, func(i int) (int64, int32) { return w.Targets[i].Size, w.Targets[i].DispUnit })
	w.mu.Lock()
	defer w.mu.Unlock()
	n.Shared = w.hints.Shared // which the waits above may have changed
	w.hints = n
	w.host.Data.SetGranularity(w.Handle, n.Granularity)
	return nil
}

// SharedQuery is MPI_Win_shared_query (MPI-5.0 12.2.3): size, displacement unit and address here of rank's memory.
// MPI_PROC_NULL stands for the lowest rank of this node with memory. Memory that is not mapped here, or none, has size
// 0 and address 0. MPI_ERR_RANK: no such rank; MPI_ERR_RMA_FLAVOR: a dynamic window.
func (w *Window) SharedQuery(rank int32) (size int64, unit int32, base uintptr, err error) {
	if w.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		return 0, 0, 0, mpierr.New(abi.MPI_ERR_RMA_FLAVOR,
			"a dynamic window has no one memory that could be queried")
	}
	if rank == abi.MPI_PROC_NULL {
		i := slices.IndexFunc(w.Targets,
			func(t Target) bool { return t.Size > 0 && w.host.NodeIndex(t.Peer) >= 0 })
		if i < 0 {
			return 0, 1, 0, nil
		}
		rank = int32(i)
	}
	if rank < 0 || int(rank) >= len(w.Targets) {
		return 0, 0, 0, mpierr.New(abi.MPI_ERR_RANK, "rank %d in a window of %d processes", rank,
			len(w.Targets))
	}
	t := w.Targets[rank]
	if !t.Direct || t.Size == 0 {
		return 0, t.DispUnit, 0, nil
	}
	return t.Size, t.DispUnit, t.Base, nil
}
