package coll

import (
	"slices"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// Slots are memory that the members of a communicator on one node share, where collectives run without messages. They
// are C's (capi/coll/slots.h), for entry points there use them without a call into Go; what those leave to this package
// runs here until its data is bytes, and then in the same slots. So members may differ in which way they take.
//
// If the members are on several nodes, those of each have slots, and one of each meets the others
// (capi/coll/hierarchy.h).
type Slots interface {
	// Fits returns whether a call of this kind can begin there.
	Fits(k Kind) bool
	// Run does what one member has to do for a call, up to the end. done: false if it is for messages, and the
	// members have agreed on their lengths, which x.Agreed tells. MPI_ERR_OTHER, _ROOT, _TRUNCATE, _COUNT: see
	// Mismatch; MPI_ERR_PROC_ABORTED; an error of Exchange.Combine.
	Run(x *Exchange) (done bool, err error)
	// RunOnNode does the same among those members of a hierarchy that share memory, by their places.
	RunOnNode(x *Exchange) (done bool, err error)
	// Leave is asked when the communicator is freed: whether what was started needs it still. Then C tells when
	// that is over.
	Leave() bool
	// Bcast and Allgather are the library's own, for some bytes of one length at all members, of whom those of
	// Allgather share memory: what root has in b, and what all have, by their places.
	Bcast(root int, b []byte) error
	Allgather(mine, all []byte) error
	// Used returns whether they have been used in the control block; Clean makes that zero again when no member
	// uses it any longer.
	Used() bool
	Clean()
	// Close ends their use.
	Close()
}

// SlotsHost is how the communicator of slots looks from below.
type SlotsHost struct {
	Comm  *comm.Comm
	Block []byte  // of comm.CollSize bytes, zeroed; nil: nobody else is on this node
	Peers []int32 // ranks in MPI_COMM_WORLD of the members that share it
}

// OpenSlots makes slots. Without it, in tests of this package, collectives use messages. Set before the first
// communicator is made, with comm.CollSize.
var OpenSlots func(h SlotsHost) (Slots, error)

// Exchange is what one member does in slots. Which fields count depends on the kind: see struct gompi_slots_call.
type Exchange struct {
	Kind      Kind
	Root      int
	Bytes     int // of one block
	In, Out   []byte
	Ins, Outs [][]byte
	Sizes     []int   // of the blocks of each member; nil: Bytes
	To, From  []int32 // the members of Ins and Outs, where each has a length of its own; -1: none

	// The reduction: of elements of Elem bytes, by a predefined operation or by one of the application that finds
	// its elements as they lie in memory; if Combine is not nil, by that.
	Elem    int
	Op      *op.Op
	Type    *datatype.Type
	Combine func(in, inout []byte) error

	Agreed Agreed // result
}

// Agreed is what members know of a call that is for messages.
type Agreed struct {
	Known bool
	Bytes int   // of the root of a broadcast
	Late  error // what to tell when the call is over: a broadcast's root has another length
}

// exchange returns the operands of a call in the form of slots, and whether it has one. Reductions by functions of the
// application on elements that do not lie together come back as Combine.
func (k *Call) exchange(o *operands) (x Exchange, ok bool) {
	x = Exchange{Kind: k.Kind, Root: int(k.Root), Bytes: len(o.in), In: o.in, Out: o.out, Ins: o.ins, Outs: o.outs}
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
		k.pairs(&x, o)
	}
	if k.Kind == KindReduce || k.Kind == KindAllreduce {
		// Over nodes the operands of each node come together first.
		if hierarchy := k.Comm.Hierarchy; hierarchy != nil && !hierarchy.Regular && !k.Op.Commutative() {
			return x, false
		}
	}
	if k.Kind.Reduces() {
		x.Elem, x.Op, x.Type = max(o.red.size, 1), k.Op, k.Recv.Type
		if k.Op.User() && !o.red.laidOut {
			x.Combine = o.red.combine
		}
	}
	return x, true
}

// pairs sets whom the blocks of a call go to and come from whose lengths only these two know.
func (k *Call) pairs(x *Exchange, o *operands) {
	root := []int32{k.Root}
	switch k.Kind {
	case KindGatherv:
		x.To, x.Ins, x.From = root, [][]byte{o.in}, ranks(len(o.outs))
	case KindScatterv:
		x.From, x.Outs, x.To = root, [][]byte{o.out}, ranks(len(o.ins))
	case KindAlltoallv, KindAlltoallw:
		x.To, x.From = ranks(len(o.ins)), ranks(len(o.outs))
	default:
		x.To, x.From = members(k.destinations), members(k.sources)
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

// members returns a copy of a list of ranks with -1 for MPI_PROC_NULL.
func members(list []int32) []int32 {
	all := slices.Clone(list)
	for i, r := range all {
		if r == abi.MPI_PROC_NULL {
			all[i] = -1
		}
	}
	return all
}

// viaSlots does a call through slots and says whether it did; if not, agreed is what the members have agreed on.
// Returns true if it does depends only on what all members have alike, or have agreed on.
func (k *Call) viaSlots(st *state, o *operands) (done bool, agreed Agreed, err error) {
	if st.slots == nil {
		return false, agreed, nil
	}
	x, ok := k.exchange(o)
	if !ok || !st.slots.Fits(x.Kind) {
		return false, agreed, nil
	}
	if x.Kind == KindReduceScatter && k.Send.Addr == inPlace && len(o.out) > 0 {
		// What is to be sent must stay as it is until the end.
		out := x.Out
		x.Out = room(len(out))
		if done, err = st.slots.Run(&x); done && err == nil {
			copy(out, x.Out)
		}
		return done, x.Agreed, err
	}
	done, err = st.slots.Run(&x)
	return done, x.Agreed, err
}

// Mismatch says how the call of rank i differs from ours, of which both are told in the words of slots.
// MPI_ERR_OTHER: it is another one; MPI_ERR_ROOT: it has another root; MPI_ERR_TRUNCATE: it is longer; MPI_ERR_COUNT:
// it is shorter, or its elements have another size.
func Mismatch(i int, theirs, theirPlan, ours, ourPlan uint64) error {
	kind := func(w uint64) Kind { return Kind(w >> 56) }
	root := func(w uint64) uint64 { return w >> 32 & 0xffffff }
	switch {
	case kind(theirs) != kind(ours):
		return mpierr.New(abi.MPI_ERR_OTHER, "rank %d is in %v while this one is in %v", i, kind(theirs),
			kind(ours))
	case root(theirs) != root(ours):
		return mpierr.New(abi.MPI_ERR_ROOT, "%v: the root is %d here and %d at rank %d", kind(ours), root(ours),
			root(theirs), i)
	}
	a, b := ourPlan>>16, theirPlan>>16
	if a == b {
		a, b = uint64(uint32(ours)), uint64(uint32(theirs))
	}
	switch {
	case b > a:
		return mpierr.New(abi.MPI_ERR_TRUNCATE, "%v: %d bytes here and %d at rank %d", kind(ours), a, b, i)
	case b < a:
		return mpierr.New(abi.MPI_ERR_COUNT, "%v: %d bytes here and %d at rank %d", kind(ours), a, b, i)
	}
	return mpierr.New(abi.MPI_ERR_COUNT, "%v: the elements at rank %d have another size than here", kind(ours), i)
}
