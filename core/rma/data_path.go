package rma

import (
	"gompirma/core/group"
	"gompirma/core/shm"
)

// DataPath is the interface of this package to the code that moves the data. That code creates the window descriptors
// and works from them. The implementation in capi is written in C. A window is identified by its handle. Every method
// is safe for concurrent use.
type DataPath interface {
	// Install creates the descriptor of a window that all members have agreed on (MPI-5.0 12.2). After it returns,
	// calls of the application find the window. Install keeps no reference to p. Error: MPI_ERR_NO_MEM if there is
	// no free descriptor.
	Install(p *Plan) error
	// Remove removes the descriptor of window h, if h has one. Calls then no longer find the window. Precondition:
	// no thread is in a call on the window.
	Remove(h uintptr)
	// CheckFree returns nil if MPI_Win_free is possible (MPI-5.0 12.2.5). Errors: MPI_ERR_RMA_SYNC if an epoch is
	// open (the error text names that epoch); MPI_ERR_WIN if no window has this handle.
	CheckFree(h uintptr) error
	// Barrier is a barrier among the window's members. MPI_Win_free calls it, and no member uses the window
	// afterwards. It blocks until all members have called it, and costs as much as a fence. Errors:
	// MPI_ERR_PROC_ABORTED if a member has failed; MPI_ERR_WIN if no window has this handle.
	Barrier(h uintptr) error
	// NodeBarrier is a barrier among the members on this node only, during the creation of the window from the
	// communicator with handle c. The failure of a member and the revocation of the communicator end it with
	// MPI_ERR_PROC_ABORTED.
	NodeBarrier(h, c uintptr) error
	// Attached returns whether [from, to) contains memory that is attached to window h and that origins cannot
	// address directly.
	Attached(h, from, to uintptr) bool
	// Register lets other nodes read and write size bytes of this process' memory at addr. It returns the zero
	// Region if the memory cannot be registered. In this case, other nodes send messages to this process, which
	// accesses the memory for them. The memory must stay mapped until Unregister.
	Register(addr uintptr, size int64) Region
	Unregister(r Region)
	// SetRegions sets the registered memory of the ranks in the argument `rows`, for a window that spans nodes. The
	// argument `rows` is Plan.Rows. The function `of` returns the registered memory of a rank.
	SetRegions(h uintptr, rows Rows, of func(rank int) Region)
	// Share converts size bytes of private memory at addr to shared memory in place. The bytes are whole pages.
	// They become part of this process' image in nd's memory (core/shm). If a system call fails, Share returns its
	// error and changes nothing.
	Share(nd *shm.Node, addr uintptr, size int64) error
	// Unshare reverses Share: the memory becomes private again and keeps its contents. It skips parts that are no
	// longer mapped. If a system call fails, Unshare returns its error.
	Unshare(addr uintptr, size int64) error
}

// Plan describes a window on which its members have agreed. It holds all values that the data path needs to create the
// descriptor.
type Plan struct {
	Handle  uintptr
	Group   *group.Group
	Flavor  int32 // MPI_WIN_FLAVOR_CREATE and so on
	Rank    int   // rank of this process in the window
	Members int
	Local   []Target // members on this node, by rank; the entry of this process has the window's attributes
	// For a window that spans nodes. Table is the address of the member table that the processes of this node
	// share. It is 0 if this process has a table of its own. Rows are the table entries that this process writes.
	// MemberOf returns the member with the given rank.
	Table    uintptr
	Rows     Rows
	MemberOf func(rank int) Member
	// Leaders and Node are set only at the member with the lowest rank on its node; Leaders is nil at all other
	// members. Leaders has the process number of the lowest member of each node. Node is the index of this
	// process in Leaders. LeadersContext is the context of the leaders' messages.
	Leaders        []int32
	Node           int
	LeadersContext uint64
	Control        uintptr // address of this node's control memory in this process
	// HintsAddr is the address in the control memory where this node's members exchange hints (MPI_Win_set_info).
	HintsAddr uintptr
	// Attached is the address of this member's table of attached memory, for a dynamic window. Only the first
	// AttachedBytes bytes of the table have memory so far.
	Attached      uintptr
	AttachedBytes int64
	Hints         Hints // hints in force; HugePages is true if this member's memory has huge pages
	// AllowedPromises is a mask of PROMISE_* bits (capi/win/hints.h): the promises that the window can fulfil. For
	// example, the promise same_size is forbidden if the members' sizes differ. MPI_Win_set_info ignores promises
	// whose bits are 0.
	AllowedPromises uint64
}

// Rows is a range of entries of a window's member table: the entries of the ranks from From to To-1.
type Rows struct{ From, To int }

// InChunks calls f for consecutive ranges of r, each of up to maxRows ranks.
func (r Rows) InChunks(maxRows int, f func(first, count int)) {
	for at := r.From; at < r.To; at += maxRows {
		f(at, min(maxRows, r.To-at))
	}
}

// Region identifies registered memory in the network (struct gompi_region in capi/fabric/fabric.h).
type Region struct{ Key, Address uint64 }

// Member holds those properties of a member that each process stores for all members, if the window spans nodes.
type Member struct {
	Size     int64 // bytes
	DispUnit int32 // bytes
	Peer     int32 // number of its process (core/proc)
}

// Target is a member of a window on this node, as the window descriptor describes it.
type Target struct {
	Rank     int32
	Base     uintptr // address of its memory in this process, if Direct
	Size     int64   // bytes
	DispUnit int32   // bytes
	Direct   bool    // all of its memory is mapped in this process
	// If Direct is false: the bytes [From, To) of the window are shared in place and mapped in this process, at
	// Base+From. If From == To, no bytes are shared.
	From, To int64
	Peer     int32   // number of its process (core/proc)
	Address  uintptr // address of the window memory in the member's own address space
}
