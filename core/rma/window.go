// Package rma owns windows (MPI-5.0 12): their creation and end, memory, hints and the table of epochs. It decides
// everything about a window when it is created and writes it into a slot; from then on the calls of the data path work
// from the slot alone, in capi's C code, without coming back.
//
// Words used here and in capi: a *process* is numbered on its node; a *rank* is the rank in a window's group; a *slot*
// is what C knows of a window; a target is *direct* if its memory is mapped in this process, otherwise operations on it
// go to the *progress thread* of its process.
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
	Node  *shm.Node
	Nodes int // of the job
	// NodeOf returns the number of the node of the process with a world rank.
	NodeOf func(world int32) int32
	Data   DataPath
	// NodeIndex returns the number on this node of the process with a world rank, -1 for one on another node.
	NodeIndex func(world int32) int
	// Allgather exchanges blocks of equal size among the members of c, in the order of their ranks.
	Allgather func(c *comm.Comm, mine []byte) ([]byte, error)
	// InPieces is that of the node: it calls take for size bytes, piece after piece, as long as memory for cost
	// bytes of them is there.
	InPieces func(size, cost int64, take func(at, size int64) error) error

	table atomic.Pointer[attached] // of a dynamic window that has been freed, for the next one
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

	Errhandler atomic.Uint64 // handle of the error handler
	Attrs      any           // core/attr: cached attributes, guarded by it

	host      *Host
	near      near
	targets   []Target   // the members on this node, as near has them
	between   *comm.Comm // of a window that spans nodes: its members' own messages; else nil
	region    Region     // this member's memory for other nodes; the zero Region: it is not registered
	sameSize  bool       // all members' memory has
	sameUnit  bool       // all members have the same displacement unit
	own       *attached  // of a dynamic window
	tables    []int64    // of a dynamic window: where the tables of the members on this node are in the memfd
	control   []byte     // control memory
	block     shm.BlockRef
	segment   []byte // memory of an allocated window, mapped whole; nil for MPI_Win_create
	hugePages bool   // some of the member's own memory is of huge pages
	mapped    [][]byte
	reserved  []extent // what this member, the leader, reserved for its node: control memory, then the segment
	held      []span   // memory shared in place that this window uses
	ending    atomic.Bool

	controlOff, segmentOff int64 // where those are in the memfd

	mu    sync.Mutex
	maps  map[extent]uintptr // of a dynamic window: attached memory of others that is mapped here
	name  string
	hints Hints
}

type extent struct{ off, size int64 }

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
	// the control memory of a leader's node, as a block of shared memory, 0: it is reserved later
	control shm.BlockRef
	// what of the memory is shared in place: nothing, wholePagesShared, allShared; heap is where the window would
	// begin
	inPlace uint8
	hints   Hints // Hints.common, as this member asks for them
}

const (
	recordHints = 64 // where its hints begin
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
	le.PutUint64(b[56:], uint64(r.control))
	r.hints.putCommon(b[recordHints:])
	return b
}

func decode(b []byte) record {
	le := binary.LittleEndian
	return record{
		class: int32(le.Uint32(b[0:])), flavor: int32(le.Uint32(b[4:])), unit: int32(le.Uint32(b[8:])),
		proposal: uint64(le.Uint32(b[48:]))<<32 | uint64(le.Uint32(b[12:])), size: int64(le.Uint64(b[16:])),
		heap: int64(le.Uint64(b[24:])), address: le.Uint64(b[32:]),
		alignment: int64(le.Uint64(b[40:])), inPlace: b[52], control: shm.BlockRef(le.Uint64(b[56:])),
		hints: commonOf(b[recordHints:]),
	}
}

// records is what all members have told, by rank.
type records []byte

func (r records) n() int          { return len(r) / recordSize }
func (r records) at(i int) record { return decode(r[i*recordSize:]) }

// hints returns what the members ask for.
func (r records) hints(yield func(Hints) bool) {
	for i := 0; i < r.n() && yield(r.at(i).hints); i++ {
	}
}

