package coll

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Shm is the interface to the shared-memory collectives of a communicator. Its members on one node communicate through
// shared memory, without messages. C implements them (capi/coll/shm_coll.h), so that C entry points can use them
// without a call into Go. If C passes a call to this package, the package converts the data to bytes and then uses the
// same shared memory. So in one call, some members may enter the shared-memory collective from C, and other members
// from Go.
//
// If the members are on several nodes, the members of each node share memory, and one process of each node communicates
// with the other nodes (capi/coll/hierarchy.h).
type Shm interface {
	// Supports returns whether a call of this kind can run in shared memory.
	Supports(k Kind) bool
	// Run executes one member's part of a call. It returns done = false if the call must use messages. In this case
	// the members have agreed on the lengths of their data, and x.Agreed holds the result. Errors: those of
	// Mismatch, MPI_ERR_PROC_ABORTED, or an error of ShmCall.Combine.
	Run(x *ShmCall) (done bool, err error)
	// RunOnNode does the same as Run among only the members on this node, for a communicator on several nodes. The
	// ranks in x are the members' indices on the node.
	RunOnNode(x *ShmCall) (done bool, err error)
	// Leave reports that the communicator is freed. It returns whether nonblocking calls still need the
	// communicator; if so, C reports when they have completed.
	Leave() bool
	// Bcast and Allgather are for internal use, with a small number of bytes that is equal at all members. Bcast
	// copies the data `b` of process `root` to the buffer `b` of all members. Allgather returns the contributions
	// of all members that share memory, ordered by their index on the node.
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
	Peers []int32 // ranks in MPI_COMM_WORLD of the members on this node
}

// OpenShm creates the shared-memory collectives of a communicator. It is nil in tests of this package; collectives then
// use messages. OpenShm and comm.CollSize are set before the first communicator is created.
var OpenShm func(h ShmHost) (Shm, error)

// ShmCall is one member's part of a shared-memory collective. The kind determines which fields are used; struct
// gompi_coll_call describes this.
type ShmCall struct {
	Kind      Kind
	Root      int
	Bytes     int // size of one block
	In, Out   []byte
	Ins, Outs [][]byte
	Sizes     []int   // size of each member's block; nil if each block has the size Bytes
	To, From  []int32 // processes to which Ins go and from which Outs come, if blocks differ in length; -1 for none

	// For a reduction of elements of Elem bytes. If Combine is not nil, it reduces the elements; otherwise Op does.
	// In the latter case Op is predefined, or it is user-defined and can work on the elements in place.
	Elem    int
	Op      *op.Op
	Type    *datatype.Type
	Combine func(in, inout []byte) error

	Agreed Agreed // values on which the members have agreed; set by Run
}

// Agreed holds the values on which the members of a call that must use messages have agreed in shared memory.
type Agreed struct {
	Known       bool
	Bytes       int   // number of bytes that the root of a broadcast sends
	DeferredErr error // error to return at the end: the root of a broadcast passes another length
}

// shmCall returns a call in the form that Shm needs. ok is false if Shm does not support the call. User-defined
// reductions of elements that are not contiguous use Combine.
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
		// On several nodes, the operands of each node are combined first. If the operation is not commutative,
		// this needs consecutive ranks on each node.
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

// setPeers sets the source and the destination of each block. It is for calls in which only the sender and the receiver
// of a block know its length.
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
			x.Outs = slices.Clone(o.outs) // exchanged in pairs below, as view.neighbors receives them
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

// tryShm executes a call in shared memory if possible. If `done` is false, `agreed` holds the values on which the
// members have agreed. The result `done` is the same at all members, because it depends only on values that they have
// in common or have agreed on.
func (k *Call) tryShm(st *state, o *operands) (done bool, agreed Agreed, err error) {
	if st.shm == nil {
		return false, agreed, nil
	}
	x, ok := k.shmCall(o)
	if !ok || !st.shm.Supports(x.Kind) {
		return false, agreed, nil
	}
	if x.Kind == KindReduceScatter && k.Send.Addr == inPlace && len(o.out) > 0 {
		// The receive buffer also holds the send data, which other members read until the call ends.
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
