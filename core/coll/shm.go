package coll

import (
	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Shm is the interface to the shared-memory collectives of a communicator (capi/coll/shm_coll.h), for the calls that
// this package makes itself. C executes the application's calls, and passes to this package only calls that need
// messages. If the members are on several nodes, the members of each node share memory, and one process of each node
// communicates with the other nodes (capi/coll/hierarchy.h).
type Shm interface {
	// Supports returns whether a call of this kind can run in shared memory.
	Supports(k Kind) bool
	// RunOnNode executes one member's part of a call of the members on this node. The ranks in x are the members'
	// indices on the node. Errors: those of Mismatch, MPI_ERR_PROC_ABORTED, or an error of the reduction.
	RunOnNode(x *ShmCall) error
	// Leave reports that the communicator is freed. It returns whether nonblocking calls still need the
	// communicator; if so, C reports when they have completed.
	Leave() bool
	// Barrier, Bcast and Allgather have a small number of bytes that is equal at all members. Bcast copies the data
	// `b` of process `root` to the buffer `b` of all members. Allgather returns the contributions of all members
	// that share memory, ordered by their index on the node.
	Barrier() error
	Bcast(root int, b []byte) error
	Allgather(mine, all []byte) error
	// Used returns whether a collective has written to the control block. Clean sets that memory to zero.
	// Precondition of Clean: no member uses the memory any longer.
	Used() bool
	Clean()
	// Close ends this process' use of the shared memory.
	Close()
}

// ShmHost holds the properties of a communicator that its shared-memory collectives need.
type ShmHost struct {
	Comm  *comm.Comm
	Block []byte  // comm.CollSize bytes, zeroed; nil if no other member is on this node
	Peers []int32 // process numbers of the members on this node
}

// OpenShm creates the shared-memory collectives of a communicator. It is nil in tests of this package; collectives then
// use messages. OpenShm and comm.CollSize are set before the first communicator is created.
var OpenShm func(h ShmHost) (Shm, error)

// ShmCall is one member's part of a shared-memory collective. The kind determines which fields are used; struct
// gompi_coll_call describes this.
type ShmCall struct {
	Kind    Kind
	Root    int
	Bytes   int // size of one block
	In, Out []byte
	Outs    [][]byte
	// For a reduction of elements of Elem bytes. If Packed is true, Op is user-defined, and the elements are
	// unpacked for it.
	Elem   int
	Op     *op.Op
	Type   *datatype.Type
	Packed bool
}

// Agreed holds the values on which the members of a call that must use messages have agreed in shared memory.
type Agreed struct {
	Known       bool
	Bytes       int   // number of bytes that the root of a broadcast sends
	DeferredErr error // error to return at the end: the root of a broadcast passes another length
}

// Mismatch returns this process' error if rank i made a different call. The arguments `theirs` and `theirPlan` are the
// 64-bit words of the shared-memory protocol (capi/coll/shm_coll.h) that rank i wrote. The arguments `ours` and
// `ourPlan` are the corresponding words of this process. Errors: MPI_ERR_OTHER if rank i called another collective,
// MPI_ERR_ROOT if it passed another root, MPI_ERR_TRUNCATE if it passed more bytes, MPI_ERR_COUNT if it passed fewer
// bytes or elements of another size.
func Mismatch(i int, theirs, theirPlan, ours, ourPlan uint64) error {
	kind := func(w uint64) Kind { return Kind(w >> 56) }
	root := func(w uint64) uint64 { return w >> 32 & 0xffffff }
	switch {
	case kind(theirs) != kind(ours):
		also := ""
		if kind(theirs) == KindAllgather || kind(theirs) == KindBcast {
			also = ", or a function that uses it such as MPI_Win_create or MPI_Comm_dup,"
		}
		return mpierr.New(abi.MPI_ERR_OTHER, "rank %d called %v%s instead", i, kind(theirs), also)
	case root(theirs) != root(ours):
		return mpierr.New(abi.MPI_ERR_ROOT, "the root is %d on this process, but %d on rank %d", root(ours),
			root(theirs), i)
	}
	a, b := ourPlan>>16, theirPlan>>16
	if a == b {
		a, b = uint64(uint32(ours)), uint64(uint32(theirs))
	}
	switch {
	case b > a:
		return mpierr.New(abi.MPI_ERR_TRUNCATE, "this process passes %d bytes, but rank %d passes %d", a, i, b)
	case b < a:
		return mpierr.New(abi.MPI_ERR_COUNT, "this process passes %d bytes, but rank %d passes %d", a, i, b)
	}
	return mpierr.New(abi.MPI_ERR_COUNT, "the datatype of rank %d has elements of a different size than the "+
		"datatype of this process", i)
}
