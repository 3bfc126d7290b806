// Package rma owns windows (MPI-5.0 12): their creation and end, memory, hints and the table of epochs. When a window
// is created, the package determines all its properties, and passes them to C for the window descriptor. From then on,
// the calls of the data path use only the descriptor. They run in capi's C code without calling Go. This package does
// not depend on how operations are executed.
//
// Words used here and in capi: the number of a *process* is its index on its node. A *rank* is the rank in a window's
// group. A window *descriptor* is C's struct for a window. A target is *direct* if its memory is mapped in this
// process. Otherwise the *progress thread* of the target's process executes the operations.
package rma

import (
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/group"
	"gompirma/core/shm"
)

// Host holds the functions and data of the process that windows need. Package core provides it.
type Host struct {
	Node *shm.Node
	// NodeOf returns the node number of a process, which is given by its number (package proc).
	NodeOf func(world int32) int32
	Data   DataPath
	// NodeIndex returns the index on this node of a process, -1 if it is on another node.
	NodeIndex func(world int32) int
	// IsForeign returns whether a process belongs to a job that this process' job is only connected to. Other
	// processes may use different numbers for it. nil if there are none.
	IsForeign func(world int32) bool
	// Allgather exchanges blocks of equal size among the members of c, in the order of their ranks.
	Allgather func(c *comm.Comm, mine []byte) ([]byte, error)
	// SharedAllgather begins a series of exchanges among the members of c, which are on several nodes. A member
	// sends up to firstBytes bytes in the first exchange and up to laterBytes bytes in each later exchange. If
	// SharedAllgather is nil, windows use Allgather.
	SharedAllgather func(c *comm.Comm, firstBytes, laterBytes int) SharedAllgather
	// InChunks is the method shm.Node.InChunks. It calls the function `take` for `size` bytes, chunk after chunk.
	// The argument `cost` is the number of bytes of memory that these calls allocate. InChunks stops with an error
	// when memory is short.
	InChunks func(size, cost int64, take func(at, size int64) error) error

	cachedAttached atomic.Pointer[attached] // table of a freed dynamic window, cached for the next one
}

// SharedAllgather is a series of exchanges of blocks of equal size (core/coll.NewSharedAllgather). The result of
// Allgather is read-only. The result of the first call is valid until Close, the result of a later call until the next
// call.
type SharedAllgather interface {
	Allgather(mine []byte) ([]byte, error)
	Close()
}

// exchanges is the series of exchanges that creates a window.
type exchanges struct {
	h      *Host
	c      *comm.Comm
	shared SharedAllgather // if nil, Host.Allgather is used
}

func (h *Host) exchanges(c *comm.Comm, spans bool) exchanges {
	x := exchanges{h: h, c: c}
	if spans && h.SharedAllgather != nil {
		x.shared = h.SharedAllgather(c, recordSize, max(agreeBytes, confirmBytes))
	}
	return x
}

func (x *exchanges) allgather(mine []byte) ([]byte, error) {
	if x.shared != nil {
		return x.shared.Allgather(mine)
	}
	return x.h.Allgather(x.c, mine)
}

func (x *exchanges) close() {
	if x.shared != nil {
		x.shared.Close()
	}
}

// Window is an MPI window at one member. Fields that are fixed at creation may be read freely; the methods are safe for
// concurrent use.
type Window struct {
	Handle   uintptr
	Group    *group.Group
	Rank     int
	Flavor   int32 // MPI_WIN_FLAVOR_CREATE and so on
	Base     uintptr
	Size     int64 // bytes
	DispUnit int32

	host    *Host
	local   localMembers
	targets []Target // the members on this node with their addresses, in the order of local.ranks
	// communicator for messages among the members, if the window spans nodes; else nil
	msgComm        *comm.Comm
	leadersContext uint64 // context of the node leaders' messages, of msgComm
	region         Region // registration of this member's memory for other nodes; the zero Region if not registered
	// Mask of the promises (PROMISE_* in capi/win/hints.h) that the window can fulfil. SameSize and SameDispUnit
	// are missing if the members' sizes or displacement units differ.
	allowed      uint64
	attached     *attached // this member's table of attached memory, for a dynamic window
	attachedOffs []int64   // offsets in the memfd of the tables of this node's members, for a dynamic window
	control      []byte    // control memory of this node, mapped in this process
	block        shm.BlockRef
	segment      []byte // memory of all members on this node, for an allocated window; else nil
	hugePages    bool   // some of this member's memory consists of huge pages
	mapped       [][]byte
	reserved     []extent // control memory and segment that this member reserved as the node leader
	heldSpans    []span   // ranges shared in place whose use counts include this window
	ending       atomic.Bool

	controlOff, segmentOff int64 // offsets of the control memory and the segment in the memfd

	hints Hints // hints determined at creation; C stores later changes

	mu sync.Mutex
	// attached memory of other members that is mapped in this process, for a dynamic window
	attachedMaps map[extent]uintptr
}

type extent struct{ off, size int64 }

// spans returns whether the window has members on other nodes.
func (w *Window) spans() bool { return len(w.local.ranks) < w.Group.Size() }

// allocates returns whether creating the window allocates its memory.
func (w *Window) allocates() bool {
	return w.Flavor == abi.MPI_WIN_FLAVOR_ALLOCATE || w.Flavor == abi.MPI_WIN_FLAVOR_SHARED
}

// Allgather exchanges blocks of equal size among the members of a window that spans nodes, in the order of their ranks.
func (w *Window) Allgather(mine []byte) ([]byte, error) { return w.host.Allgather(w.msgComm, mine) }
