// Package rma owns windows (MPI-5.0 12): their creation and end, memory, hints and the table of epochs. It decides
// everything about a window when it is created and writes it into a slot; from then on the calls of the data path work
// from the slot alone, in capi's C code, without coming back.
//
// Words used here and in capi: a *process* is numbered on its node; a *rank* is the rank in a window's group; a *slot*
// is what C knows of a window; a target is *direct* if its memory is mapped in this process, otherwise operations on it
// go to the *progress thread* of its process.
package rma

import (
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/group"
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
	// Words begins exchanges among the members of c, who are on several nodes, of up to kept bytes in the first and
	// rest in others; nil: Allgather does them.
	Words func(c *comm.Comm, kept, rest int) Words
	// InPieces is that of the node: it calls take for size bytes, piece after piece, as long as memory for cost
	// bytes of them is there.
	InPieces func(size, cost int64, take func(at, size int64) error) error

	table atomic.Pointer[attached] // of a dynamic window that has been freed, for the next one
}

// Words is several exchanges of blocks of equal size (core/coll.Words). What All returns is to be read only; that of
// the first call stays until Close, that of others until the next.
type Words interface {
	All(mine []byte) ([]byte, error)
	Close()
}

// exchanges are those of a window that is made.
type exchanges struct {
	h     *Host
	c     *comm.Comm
	words Words // if the members are on several nodes
}

func (h *Host) exchanges(c *comm.Comm, spans bool) exchanges {
	x := exchanges{h: h, c: c}
	if spans && h.Words != nil {
		x.words = h.Words(c, recordSize, max(agreementSize, fineSize))
	}
	return x
}

func (x *exchanges) all(mine []byte) ([]byte, error) {
	if x.words != nil {
		return x.words.All(mine)
	}
	return x.h.Allgather(x.c, mine)
}

func (x *exchanges) close() {
	if x.words != nil {
		x.words.Close()
	}
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

	host      *Host
	near      near
	targets   []Target   // the members on this node, as near has them
	between   *comm.Comm // of a window that spans nodes: its members' own messages; else nil
	region    Region     // this member's memory for other nodes; the zero Region: it is not registered
	may       uint64     // promises that may be in force: not of sizes or units that are not the same
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

	hints Hints // as it is created

	mu   sync.Mutex
	maps map[extent]uintptr // of a dynamic window: attached memory of others that is mapped here
}

type extent struct{ off, size int64 }

// spans returns whether the window has members on other nodes.
func (w *Window) spans() bool { return len(w.near.ranks) < w.Group.Size() }

// allocates returns whether the window's memory is made with it.
func (w *Window) allocates() bool {
	return w.Flavor == abi.MPI_WIN_FLAVOR_ALLOCATE || w.Flavor == abi.MPI_WIN_FLAVOR_SHARED
}

// Tell exchanges blocks of equal size among the members of a window that spans nodes, in the order of their ranks.
func (w *Window) Tell(mine []byte) ([]byte, error) { return w.host.Allgather(w.between, mine) }
