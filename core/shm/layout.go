// Package shm owns the memory that the processes of one node share: a single memfd with the control segment at its
// beginning, followed by one heap region for each process. The memfd has no name in the file system, so the kernel
// frees it when the last process ends. If the file size limit (ulimit -f) is too low, the memfd holds only a header
// with the id of a System V segment, which holds all of this memory except the images (backing.go).
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
// indices, never addresses, and a value read from it is range-checked before it is used as an index. Header, cells and
// wait records are structs of C (capi/base/node.h); core/gen generates their offsets (z_from_c.go).
//
// The package must not depend on messages, windows or datatypes. Other packages define the protocols for the areas that
// it provides.
package shm

// Sizes and strides in bytes.
const (
	Magic = 0x676f6d7069726d61 // "gompirma"
	// Version of the layout. A library refuses to use the memory of a launcher with another version.
	Layout     = 14
	PageSize   = 4096
	HeaderSize = PageSize

	OperationRingSize = 576 << 10
	HeapStride        = 1 << 40
	// ImageStride is more than any address of a user process without five levels of page tables.
	ImageStride = 1 << 48
)

// BarrierSize returns the size in bytes of the shared memory of a barrier among n processes (capi/base/barrier.h),
// initially zero: two cache lines for the central barrier, and two for each member.
func BarrierSize(n int) int64 { return CacheLine * (2 + 2*int64(n)) }

// State is the state of a process, stored in its cell. The constants Absent to Failed are its values.
type State uint32

// isAlive returns whether a process is between MPI_Init and the end of MPI_Finalize, and is not known to have failed.
func (s State) isAlive() bool { return s == Opening || s == Running || s == Finishing }

// CellSize returns the stride of the cells on a node of n processes.
func CellSize(n int) int64 { return roundUp(CellBytes+8*int64(n), PageSize) }

// CellOffset returns the offset of the cell of process i.
func CellOffset(n, i int) int64 { return HeaderSize + int64(i)*CellSize(n) }

// MessageRing returns the offset of the message inbox of process i.
func MessageRing(n, i int) int64 { return CellOffset(n, n) + int64(i)*MessageRingSize }

// OperationRing returns the offset of the operation ring of process i.
func OperationRing(n, i int) int64 { return MessageRing(n, n) + int64(i)*OperationRingSize }

// ControlSize returns the size of the control segment, which is all memory before the heaps. Each process maps it once.
func ControlSize(n int) int64 { return OperationRing(n, n) }

// HeapOffset returns the offset of the heap region of process i.
func HeapOffset(n, i int) int64 { return roundUp(ControlSize(n), HeapStride) + int64(i)*HeapStride }

// ImageOffset returns the offset of the image of the address space of process i. ImageOffset(n, n) is the size of the
// whole memfd.
func ImageOffset(n, i int) int64 {
	return roundUp(HeapOffset(n, n), ImageStride) + int64(i)*ImageStride
}

func roundUp(x, to int64) int64 { return (x + to - 1) / to * to }
