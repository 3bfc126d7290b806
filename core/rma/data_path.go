package rma

import (
	"gompirma/core/group"
	"gompirma/core/shm"
)

// DataPath is the interface of windows to the part of the process that moves the data. It creates the window
// descriptors and works from them. The implementation in capi is written in C. A window is identified by its handle.
// Every method is safe for concurrent use.
type DataPath interface {
	// Install creates the descriptor of a window that all members have agreed on (MPI-5.0 12.2). After it returns,
	// calls of the application find the window. It keeps no reference to p. MPI_ERR_NO_MEM if there is no free
	// descriptor.
	Install(p *Plan) error
	// Remove removes the descriptor, if there is one: calls no longer find the window. Precondition: no thread is
	// in a call on it.
	Remove(h uintptr)
	// CheckFree returns nil if MPI_Win_free is possible now (MPI-5.0 12.2.5). MPI_ERR_RMA_SYNC if an epoch is open;
	// the text names it. MPI_ERR_WIN: no such window.
	CheckFree(h uintptr) error
	// Barrier is a barrier among the window's members, for MPI_Win_free: no member uses the window after it. It
	// blocks until all members have called it and costs what a fence costs. MPI_ERR_PROC_ABORTED: a member failed;
	// MPI_ERR_WIN: no such window.
	Barrier(h uintptr) error
	// NodeBarrier is a barrier among the members on this node only.
	NodeBarrier(h uintptr) error
	// Attached returns whether memory that is attached to a window, and that origins cannot address directly, lies
	// in [from, to).
	Attached(h, from, to uintptr) bool
	// Register lets other nodes read and write size bytes of memory of this process from addr on. It returns the
	// zero Region if they cannot; they then send messages instead. The memory must stay mapped until Unregister.
	Register(addr uintptr, size int64) Region
	Unregister(r Region)
	// SetRegions sets the registered memory of the members of a window that spans nodes, for the ranks of
	// Plan.Rows.
	SetRegions(h uintptr, rows Rows, of func(rank int) Region)
	// Share converts size bytes of ordinary memory from addr on, whole pages, to shared memory in place, in this
	// process' image in nd's memory (core/shm). It returns the error of the system call; then everything is as
	// before.
	Share(nd *shm.Node, addr uintptr, size int64) error
	// Unshare makes the parts of such memory that are still mapped private again. It returns the error of the
	// system call.
	Unshare(addr uintptr, size int64) error
}

// Plan is a window as its members have agreed on it: all that the data path needs to create the descriptor.
type Plan struct {
	Handle  uintptr
	Group   *group.Group
	Flavor  int32 // abi.MPI_WIN_FLAVOR_
	Rank    int   // of this process
	Members int
	Local   []Target // members on this node, by rank; the entry of this process has the window's attributes
	// Of a window that spans nodes: the address of the member table that the processes of this node share (0: the
	// descriptor gets its own), the rows that this process writes, and the members.
	Table    uintptr
	Rows     Rows
	MemberOf func(rank int) Member
	// Leaders are the lowest members of each node by their ranks in MPI_COMM_WORLD, if this process is one of them,
	// at index Node; otherwise nil.
	Leaders   []int32
	Node      int
	Control   uintptr // address of this node's control memory in this process
	HintsAddr uintptr // address in it of the words by which this node's members exchange hints (MPI_Win_set_info)
	// Attached is the address of this member's table of a dynamic window, of which AttachedBytes bytes have memory.
	Attached        uintptr
	AttachedBytes   int64
	Hints           Hints  // in force; HugePages: this member's memory has huge pages
	AllowedPromises uint64 // promises of Hints that may be in force
}

// Rows is the members of a window with ranks in [From, To).
type Rows struct{ From, To int }

// InChunks calls f for consecutive groups of rows, each of up to maxRows rows.
func (r Rows) InChunks(maxRows int, f func(first, count int)) {
	for at := r.From; at < r.To; at += maxRows {
		f(at, min(maxRows, r.To-at))
	}
}

// Region is the name of registered memory in the network (struct gompi_region in capi/fabric/fabric.h).
type Region struct{ Key, Address uint64 }

// Member is a member of a window that spans nodes, as all others know it.
type Member struct {
	Size     int64 // bytes
	DispUnit int32 // bytes
	Peer     int32 // number of its process (core/proc)
}

// Target is a member of a window on this node, as in the window descriptor.
type Target struct {
	Rank     int32
	Base     uintptr // address of its memory in this process, if Direct
	Size     int64   // bytes
	DispUnit int32   // bytes
	Direct   bool    // all of its memory is mapped in this process
	// If Direct is false: the bytes [From, To) of the window are shared in place and mapped in this process, at
	// Base+From. From == To: none.
	From, To int64
	Peer     int32   // number of its process (core/proc)
	Address  uintptr // of the window in the member's own address space
}
