// Package datatype owns MPI's datatypes: the predefined ones of the ABI, the constructors, and the flattened form of a
// type, a flat []int64 program that says which bytes a type touches (format.go). It knows nothing of communication, of
// C, or of who may call what when.
//
// # Types
//
// A *Type is immutable once made, except for its name, its attributes and whether it is committed. Get finds one by
// handle. The constructors (Vector, Struct, ...) return a new *Type with one reference and a handle; operations that
// outlive the call hold it with Retain and let go with Release, so that MPI_Type_free, which is Free, may come while
// they run. Program returns the flattened form.
//
// # Layout
//
// With l := t.Layout():
//
//	l.Bounds(count)             the lowest and one past the highest byte that count copies touch, relative to the
//	                            buffer's address
//	l.Packed(count)             the bytes of data of count copies
//
// C walks over the data (capi/datatype); Pack and Unpack lead there.
//
// Sizes, offsets, extents and bounds are in bytes, always 64 bits wide. All arithmetic on them is checked.
package datatype
