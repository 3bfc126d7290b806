package coll

import (
	"gompirma/core/datatype"
	"gompirma/core/op"
)

// How the elements of a reduction travel:
//
//	a predefined type       as they lie in memory, gaps inside pairs included, so that they can be reduced where they arrive
//	a derived type without gaps  the same
//	any other derived type       packed; a user-defined function, the only one that takes such a type, gets copies laid out as the type says
//
// What is stored in the application's receive buffer is the data of the type only, never a gap.

// newReducer returns the reduction of o on elements of type t.
func newReducer(o *op.Op, t *datatype.Type) *reducer {
	r := &reducer{size: int(t.Size()), commutative: o.Commutative()}
	if flat(t) {
		r.size = int(t.Extent())
		if b := t.Basic(); b != nil && !o.User() {
			r.combine = func(in, inout []byte) error { return o.Combine(b, in, inout, len(in)/r.size) }
		} else {
			r.combine = func(in, inout []byte) error { return o.Call(t, address(in), address(inout), int64(len(in)/r.size)) }
		}
		return r
	}
	l := t.Layout()
	var a, b []byte // scratch, each for the elements of one step
	r.combine = func(in, inout []byte) error {
		n := int64(len(in) / r.size)
		lo, hi, _ := l.Bounds(n)
		if size := int(hi - lo); len(a) < size {
			// The address that the function gets is aligned as for any type.
			skew := int(lo & 15)
			a, b = make([]byte, size+skew)[skew:], make([]byte, size+skew)[skew:]
		}
		ma, mb := datatype.Memory{Mem: a, Base: -lo}, datatype.Memory{Mem: b, Base: -lo}
		l.Unpack(ma, in, n)
		l.Unpack(mb, inout, n)
		err := o.Call(t, address(a)-uintptr(lo), address(b)-uintptr(lo), n)
		l.Pack(inout, mb, n)
		return err
	}
	return r
}

// flat returns whether elements of t travel as they lie in memory.
func flat(t *datatype.Type) bool {
	if t.Basic() != nil {
		return true
	}
	l := t.Layout()
	return l.Contiguous() && l.Origin() == 0 && l.Size() == l.Extent()
}

// loadElements returns count elements at addr as they travel.
func loadElements(b *Buffer) []byte {
	if flat(b.Type) {
		return memory(b.Addr, int(b.Count*b.Type.Extent()))
	}
	return load(b)
}

// storeElements returns where elements as they travel are to be put to get to b.
func (o *operands) storeElements(b Buffer) []byte {
	if t := b.Type; flat(t) && t.Size() != t.Extent() {
		elements := make([]byte, b.Count*t.Extent())
		o.after = append(o.after, func() error {
			packed := make([]byte, b.Count*t.Size())
			pack(packed, &Buffer{address(elements), b.Count, t})
			unpack(&b, packed)
			return nil
		})
		return elements
	}
	return o.store(b, false)
}
