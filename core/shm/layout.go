// Package shm owns the memory that the processes of one node share: a single memfd with the control segment at its
// beginning, followed by one heap region for each process. Nothing in it has a name, so the kernel frees it with the
// last process. Where files may not be that large (ulimit -f) the memfd is a header with the location of the memory,
// and there are no images (backing.go).
//
//	offset 0            header            one page
//	CellOffset(i)       cell of process i CellSize bytes: state, wake-up words, wait records, activity flags of
//	                    accumulates, acknowledgements
//	MessageRing(i)      inbox of process i for messages (core/p2p)
//	OperationRing(i)    inbox of process i for one-sided operations (capi/transport/ring.h), and its
//	                    buffers for their data (capi/transport/bounce.h)
//	HeapOffset(i)       heap region of process i, HeapStride bytes of address space, sparse: window memory,
//	                    MPI_Alloc_mem, control blocks
//	ImageOffset(i)      image of process i's address space, ImageStride bytes, sparse: ordinary memory that has
//	                    become shared in place; the byte at an address of the process is at ImageOffset(i) +
//	                    address
//
// "Process i" is always the index on this node, not the rank in a communicator. Shared memory holds offsets and
// indices, never addresses, and what is read from it is range-checked before it is used as an index. C knows the layout
// too (capi/base/node.h); capi compares the two at compile time.
//
// The package must not know messages, windows or datatypes: other packages define their protocols in the areas that it
// provides.
package shm

// Sizes and strides in bytes. CellFixed is the part of the cell whose size does not depend on the number of processes.
const (
	Magic = 0x676f6d7069726d61 // "gompirma"
	// Version of the layout. A launcher and a library of different layouts refuse each other.
	Layout     = 11
	PageSize   = 4096
	CacheLine  = 64
	HeaderSize = PageSize
	CellFixed  = 7808
	// ActivitySlots is the number of threads of a process that can publish "in a small accumulate" on a cache line
	// of their own.
	ActivitySlots = 16

	MessageRingSize   = 1 << 20
	OperationRingSize = 576 << 10
	HeapStride        = 1 << 40
	// ImageStride is more than any address of a user process without five levels of page tables.
	ImageStride = 1 << 48
	// MaxProcesses is the maximum number of processes on one node.
	MaxProcesses = 4096
)

// Offsets inside the header.
const (
	hdrMagic        = 0
	hdrLayout       = 8
	hdrProcesses    = 12
	hdrPromiseLock  = 128 // futex: index + 1 of the process that may promise memory, 0: free
	hdrMemoryEvents = 192 // futex: incremented whenever a promise is lowered or memory has been released
	hdrFailed       = 64  // number of failed processes; if it is not 0, waits check whether they depend on one
	hdrEnding       = 68  // uint32: 1 once the launcher has begun to end the job (AnnounceEnd)
	hdrCreator      = 16
	hdrCores        = 20 // number of cores that the processes of this node share
	// Written by C: a process has no membarrier(2).
	HeaderNoMembarrier = 28

	// FailedEntries entries of two uint32, for failed processes of other nodes: rank in MPI_COMM_WORLD + 1, and the
	// reason. The launcher writes FailedEnded only. The first entry with 0 is free.
	HeaderFailed         = 256
	HeaderFailedOverflow = HeaderFailed + 8*FailedEntries // 1: more processes have failed than there are entries
	FailedEntries        = 16
	FailedEnded          = 1 // ended without MPI_Finalize

	hdrSegment = 24 // id + 1 of the System V segment that has the memory; 0: the memfd has it
)

// Offsets inside a cell. Each group has a cache line of its own, since different processes write them.
const (
	CellPid             = 0    // int32
	CellState           = 4    // uint32, State
	CellWake            = 64   // uint32 futex word: the waker increments it
	CellSleeping        = 68   // uint32: 1 if a thread may sleep on CellWake
	CellDoorbell        = 128  // uint32 futex word of the progress thread
	CellProgressSleeps  = 132  // uint32: 1 if the progress thread sleeps
	CellBlocked         = 196  // int32: threads of the application inside a blocking call, polling or asleep
	CellPollers         = 192  // int32: threads that poll this process' rings from inside a blocking call
	CellUnrecordedWaits = 256  // uint32: threads that wait and have found no free wait record
	CellActivityFlags   = 320  // ActivitySlots lines of one uint64 each
	CellActivityUsed    = 1344 // uint32: activity-flag lines handed out so far
	// int64: bytes of memory that it has reserved and not yet allocated (promise.go)
	CellReservedBytes   = 1408
	CellReleasing       = 1416      // int64: bytes of memory still to be released in the background (release.go)
	CellCachedBytes     = 1424      // int64: bytes of its unused blocks that keep their memory (blocks.go)
	CellCode            = 1432      // uint64: an address in the library's code
	CellWindows         = 1440      // uint64: the address of the table of windows, 0: no window yet
	CellProgressThreads = 1448      // MaxProgressThreads of int32: thread ids of the library's progress threads
	CellReach           = 1472      // two arrays of the network transport (capi/fabric/connect_back.c)
	CellWaits           = 1600      // WaitRecords of WaitRecordBytes bytes each: what sleeping threads wait for
	CellComms           = 7744      // uint64: the address of the table of communicators, 0: no communicator yet
	CellWorld           = 7752      // uint64: the address of MPI_COMM_WORLD, which is not in the table
	CellAcks            = CellFixed // one uint64 for each process: operations of this process that it has completed
)

