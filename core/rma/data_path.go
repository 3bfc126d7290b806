package rma

import (
	"gompirma/core/group"
	"gompirma/core/shm"
)

// DataPath is what windows ask of the part of the process that moves the data: it makes their slots and works from
// them. capi's is written in C. A window is named by its handle. Every method is safe for concurrent use.
type DataPath interface {
	// Install makes the slot of a window that all members have agreed on (MPI-5.0 12.2); from its return on the
	// calls of the application find the window. It keeps nothing of p. MPI_ERR_NO_MEM: there is no slot.
	Install(p *Plan) error
	// Remove takes the slot away, if there is one: no call finds the window any more. Nobody may be in one.
	Remove(h uintptr)
	// MayFree returns nil if MPI_Win_free is possible now (MPI-5.0 12.2.5). MPI_ERR_RMA_SYNC: an epoch is open, and
	// the text says which; MPI_ERR_WIN: no such window.
	MayFree(h uintptr) error
	// Barrier is a barrier among the window's members, of MPI_Win_free: nobody uses the window from here on. It
	// blocks until all have come and costs what a fence costs. MPI_ERR_PROC_ABORTED: a member died; MPI_ERR_WIN: no
	// such window.
	Barrier(h uintptr) error
	// Meet is one of those on this node alone.
	Meet(h uintptr) error
	// Attached returns whether memory that is attached to a window, and that origins do not reach themselves, lies
	// in [from, to).
	Attached(h, from, to uintptr) bool
	// Register lets other nodes read and write size bytes of memory of this process from addr on; the zero Region:
	// they cannot, and send messages instead. The memory stays where it is until Unregister.
	Register(addr uintptr, size int64) Region
	Unregister(r Region)
	// SetRegions says what the members of a window that spans nodes have registered, for as many as Plan.Rows.
	SetRegions(h uintptr, rows Rows, of func(rank int) Region)
	// Share makes size bytes of ordinary memory from addr on, whole pages, shared memory where they lie, in this
	// process' image in nd's memory (core/shm). An error is the system's, and everything is as before then.
	Share(nd *shm.Node, addr uintptr, size int64) error
	// Unshare makes what is still mapped of such memory private again. An error is the system's.
	Unshare(addr uintptr, size int64) error
}

// Plan is a window as its members have agreed on it: all that the data path is told when it makes the slot.
type Plan struct {
	Handle  uintptr
	Group   *group.Group
	Flavor  int32    // abi.MPI_WIN_FLAVOR_
	Rank    int      // this process'
	Members int      // how many there are
	Near    []Target // those on this node, by rank; this process' own is what its attributes are made of
	// Of a window that spans nodes: where the table is that the processes of this node share (0: the slot gets its
	// own), and who is in it, of whom this process writes down some.
	Table uintptr
	Rows  Rows
	Of    func(rank int) Member
	// Leaders are the lowest members of each node by their ranks in MPI_COMM_WORLD, if this process is one of them,
	// number Node; else there are none.
	Leaders []int32
	Node    int
	Shared  uintptr // where the control memory of this node is mapped here
	Told    uintptr // where in it the members of this node tell each other hints (MPI_Win_set_info)
	// Attached is where this member's table of a dynamic window is; so many bytes of it have memory.
	Attached      uintptr
	AttachedBytes int64
	Hints         Hints  // in force; HugePages is whether this member's memory has any
	May           uint64 // promises among them that may be in force
}

// Rows are members of a window by their ranks, from one up to another.
type Rows struct{ From, To int }

// InPieces calls f for all rows, at most so many at a time.
func (r Rows) InPieces(most int, f func(first, count int)) {
	for at := r.From; at < r.To; at += most {
		f(at, min(most, r.To-at))
	}
}

// Region is memory of a process as others name it to the network (struct gompi_region in capi/fabric/fabric.h).
type Region struct{ Key, Address uint64 }

// Member is a member of a window that spans nodes, as all others know it.
type Member struct {
	Size     int64 // bytes
	DispUnit int32 // bytes
	Peer     int32 // number of its process (core/proc)
}

// Target is a member of a window on this node as its slot needs it.
type Target struct {
	Rank     int32
	Base     uintptr // where its memory is mapped here, if Direct
	Size     int64   // bytes
	DispUnit int32   // bytes
	Direct   bool    // all of its memory is mapped here
	// Bytes of the window, from its beginning, that are mapped here though not all are (Direct is false), as if all
	// were at Base: they are shared in place. From == To: none.
	From, To int64
	Peer     int32   // number of its process (core/proc)
	Address  uintptr // of the window in the member's own address space
}