// Create makes a window, collectively over c: MPI_Win_create, MPI_Win_allocate and MPI_Win_allocate_shared (MPI-5.0
// 12.2.1 to 12.2.3).
//
// It costs a member two exchanges of 80 bytes or less, three for memory that is made with the window and for members on
// several nodes, and 32 bytes of memory a member, 64 if they are on several
// nodes, besides the control memory that those of a node share. If a member's arguments are wrong or there is not
// enough memory, all members return an error, the one that found it with its class, the others with the class of the
// first that did. MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_ARG, MPI_ERR_INFO_VALUE, MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED: the
// members cannot share memory, for MPI_Win_allocate_shared since they are on several nodes.
func Create(h *Host, c *comm.Comm, spec Spec) (*Window, error) {
	hints, err := DefaultHints(), spec.Err
	if err == nil {
		hints, err = check(&spec)
	}
	if c.IsInter() {
		return nil, mpierr.New(abi.MPI_ERR_COMM, "the communicator is an intercommunicator")
	}
	w := &Window{host: h, Group: c.Group(), Rank: c.Rank(), Flavor: spec.Flavor, Base: spec.Base, Size: spec.Size,
		DispUnit: spec.DispUnit, hints: hints}
	w.Errhandler.Store(abi.MPI_ERRORS_ARE_FATAL)
	w.near = h.nearOf(c.Size(), w.Rank, w.Group.World)

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
			if hints.InPlace != InPlaceOff {
				w.hints.Shared = "true"
			}
		} else {
			mine.heap, mine.inPlace, err = w.enterInPlace()
		}
		mine.class = mpierr.ClassOf(err)
	}
	if spec.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC && err == nil {
		if w.own, err = h.takeAttached(); err == nil {
			mine.heap = w.own.off
		}
		mine.class = mpierr.ClassOf(err)
	}
	var controlErr error
	if w.near.leads() && w.near.dense() && err == nil {
		w.control, w.block, controlErr = h.Node.TakeBlock(w.near.size())
		mine.control = w.block
	}
	all, xerr := h.Allgather(c, mine.encode())
	if xerr != nil {
		w.close(neverMade)
		windows.withdraw(place)
		return nil, xerr
	}
	members := records(all)
	if err := w.agree(err, members); err != nil {
		w.close(neverMade)
		windows.withdraw(place)
		return nil, err
	}

	// The lowest member of each node reserves; the reservations and the window's handle are agreed on together.
	w.block = members.at(w.near.leader()).control
	if !w.agreed(members, place) {
		if err = controlErr; err == nil {
			err = w.reserve(members)
		}
		place, xerr = w.agreeOnHandle(c, members, place, &err)
	}
	if xerr == nil && err == nil {
		err = w.open(members)
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

// spans returns whether the window has members on other nodes.
func (w *Window) spans() bool { return len(w.near.ranks) < w.Group.Size() }

// agree turns the members' verdicts on their own arguments into one for all, compares what must be the same, and gives
// the window's hints the values in force.
func (w *Window) agree(own error, members records) error {
	if own != nil {
		return own
	}
	for i := range members.n() {
		if m := members.at(i); m.class != abi.MPI_SUCCESS {
			return mpierr.New(m.class, "the arguments of rank %d are wrong", i)
		}
	}
	first := members.at(0)
	w.sameSize, w.sameUnit = true, true
	for i := range members.n() {
		m := members.at(i)
		if m.flavor != first.flavor {
			return mpierr.New(abi.MPI_ERR_WIN,
				"rank %d creates a window of flavor %d, rank 0 one of flavor %d", i, m.flavor,
				first.flavor)
		}
		w.sameSize = w.sameSize && m.size == first.size
		w.sameUnit = w.sameUnit && m.unit == first.unit
	}
	if w.Flavor == abi.MPI_WIN_FLAVOR_SHARED && w.spans() {
		return mpierr.New(abi.MPI_ERR_RMA_SHARED, "%d of the %d members are on this node: those of several "+
			"nodes share no memory (MPI_Comm_split_type makes a communicator of each node)",
			len(w.near.ranks), members.n())
	}
	w.hints.combine(members.hints)
	w.hints.keepTrue(w.sameSize, w.sameUnit)
	return nil
}

// reserve takes, at the leader of a node, the address space of the control memory and of an allocated window's memory
// there.
func (w *Window) reserve(members records) error {
	if !w.near.leads() {
		return nil
	}
	if w.block == 0 {
		x, err := w.take(w.near.size(), shm.PageSize)
		if err != nil {
			return err
		}
		w.controlOff = x.off
		for _, u := range w.near.used() {
			if err := w.host.Node.Commit(x.off+u.off, u.size); err != nil {
				return err
			}
		}
	}
	if w.allocates() {
		_, total, alignment := w.layout(members)
		// In vain if the machine has not that much. What the members' control groups allow each finds out for
		// itself.
		room := limit.MachineMemory("/")
		if total > room.Usable() && w.host.Node.AwaitGiven() {
			room = limit.MachineMemory("/")
		}
		if total > room.Usable() {
			return mpierr.New(abi.MPI_ERR_NO_MEM, "%d bytes of window memory: only %d are available %s",
				total, room.Usable(), room.By)
		}
		x, err := w.take(total, alignment)
		w.segmentOff = x.off
		return err
	}
	return nil
}

// take reserves address space that is given back when the window ends.
func (w *Window) take(size, alignment int64) (x extent, err error) {
	if x.off, err = w.host.Node.Reserve(size, alignment); err == nil {
		x.size = size
		w.reserved = append(w.reserved, x)
	}
	return x, err
}

// agreed returns whether the members have agreed on all with their records: there is nothing to reserve, and all have
// proposed the same handle, which this window then has.
func (w *Window) agreed(members records, place uint64) bool {
	if w.allocates() || w.spans() || w.block == 0 {
		return false
	}
	for i := range members.n() {
		if members.at(i).proposal != place {
			return false
		}
	}
	w.Handle = handle.Make(handle.Win, numberAt(place))
	return true
}

// allocates returns whether the window's memory is made with it.
func (w *Window) allocates() bool {
	return w.Flavor == abi.MPI_WIN_FLAVOR_ALLOCATE || w.Flavor == abi.MPI_WIN_FLAVOR_SHARED
}

// layout returns where the part of each member on this node begins in the segment of an allocated window, and the size
// and alignment of all. Parts of MPI_Win_allocate begin on pages, so that each member's memory comes from its own NUMA
// node; those of MPI_Win_allocate_shared follow each other without a gap unless all members ask for pages.
func (w *Window) layout(members records) (offsets []int64, total, alignment int64) {
	offsets = make([]int64, len(w.near.ranks))
	alignment = shm.PageSize
	contiguous := w.Flavor == abi.MPI_WIN_FLAVOR_SHARED && !w.hints.NonContiguous
	for i, r := range w.near.ranks {
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

func tooMany() error {
	return mpierr.New(abi.MPI_ERR_NO_MEM, "%d windows exist already", handle.MaxWindows)
}

// agreeOnHandle finds a place whose index is free at all members, and distributes the leaders' reservations with it,
// and the name of the messages between nodes.
func (w *Window) agreeOnHandle(c *comm.Comm, members records, mine uint64, err *error) (place uint64, fatal error) {
	const size = 40
	place = mine
	var highest, channel uint64
	for i := range members.n() {
		highest = max(highest, members.at(i).proposal)
	}
	if w.Rank == 0 && w.spans() {
		channel = c.NewChannel()
	}
	for {
		if place != highest {
			windows.withdraw(place)
			var ok bool
			if place, ok = windows.propose(highest); !ok && *err == nil {
				*err = tooMany()
			}
		}
		b := make([]byte, size)
		le := binary.LittleEndian
		le.PutUint32(b[0:], uint32(mpierr.ClassOf(*err)))
		if place == highest {
			b[4] = 1
		}
		le.PutUint64(b[8:], place)
		le.PutUint64(b[16:], uint64(w.controlOff))
		le.PutUint64(b[24:], uint64(w.segmentOff))
		le.PutUint64(b[32:], channel)
		all, xerr := w.host.Allgather(c, b)
		if xerr != nil {
			return place, xerr
		}
		done := true
		for i := range members.n() {
			m := all[size*i:]
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
			its := all[size*w.near.leader():]
			w.controlOff = int64(le.Uint64(its[16:]))
			w.segmentOff = int64(le.Uint64(its[24:]))
			if w.spans() {
				w.between = c.Channel(le.Uint64(all[32:]))
			}
			return place, nil
		}
	}
}

// open maps what the window needs and makes its slot.
func (w *Window) open(members records) (err error) {
	nd := w.host.Node
	switch {
	case w.control != nil:
	case w.block != 0:
		w.control, err = nd.OpenBlock(w.block, w.near.size())
	default:
		w.control, err = nd.Map(w.controlOff, pages(w.near.size()))
	}
	if err != nil {
		return err
	}
	var offsets []int64
	if w.allocates() {
		var total, alignment int64
		offsets, total, alignment = w.layout(members)
		if total > 0 {
			if w.segment, err = nd.MapAligned(w.segmentOff, pages(total), alignment); err != nil {
				return err
			}
			w.Base = address(w.segment) + uintptr(offsets[w.near.me])
		}
		if w.Size > 0 {
			// Whole pages, each by the member whose memory begins in it or covers it; a page that two
			// members share is committed by both.
			from, to := offsets[w.near.me]/shm.PageSize*shm.PageSize, pages(offsets[w.near.me]+w.Size)
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
	w.targets = make([]Target, len(w.near.ranks))
	for i, r := range w.near.ranks {
		m := members.at(int(r))
		t := Target{Rank: r, Size: m.size, DispUnit: m.unit, Peer: w.Group.World(int(r)),
			Address: uintptr(m.address)}
		switch {
		case w.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC:
			w.tables = append(w.tables, m.heap)
		case i == w.near.me:
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
		w.targets[i] = t
	}
	p := Plan{Handle: w.Handle, Flavor: w.Flavor, Rank: w.Rank, Members: members.n(), Near: w.targets,
		Shared: address(w.control), Granularity: w.hints.Granularity}
	if w.spans() {
		p.All = make([]Member, members.n())
		for i := range p.All {
			m := members.at(i)
			p.All[i] = Member{Size: m.size, DispUnit: m.unit, Peer: w.Group.World(i)}
		}
		if w.near.leads() {
			p.Leaders, p.Node = w.leaders()
		}
		if w.Size > 0 && w.Flavor != abi.MPI_WIN_FLAVOR_DYNAMIC {
			w.region = w.host.Data.Register(w.Base, w.Size)
		}
	}
	return w.host.Data.Install(&p)
}

// allFine is the last exchange of creation: a window exists at all members or at none. Members on other nodes learn
// which memory they may read and write. Whoever comes out of it may send operations to this member, so its slot is
// there.
func (w *Window) allFine(c *comm.Comm, err *error) error {
	size := 4
	if w.spans() {
		size += 16
	}
	le, b := binary.LittleEndian, make([]byte, size)
	le.PutUint32(b, uint32(mpierr.ClassOf(*err)))
	if w.spans() {
		le.PutUint64(b[4:], w.region.Key)
		le.PutUint64(b[12:], w.region.Address)
	}
	all, xerr := w.host.Allgather(c, b)
	if xerr != nil {
		return xerr
	}
	for i := 0; i < c.Size() && *err == nil; i++ {
		if class := int32(le.Uint32(all[size*i:])); class != 0 {
			*err = mpierr.New(class, "rank %d could not make the window", i)
		}
	}
	if w.spans() && *err == nil {
		w.host.Data.SetRegions(w.Handle, func(rank int) Region {
			m := all[size*rank+4:]
			return Region{Key: le.Uint64(m), Address: le.Uint64(m[8:])}
		}, c.Size())
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
	if w.region != (Region{}) {
		w.host.Data.Unregister(w.region)
		w.region = Region{}
	}
	if w.between != nil {
		w.between.Forget()
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
		w.leaveControl(how)
	}
	for _, r := range w.reserved {
		nd.Release(r.off, r.size)
	}
	if w.own != nil {
		w.host.giveAttached(w.own)
		w.own = nil
	}
	w.control, w.segment, w.mapped, w.reserved = nil, nil, nil, nil
}

// leaveControl leaves the control memory.
func (w *Window) leaveControl(how ending) {
	nd := w.host.Node
	if how == neverMade {
		// Nobody uses it any more. If it is known to others they may have written to it.
		if w.block == 0 {
			nd.Unmap(w.control)
		} else if w.near.leads() {
			used := int64(0)
			if w.Handle != 0 {
				used = shm.Dirty
			}
			nd.GiveBlock(w.block, w.near.size(), used)
		}
		return
	}
	left := counter(w.control, w.near.left())
	last := int(left.Add(1)) == len(w.near.ranks)
	switch {
	case w.block != 0 && last:
		nd.GiveBlock(w.block, w.near.size(), w.near.size())
	case w.block != 0:
	case w.near.leads():
		// What the leader gives back may be used again at once: nobody may look at it any more.
		nd.Wait(func() bool { return int(left.Load()) == len(w.near.ranks) })
		nd.Unmap(w.control)
	default:
		nd.Wake(w.host.NodeIndex(w.Group.World(w.near.leader())))
		nd.Unmap(w.control)
	}
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
	if err := w.host.Data.Barrier(w.Handle, BarrierToFree); err != nil {
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
	mine := make([]byte, 4+commonSize)
	binary.LittleEndian.PutUint32(mine, uint32(mpierr.ClassOf(err)))
	n.putCommon(mine[4:])
	theirs, merr := w.tellHints(mine)
	if merr != nil {
		return merr
	}
	for i := 0; i < w.Group.Size() && err == nil; i++ {
		if class := int32(binary.LittleEndian.Uint32(theirs[i*len(mine):])); class != abi.MPI_SUCCESS {
			err = mpierr.New(class, "the arguments of rank %d are wrong", i)
		}
	}
	if err != nil {
		return err
	}
	n.combine(func(yield func(Hints) bool) {
		for m := range slices.Chunk(theirs, len(mine)) {
			if !yield(commonOf(m[4:])) {
				return
			}
		}
	})
	n.keepTrue(w.sameSize, w.sameUnit)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hints = n
	w.host.Data.SetGranularity(w.Handle, n.Granularity)
	return nil
}

// tellHints exchanges the members' words for MPI_Win_set_info: those of all, by rank.
func (w *Window) tellHints(mine []byte) ([]byte, error) {
	if w.spans() {
		return w.host.Allgather(w.between, mine)
	}
	copy(w.control[w.near.hints(w.Rank):], mine)
	if err := w.host.Data.Barrier(w.Handle, BarrierToSetHints); err != nil {
		return nil, err
	}
	all := slices.Clone(w.control[w.near.hints(0):w.near.hints(w.Group.Size())])
	// Nobody may leave other hints before all have read these.
	return all, w.host.Data.Barrier(w.Handle, BarrierToSetHints)
}

// SharedQuery is MPI_Win_shared_query (MPI-5.0 12.2.3): size, displacement unit and address here of rank's memory.
// MPI_PROC_NULL stands for the lowest rank with memory, on any node. Memory that is not mapped here, or none, has size
// 0 and address 0. MPI_ERR_RANK: no such rank; MPI_ERR_RMA_FLAVOR: a dynamic window.
func (w *Window) SharedQuery(rank int32) (size int64, unit int32, base uintptr, err error) {
	if w.Flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		return 0, 0, 0, mpierr.New(abi.MPI_ERR_RMA_FLAVOR,
			"a dynamic window has no one memory that could be queried")
	}
	if rank == abi.MPI_PROC_NULL {
		lowest := w.Group.Size()
		if i := slices.IndexFunc(w.targets, func(t Target) bool { return t.Size > 0 }); i >= 0 {
			lowest = int(w.targets[i].Rank)
		}
		if away := w.host.Data.LowestRemote(w.Handle, lowest); away >= 0 {
			lowest = away
		}
		if lowest == w.Group.Size() {
			return 0, 1, 0, nil
		}
		rank = int32(lowest)
	}
	if rank < 0 || int(rank) >= w.Group.Size() {
		return 0, 0, 0, mpierr.New(abi.MPI_ERR_RANK, "rank %d in a window of %d processes", rank,
			w.Group.Size())
	}
	t := w.target(int(rank))
	if t == nil {
		return 0, w.host.Data.DispUnit(w.Handle, int(rank)), 0, nil
	}
	if !t.Direct || t.Size == 0 {
		return 0, t.DispUnit, 0, nil
	}
	return t.Size, t.DispUnit, t.Base, nil
}

// target returns what is known of a member on this node, nil if rank is no such one.
func (w *Window) target(rank int) *Target {
	if i, ok := slices.BinarySearch(w.near.ranks, int32(rank)); ok {
		return &w.targets[i]
	}
	return nil
}
