// Package comm owns communicators: their members, the context that separates their messages, and the creation of new
// communicators from existing ones.
//
// It must not depend on the transports or on windows. It accesses its process only through Host. Members need Host to
// send the messages by which they agree on a new communicator, and to share the memory of the control block.
package comm

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/handle"
)

// Context separates messages on one communicator that must never match each other.
type Context uint8

// The contexts of a communicator. This package sends messages only in Creation to Leaders.
const (
	PointToPoint  Context = iota
	Collective            // blocking collectives (core/coll)
	Nonblocking           // nonblocking and persistent collectives, distinguished by their tags
	Partition             // partitioned messages
	Creation              // creation of communicators by calls that do not overlap on the parent
	GroupCreation         // MPI_Comm_create_group, distinguished by its tag
	IdupCreation          // MPI_Comm_idup, distinguished by its number
	Leaders               // messages of MPI_Intercomm_create between the leaders, distinguished by its tag
	NodeLeaders           // messages of node leaders (capi/message/leaders.h)
	Agreement             // agreements of nodes, in messages from any member
	NumContexts

	contextBits = 4
)

// worldID and selfID are the identities of the predefined communicators. Host.NewID creates the identities of all other
// communicators; none equals these three.
const (
	worldID = 1 << contextBits
	selfID  = 2 << contextBits
	// sessionID is the identity of the messages by which the members of a group create a communicator without a
	// parent (MPI_Comm_create_from_group).
	sessionID = 3 << contextBits
)

// Comm is a communicator. Fields that are fixed at creation may be read freely; the methods are safe for concurrent
// use.
type Comm struct {
	host   Host
	id     uint64 // the low contextBits are 0
	local  *group.Group
	remote *group.Group // nil for an intracommunicator
	rank   int
	size   int

	// Handle is the application's handle, 0 for a communicator that only the library uses.
	Handle uintptr
	// Outer is, without Handle, the handle of the communicator whose calls use this one. If that communicator is
	// revoked or one of its members fails, waits on this one end. For Local of an intercommunicator, it is the
	// handle of the intercommunicator. While a communicator is being created, it is the handle of its parent.
	Outer uintptr
	// Hierarchy is not nil if the members of an intracommunicator are on several nodes.
	Hierarchy *Hierarchy
	// Block is the control block: memory that the members of a node share, BlockSize(LocalMembers()) bytes, zeroed.
	// It is nil if there is only one member on the node. The barrier uses its first BarrierSize bytes, core/coll
	// the bytes from CollOffset on.
	Block   []byte
	block   uint64   // name of Block
	extents []extent // allocated by Extend
	// Local is, for an intercommunicator, an intracommunicator of the local group with a context of its own; nil
	// otherwise.
	Local *Comm
	// isFirst is true in one of the two groups of an intercommunicator: where the groups need an order, that group
	// comes first.
	isFirst bool

	// Fields that belong to other packages. Each package sets its fields once and synchronizes the access to them.
	Descriptor unsafe.Pointer // capi: C's communicator descriptor; nil for a communicator without a handle
	Attributes uintptr        // capi: initial attributes
	Info       any            // capi: initial hints
	Errhandler uintptr        // capi: initial error handler; 0 for MPI_ERRORS_ARE_FATAL
	Topology   any            // *Cart, *Graph or *DistGraph of this package, or nil
	Coll       any            // core/coll: state of collectives on the communicator

	idups     atomic.Int32
	agreement *agreement // nil before the first agreement; guarded by mu

	mu    sync.Mutex
	refs  int  // number of operations in progress that still need the communicator
	freed bool // MPI_Comm_free has been called
}

// Handles holds the communicators that have a handle of the application, except for the two predefined ones.
var Handles = handle.NewTable[Comm](handle.Comm)

// NewWorld creates the predefined communicator of the n processes of a job, whose numbers begin at `first`, for the
// process of the given rank. AttachBlock creates its control block later. Jobs of the same gompirun have different
// identities.
func NewWorld(host Host, first, rank, n int) *Comm {
	return &Comm{host: host, id: worldID + uint64(first)<<16, local: group.Range(int32(first), int32(n), 1),
		rank: rank, size: n, Handle: abi.MPI_COMM_WORLD}
}

// NewSessionComm creates the communicator of the first n processes, for the process of the given number. It has no
// control block. Its identity is the same in all jobs.
func NewSessionComm(host Host, number, n int) *Comm {
	return &Comm{host: host, id: sessionID, local: group.Range(0, int32(n), 1), rank: number, size: n}
}

// NewSelf creates MPI_COMM_SELF of the process with the number `me`.
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

// Peers returns the group to which ranks in messages refer: the remote group of an intercommunicator, or the group of
// an intracommunicator.
func (c *Comm) Peers() *group.Group {
	if c.remote != nil {
		return c.remote
	}
	return c.local
}

// Processes returns the numbers of all members, including those of the remote group.
func (c *Comm) Processes() []int32 {
	all := slices.Clone(c.local.Members())
	if c.remote != nil {
		all = append(all, c.remote.Members()...)
	}
	return all
}

// Context returns the number that the messages of one context carry. It is the same on all members, and no other
// communicator of the job has it.
func (c *Comm) Context(x Context) uint64 { return c.id | uint64(x) }

// Ref keeps the communicator alive for an operation in progress. Each Ref needs one Unref.
func (c *Comm) Ref() {
	c.mu.Lock()
	c.refs++
	c.mu.Unlock()
}

// Unref releases a reference that Ref acquired. After MPI_Comm_free, the last Unref releases the communicator and its
// control block.
func (c *Comm) Unref() {
	c.mu.Lock()
	c.refs--
	last := c.freed && c.refs == 0
	c.mu.Unlock()
	if last {
		c.release()
	}
}

// Free marks the communicator for deallocation: it is released when the operations in progress that use it have ended.
// It neither blocks nor communicates (MPI_Comm_free is collective, so every member calls Free).
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
	if c.size > 1 || c.Handle != 0 { // otherwise the communicator has carried no messages
		c.host.Forget(c)
	}
	c.releaseExtents()
	c.releaseBlock()
	if r, ok := c.Coll.(interface{ Release() }); ok {
		r.Release()
	}
	if c.Local != nil {
		c.Local.Free()
	}
}

// Channel returns a communicator of the same processes with other contexts. The contexts belong to the identity `id`,
// which one of the processes has obtained from NewChannel. Channel is local: it sends no messages. Only the processes
// that use the channel create it, and each of them ends it with Forget.
func (c *Comm) Channel(id uint64) *Comm {
	return &Comm{host: c.host, id: id, local: c.local, remote: c.remote, rank: c.rank, size: c.size,
		Handle: c.Handle}
}

// NewChannel returns a unique identity for Channel.
func (c *Comm) NewChannel() uint64 { return c.host.NewID() }

// Forget frees what the process stores for the contexts of a Channel.
func (c *Comm) Forget() { c.host.Forget(c) }
