package coll

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Shm is memory that the members of a communicator on one node share, in which collectives run without messages. It is
// implemented in C (capi/coll/shm_coll.h), so that C entry points can use it without a call into Go. Calls that C
// passes to this package run here until their data is bytes, and then in the same memory. So some members of a call may
// enter from C and others from Go.
//
// If the members are on several nodes, the members of each node share memory, and one process of each communicates with
// the other nodes (capi/coll/hierarchy.h).
type Shm interface {
	// Supports returns whether a call of this kind can run in shared memory.
	Supports(k Kind) bool
	// Run executes one member's part of a call. Returns done = false if the call must use messages; the members
	// have then agreed on their lengths (x.Agreed). MPI_ERR_OTHER, _ROOT, _TRUNCATE, _COUNT: see Mismatch;
	// MPI_ERR_PROC_ABORTED; an error of ShmCall.Combine.
	Run(x *ShmCall) (done bool, err error)
	// RunOnNode is Run among the members of a hierarchy that share memory. Ranks are their indices on the node.
	RunOnNode(x *ShmCall) (done bool, err error)
	// Leave is called when the communicator is freed. It returns whether nonblocking calls still need it; C then
	// reports their end.
	Leave() bool
	// Bcast and Allgather are for internal use, with a small number of bytes that is equal at all members. Bcast
	// copies root's b to all members. Allgather returns the contributions of all members that share memory, by
	// their index on the node.
	Bcast(root int, b []byte) error
	Allgather(mine, all []byte) error
	// Used returns whether a collective has written to the control block. Clean sets that memory to zero;
	// precondition: no member uses it any longer.
	Used() bool
	Clean()
	// Close ends the use of the memory.
	Close()
}

// ShmHost is what shared-memory collectives need to know of their communicator.
type ShmHost struct {
	Comm  *comm.Comm
	Block []byte  // comm.CollSize bytes, zeroed; nil: no other member is on this node
	Peers []int32 // ranks in MPI_COMM_WORLD of the members that share it
}

// OpenShm creates the shared-memory collectives of a communicator. If it is nil, as in tests of this package,
// collectives use messages. It is set before the first communicator is created, together with comm.CollSize.
var OpenShm func(h ShmHost) (Shm, error)

// ShmCall is one member's part of a shared-memory collective. The kind determines which fields are used: see struct
// gompi_coll_call.
type ShmCall struct {
	Kind      Kind
	Root      int
	Bytes     int // of one block
	In, Out   []byte
	Ins, Outs [][]byte
	Sizes     []int   // of the blocks of each member; nil: Bytes
	To, From  []int32 // members that Ins go to and Outs come from, where each block has its own length; -1: none

	// The reduction of elements of Elem bytes: by Combine if it is not nil, otherwise by a predefined operation, or
	// by one of the application that can work on the elements in place.
	Elem    int
	Op      *op.Op
	Type    *datatype.Type
	Combine func(in, inout []byte) error

	Agreed Agreed // result
}

// Agreed is what the members know of a call that must use messages.
type Agreed struct {
	Known       bool
	Bytes       int   // of the root of a broadcast
	DeferredErr error // error to return at the end of the call: the root of a broadcast has a different length
}

