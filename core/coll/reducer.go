package coll

import (
	"runtime"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// How the elements of a reduction travel: those of a type without gaps as they lie in memory, others packed. A user's
// function, the only operation that takes a derived type, gets copies of packed elements laid out as the type says.
// Pairs with a gap, under MPI_MINLOC and MPI_MAXLOC, travel with it, as the loops want them. What is stored in the
// application's receive buffer is the data of the type only, never a gap.

// reducer is a reduction on elements as they travel.
type reducer struct {
	size        int  // bytes of an element
	commutative bool // the order of ranks may begin at the root
	op          *op.Op
	typ         *datatype.Type
	laidOut     bool                         // elements lie as in memory
	f           func(in, inout []byte) error // instead of op, in tests
}

func (r *reducer) set(o *op.Op, t *datatype.Type) {
	*r = reducer{size: int(t.Size()), commutative: o.Commutative(), op: o, typ: t, laidOut: true}
	switch {
	case t.Size() == t.Extent() && (t.Basic() != nil || t.Layout().Contiguous() && t.Layout().Origin() == 0):
	case o.User():
		r.laidOut = false
	default:
		r.size = int(t.Extent())
	}
}

// asks returns whether the operation is a function of the application.
func (r *reducer) asks() bool { return r.op != nil && r.op.User() }

// combine sets inout[i] = in[i] op inout[i] for whole elements; in stands left, that is, it comes from lower ranks.
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
	case r.laidOut:
		return r.op.Call(r.typ, address(in), address(inout), int64(n))
	}
	return r.spread(in, inout, int64(n))
}

// spread has the function work on copies laid out as the type says.
func (r *reducer) spread(in, inout []byte, n int64) (err error) {
	defer orNoRoom(&err)
	lo, hi, _ := r.typ.Layout().Bounds(n)
	// The address that the function gets is aligned as for any type.
	size, skew := int(hi-lo), int(lo&15)
	if size > maxBytes {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "%d elements of %s lie in %d bytes, more than memory can hold", n,
			r.typ, size)
	}
	memory := room(2 * (size + 24)) // twice size and skew, and what b's alignment takes
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

// loadElements returns the elements of b as they travel.
func (o *operands) loadElements(b *Buffer) []byte {
	if o.red.laidOut {
		return memory(b.Addr, int(b.Count)*o.red.size)
	}
	return o.load(b)
}

// storeElements returns where elements as they travel are to be put to get to b.
func (o *operands) storeElements(b *Buffer) []byte {
	if int64(o.red.size) == b.Type.Size() {
		return o.store(b, nothing)
	}
	elements := o.room(int(b.Count) * o.red.size)
	o.afterElements(*b, elements)
	return elements
}

// afterElements has the data in elements, without the gaps, stored to b at the end.
func (o *operands) afterElements(b Buffer, elements []byte) {
	o.after = append(o.after, func() (err error) {
		defer orNoRoom(&err)
		packed := room(int(b.Count * b.Type.Size()))
		pack(packed, &Buffer{address(elements), b.Count, b.Type})
		unpack(&b, packed)
		runtime.KeepAlive(elements)
		return nil
	})
}
