// Package comm owns communicators: who their members are, the context that keeps their messages apart, and how new ones
// are made from old ones.
//
// It must not know rings, nodes or windows: the messages by which members agree on a new communicator and the shared
// memory behind its control block come from the process it lives in, through Host.
package comm

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/handle"
)

// Context tells apart the messages on one communicator that must never match each other.
type Context uint8

// The contexts of a communicator. Creation and below are this package's own.
const (
	PointToPoint  Context = iota
	Collective            // blocking collectives (core/coll)
	Nonblocking           // non-blocking and persistent collectives; the tag tells them apart
	Partition             // partitioned messages
	Creation              // making of communicators, one after the other
	GroupCreation         // MPI_Comm_create_group, told apart by its tag
	IdupCreation          // MPI_Comm_idup, told apart by its number
	Leaders               // MPI_Intercomm_create between the leaders, told apart by its tag
	NumContexts

	contextBits = 4
)

// World and Self are the identities of the predefined communicators; all others are drawn by NewID.
const (
	worldID = 1 << contextBits
	selfID  = 2 << contextBits
)

// Comm is a communicator. What is fixed at creation is read freely; the rest is safe for concurrent use.
type Comm struct {
	host   Host
	id     uint64 // the low contextBits are 0
	local  *group.Group
	remote *group.Group // nil: an intracommunicator
	rank   int
	size   int

	// Handle is the application's handle, 0 for a communicator it does not know of.
	Handle uintptr
	// Hierarchy is not nil if the members of an intracommunicator are on several nodes.
	Hierarchy *Hierarchy
	// Block is the control block: memory that the members of a node share, BlockSize(Sharers()) bytes, zeroed. nil
	// if there is one only. Its first bytes are the barrier's (BarrierSize), those from CollOffset on core/coll's.
	Block   []byte
	block   uint64   // its name
	extents []extent // by Extend
	// Local is, for an intercommunicator, an intracommunicator of the local group with a context of its own; nil
	// otherwise.
	Local *Comm

	// Slots of others, which they set once and guard themselves.
	Slot       unsafe.Pointer // of capi: what C knows of it, nil for a communicator without a handle
	Attributes uintptr        // of capi: those that it begins with
	Info       any            // of capi: the hints that it begins with
	Errhandler uintptr        // of capi: the error handler that it begins with; 0: MPI_ERRORS_ARE_FATAL
	Topology   any            // *topo of this package or nil
	Coll       any            // core/coll

	idups atomic.Int32

	mu    sync.Mutex
	refs  int  // operations under way that need the communicator
	freed bool // MPI_Comm_free has been called
}

// Handles holds the communicators that the application has handles of, but for the two predefined ones.
var Handles = handle.NewTable[Comm](handle.Comm)

// NewWorld makes the predefined communicator of all n processes of a job as process me sees it. Its control block is
// made later, by AttachBlock.
func NewWorld(host Host, me, n int) *Comm {
	c := &Comm{host: host, id: worldID, local: group.Range(0, int32(n), 1), rank: me, size: n,
		Handle: abi.MPI_COMM_WORLD}
	return c
}

// NewSelf makes the predefined communicator of the process with world rank me alone.
func NewSelf(host Host, me int) *Comm {
	c := &Comm{host: host, id: selfID, local: group.Range(int32(me), 1, 1), rank: 0, size: 1,
		Handle: abi.MPI_COMM_SELF}
	return c
}

// Rank returns the rank of the calling process in the (local) group.
func (c *Comm) Rank() int { return c.rank }

// Size returns the size of the (local) group.
func (c *Comm) Size() int { return c.size }

// Group returns the (local) group.
func (c *Comm) Group() *group.Group { return c.local }

// IsInter returns whether c is an intercommunicator.
func (c *Comm) IsInter() bool { return c.remote != nil }

// RemoteGroup returns the remote group, nil for an intracommunicator.
func (c *Comm) RemoteGroup() *group.Group { return c.remote }

// RemoteSize returns the number of processes that a message can be sent to: the size of the remote group of an
// intercommunicator, else Size.
func (c *Comm) RemoteSize() int {
	if c.remote != nil {
		return c.remote.Size()
	}
	return c.size
}

// Peers returns the group that ranks in messages refer to: the remote group of an intercommunicator, else the group.
func (c *Comm) Peers() *group.Group {
	if c.remote != nil {
		return c.remote
	}
	return c.local
}

// Context returns the number that the messages of one context carry. It is the same on all members and on no other
// communicator of the job.
func (c *Comm) Context(x Context) uint64 { return c.id | uint64(x) }

// Ref keeps the communicator alive for an operation under way; each is followed by one Unref.
func (c *Comm) Ref() {
	c.mu.Lock()
	c.refs++
	c.mu.Unlock()
}

// Unref ends what Ref began. The last one after MPI_Comm_free gives the control block back.
func (c *Comm) Unref() {
	c.mu.Lock()
	c.refs--
	last := c.freed && c.refs == 0
	c.mu.Unlock()
	if last {
		c.release()
	}
}

// Free marks the communicator for deallocation: it disappears when the operations under way that use it are done. It
// neither blocks nor communicates (MPI-5.0 calls it collective, so every member does the same).
func (c *Comm) Free() {
	c.mu.Lock()
	c.freed = true
	c.refs++
	c.mu.Unlock()
	if user, ok := c.Coll.(interface{ Leave() bool }); !ok || !user.Leave() {
		c.Unref()
	}
}

func (c *Comm) release() {
	if c.size > 1 || c.Handle != 0 { // else there were no messages
		c.host.Forget(c)
	}
	c.leaveExtents()
	c.leaveBlock()
	if r, ok := c.Coll.(interface{ Release() }); ok {
		r.Release()
	}
	if c.Local != nil {
		c.Local.Free()
	}
}

// Channel returns a communicator of the same processes whose messages have contexts of their own, those of id, which
// NewChannel of one of them has returned. It costs no messages and no shared memory; it exists for the processes that
// use it and ends with Forget.
func (c *Comm) Channel(id uint64) *Comm {
	return &Comm{host: c.host, id: id, local: c.local, remote: c.remote, rank: c.rank, size: c.size,
		Handle: c.Handle}
}

// NewChannel draws an identity for Channel.
func (c *Comm) NewChannel() uint64 { return c.host.NewID() }

// Forget drops what the process keeps for the contexts of a Channel.
func (c *Comm) Forget() { c.host.Forget(c) }
