// Package datatype owns the table of the predefined datatypes, and reads datatypes that C has constructed. The
// flattened form of a type is a program, a flat []int64 that describes which bytes a type touches
// (capi/datatype/program.h). The package must not depend on communication or on C. It does not check whether MPI
// permits a call at the time of the call.
//
// Get returns the *Type of a handle. An operation that outlives its call acquires a reference by Retain and releases it
// by Release. So the application may free the type while the operation is in progress. C iterates over the data of a
// type; Pack and Unpack call it.
//
// Sizes, offsets, extents and bounds are in bytes, always 64 bits wide. All arithmetic on them is checked.
package datatype
