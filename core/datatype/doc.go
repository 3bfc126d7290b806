// Package datatype owns MPI's datatypes: the predefined ones of the ABI, the constructors, and the flattened form of a
// type, a flat []int64 program that describes which bytes a type touches (format.go). It must not depend on
// communication or on C. It does not check whether MPI permits a call at the time of the call.
//
// # Types
//
// A *Type is immutable after its creation, except for its name, its attributes and whether it is committed. Get returns
// the *Type of a handle. The constructors (Vector, Struct, ...) return a new *Type with one reference and a handle. An
// operation that outlives its call acquires a reference by Retain and releases it by Release. So MPI_Type_free (Free)
// may be called while the operation is in progress. Program returns the flattened form.
//
// # Layout
//
// With l := t.Layout():
//
//	l.Bounds(count)             the lowest and one past the highest byte that count copies touch, relative to the
//	                            buffer's address
//	l.Packed(count)             the bytes of data of count copies
//
// C iterates over the data (capi/datatype); Pack and Unpack call it.
//
// Sizes, offsets, extents and bounds are in bytes, always 64 bits wide. All arithmetic on them is checked.
package datatype