// shmCall returns the operands of a call for shared memory. ok is false if Shm does not support the call. Reductions by
// functions of the application on elements that are not contiguous use Combine.
func (k *Call) shmCall(o *operands) (x ShmCall, ok bool) {
	x = ShmCall{Kind: k.Kind, Root: int(k.Root), Bytes: len(o.in), In: o.in, Out: o.out, Ins: o.ins, Outs: o.outs}
	n := k.Comm.Size()
	switch k.Kind {
	case KindBcast, KindScatter:
		x.Bytes = len(o.out)
	case KindAllgather, KindAllgatherv:
		x.Kind = KindAllgather
		x.Sizes = make([]int, n)
		for i, b := range o.outs {
			x.Sizes[i] = len(b)
		}
	case KindAlltoall:
		x.Bytes = len(o.outs[k.Comm.Rank()])
	case KindReduceScatter, KindReduceScatterBlock:
		x.Kind, x.Sizes = KindReduceScatter, o.sizes
		if len(o.in) == 0 {
			x.Sizes = make([]int, n)
		}
	case KindBarrier, KindReduce, KindAllreduce, KindScan, KindExscan, KindGather:
	default:
		k.setPeers(&x, o)
	}
	if k.Kind == KindReduce || k.Kind == KindAllreduce {
		// On several nodes the operands of each node are combined first.
		if hierarchy := k.Comm.Hierarchy; hierarchy != nil && !hierarchy.Regular && !k.Op.Commutative() {
			return x, false
		}
	}
	if k.Kind.Reduces() {
		x.Elem, x.Op, x.Type = max(o.red.size, 1), k.Op, k.Recv.Type
		if k.Op.User() && !o.red.hasMemLayout {
			x.Combine = o.red.combine
		}
	}
	return x, true
}

// setPeers sets the source and destination of blocks whose lengths only these two processes know.
func (k *Call) setPeers(x *ShmCall, o *operands) {
	root := []int32{k.Root}
	switch k.Kind {
	case KindGatherv:
		x.To, x.Ins, x.From = root, [][]byte{o.in}, ranks(len(o.outs))
	case KindScatterv:
		x.From, x.Outs, x.To = root, [][]byte{o.out}, ranks(len(o.ins))
	case KindAlltoallv, KindAlltoallw:
		x.To, x.From = ranks(len(o.ins)), ranks(len(o.outs))
	default:
		x.To, x.From = maskProcNull(k.destinations), maskProcNull(k.sources)
		if _, grid := k.Comm.Topology.(*comm.Cart); grid {
			x.Outs = slices.Clone(o.outs) // in the order of view.neighbors
			for i := 0; i < len(x.From); i += 2 {
				x.From[i], x.From[i+1] = x.From[i+1], x.From[i]
				x.Outs[i], x.Outs[i+1] = x.Outs[i+1], x.Outs[i]
			}
		}
	}
}

// ranks returns 0 to n-1.
func ranks(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// maskProcNull returns a copy of a list of ranks with -1 for MPI_PROC_NULL.
func maskProcNull(list []int32) []int32 {
	all := slices.Clone(list)
	for i, r := range all {
		if r == abi.MPI_PROC_NULL {
			all[i] = -1
		}
	}
	return all
}

// tryShm executes a call in shared memory if possible. If done is false, agreed is what the members have agreed on.
// done depends only on values that all members have in common or have agreed on.
func (k *Call) tryShm(st *state, o *operands) (done bool, agreed Agreed, err error) {
	if st.shm == nil {
		return false, agreed, nil
	}
	x, ok := k.shmCall(o)
	if !ok || !st.shm.Supports(x.Kind) {
		return false, agreed, nil
	}
	if x.Kind == KindReduceScatter && k.Send.Addr == inPlace && len(o.out) > 0 {
		// The send data, which is in this buffer, must stay unchanged until the end.
		out := x.Out
		x.Out = alloc(len(out))
		if done, err = st.shm.Run(&x); done && err == nil {
			copy(out, x.Out)
		}
		return done, x.Agreed, err
	}
	done, err = st.shm.Run(&x)
	return done, x.Agreed, err
}

// Mismatch returns the error for the difference between the call of rank i and ours; both are given as words of the
// shared-memory protocol (capi/coll/shm_coll.h). MPI_ERR_OTHER: a different call; MPI_ERR_ROOT: a different root;
// MPI_ERR_TRUNCATE: longer; MPI_ERR_COUNT: shorter, or with elements of a different size.
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
	return mpierr.New(abi.MPI_ERR_COUNT, "the elements of rank %d have another size than those of this process", i)
}