// WaitRecords is the number of wait records of a process. The first WaitThreads are for waits; waits beyond these are
// only counted. The others describe the events of waits that any of several events ends. WaitRecordBytes is the size of
// a record in bytes. The other constants are the offsets of struct gompi_wait_record (capi/base/node.h), which
// documents the fields.
const (
	WaitRecords      = 32
	WaitThreads      = 16
	WaitRecordBytes  = 3 * CacheLine
	WaitState        = 0   // uint32: WaitPublished if the rest is valid
	WaitPeer         = 4   // int32
	WaitObject       = 8   // uint64
	WaitCall         = 16  // 32 bytes
	WaitNumber       = 48  // uint32
	WaitWakes        = 52  // uint32
	WaitThread       = 56  // int32
	WaitTag          = 60  // int32
	WaitID           = 64  // uint64
	WaitReason       = 72  // uint32
	WaitMembers      = 76  // int32
	WaitStride       = 80  // int32
	WaitMember       = 84  // MaxWaitMembers of int32
	WaitPendingCount = 100 // int32
	WaitName         = 104 // WaitNameBytes bytes
	WaitOperation    = 128 // 32 bytes
	WaitMissing      = 160 // WaitMissingWords of uint64
	WaitCrossing     = 176 // uint64
	WaitParent       = 184 // int32
	WaitEventCount   = 188 // int32

	WaitPublished      = 2
	WaitMissingWords   = 2
	MaxWaitMembers     = 4
	WaitNameBytes      = 24
	WaitAllMembers     = 1 << 8
	WaitOtherJobs      = 1 << 9
	MaxProgressThreads = 6
)

// What gompirun reads of a window in the memory of a process (capi/win/win.h): the table, indexed by the index in the
// handle, the window descriptor, and the descriptor's targets.
const (
	WindowIndices     = 1 << 20
	WindowDescriptors = 8 * WindowIndices // after the handles
	WindowAccess      = 8                 // uint32
	WindowN           = 12                // uint32
	WindowTargets     = 16                // address
	WindowNoCheck     = 176               // bool: MPI_Win_lock_all has acquired no locks
	AccessLockAll     = 1 << 4
	TargetSize        = 32
	TargetState       = 20 // uint32
	TargetLocked      = 1 << 1
	TargetExclusive   = 1 << 2
	TargetNoCheck     = 1 << 3
	TargetLocal       = 1 << 5

	// Of members on other nodes (capi/transport/stream.h): the address of the array of their streams, indexed by
	// rank, and which lock on this process' memory the stream's member holds.
	WindowStreams  = 128 // address
	StreamsOf      = 8
	StreamHeldLock = 224 // int32: 0, HeldShared or HeldExclusive
	HeldShared     = 1
	HeldExclusive  = 2
)

// What gompirun reads of the communicators of a process: the table (capi/base/table.h), its entries, and the
// communicator (capi/comm/comm.h).
const (
	TableMask    = 8   // uint64
	TableEntries = 16  // of two uint64: handle, address of the communicator
	CommID       = 24  // uint64
	CommStarted  = 104 // int32
)

// BarrierSize returns the size in bytes of the shared memory of a barrier among n processes (capi/base/barrier.h),
// initially zero: cache lines for the central form, and two for each member.
func BarrierSize(n int) int64 { return CacheLine * (2 + 2*int64(n)) }

// State is the state of a process in its cell.
type State uint32

// A process is Absent until it maps the segment, Running from MPI_Init on, Finishing in MPI_Finalize, Finalized after
// it, and Failed once a process has detected its failure.
const (
	Absent State = iota
	Running
	Finishing
	Finalized
	Failed
)

// isAlive returns whether a process is in MPI and not known to have failed.
func (s State) isAlive() bool { return s == Running || s == Finishing }

// CellSize returns the stride of the cells on a node of n processes.
func CellSize(n int) int64 { return roundUp(CellFixed+8*int64(n), PageSize) }

// CellOffset returns the offset of the cell of process i.
func CellOffset(n, i int) int64 { return HeaderSize + int64(i)*CellSize(n) }

// MessageRing returns the offset of the message inbox of process i.
func MessageRing(n, i int) int64 { return CellOffset(n, n) + int64(i)*MessageRingSize }

// OperationRing returns the offset of the operation ring of process i.
func OperationRing(n, i int) int64 { return MessageRing(n, n) + int64(i)*OperationRingSize }

// ControlSize returns the size of everything before the heaps: what each process maps once.
func ControlSize(n int) int64 { return OperationRing(n, n) }

// HeapOffset returns the offset of the heap region of process i.
func HeapOffset(n, i int) int64 { return roundUp(ControlSize(n), HeapStride) + int64(i)*HeapStride }

// ImageOffset returns the offset of the image of the address space of process i. ImageOffset(n, n) is the size of the
// whole memfd.
func ImageOffset(n, i int) int64 {
	return roundUp(HeapOffset(n, n), ImageStride) + int64(i)*ImageStride
}

func roundUp(x, to int64) int64 { return (x + to - 1) / to * to }
