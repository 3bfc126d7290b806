package coll

import (
	"runtime"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// The wire format of the elements of a reduction:
//
//   - Elements of a type without gaps are sent as they are in memory.
//   - Elements of other types that a user-defined operation reduces are sent packed. The operation works on unpacked
//     copies of these elements. Only user-defined operations accept derived types.
//   - Pairs with a gap, for MPI_MINLOC and MPI_MAXLOC, are sent with the gap, because the loops of these operations
//     need it.
//
// The result is stored to the application's receive buffer without the gaps, so that the gaps in that buffer keep their
// contents.

// reducer is a reduction on elements in wire format.
type reducer struct {
	size         int  // bytes of an element
	commutative  bool // the reduction may start at the root instead of at rank 0
	op           *op.Op
	typ          *datatype.Type
	hasMemLayout bool                         // elements in wire format have the same layout as in memory
	f            func(in, inout []byte) error // used instead of op, in tests
}

func (r *reducer) set(o *op.Op, t *datatype.Type) {
	*r = reducer{size: int(t.Size()), commutative: o.Commutative(), op: o, typ: t, hasMemLayout: true}
	switch {
	case t.Size() == t.Extent() && (t.Basic() != nil || t.Contiguous() && t.Origin() == 0):
	case o.User():
		r.hasMemLayout = false
	default:
		r.size = int(t.Extent())
	}
}

// callsUser returns whether the operation is user-defined.
func (r *reducer) callsUser() bool { return r.op != nil && r.op.User() }

// combine sets inout[i] = in[i] op inout[i] for whole elements. The left operand `in` comes from lower ranks.
func (r *reducer) combine(in, inout []byte) error {
	if len(in) == 0 {
		return nil
	}
	if r.f != nil {
		return r.f(in, inout)
	}
	n := len(in) / r.size
	switch {
	case !r.op.User():
		return r.op.Combine(r.typ.Basic(), in, inout, n)
	case r.hasMemLayout:
		return r.op.Call(r.typ, address(in), address(inout), int64(n))
	}
	return r.combineUserLayout(in, inout, int64(n))
}

// combineUserLayout unpacks the elements to copies that have the layout of the type, calls the user's function on the
// copies, and packs the result into inout.
func (r *reducer) combineUserLayout(in, inout []byte, n int64) (err error) {
	defer recoverNoMemory(&err)
	lo, hi, _ := r.typ.Bounds(n)
	// Displacement 0 of an element, whose address the function gets, must be a multiple of 16. But the first byte
	// of the data is at displacement lo. So each copy begins `skew` bytes after a multiple of 16.
	size, skew := int(hi-lo), int(lo&15)
	if size > maxBytes {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "%d elements of %s span %d bytes, which exceeds the address "+
			"space", n,
			r.typ, size)
	}
	// Two copies with skew (up to 15 bytes each), and up to 15 bytes to align the second.
	memory := alloc(2 * (size + 24))
	a := memory[skew : skew+size]
	b := memory[(skew+size+15)&^15+skew:][:size]
	at, to := address(a)-uintptr(lo), address(b)-uintptr(lo)
	datatype.Unpack(at, n, r.typ.Program(), 0, in)
	datatype.Unpack(to, n, r.typ.Program(), 0, inout)
	err = r.op.Call(r.typ, at, to, n)
	datatype.Pack(inout, to, n, r.typ.Program(), 0)
	runtime.KeepAlive(memory)
	return err
}

// loadElements returns the elements of b in wire format.
func (o *operands) loadElements(b *Buffer) []byte {
	if o.red.hasMemLayout {
		return memory(b.Addr, int(b.Count)*o.red.size)
	}
	return o.load(b)
}

// storeElements returns the memory in which the call must store result elements in wire format. The data of these
// elements is stored to `b` at the end of the call.
func (o *operands) storeElements(b *Buffer) []byte {
	if int64(o.red.size) == b.Type.Size() {
		return o.store(b, contentUndefined)
	}
	elements := o.alloc(int(b.Count) * o.red.size)
	o.afterElements(*b, elements)
	return elements
}

// afterElements adds a function to o.after that copies the data of the slice `elements`, without the gaps, to `b`.
func (o *operands) afterElements(b Buffer, elements []byte) {
	o.after = append(o.after, func() (err error) {
		defer recoverNoMemory(&err)
		packed := alloc(int(b.Count * b.Type.Size()))
		pack(packed, &Buffer{address(elements), b.Count, b.Type})
		unpack(&b, packed)
		runtime.KeepAlive(elements)
		return nil
	})
}
