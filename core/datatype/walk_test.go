package datatype

import (
	"iter"
	"unsafe"
)

// segments is the function reference.Segments. These tests cannot import core/datatype/reference, which imports this
// package. The external test reference_test.go sets the variable.
var segments func(program []int64, count int64, elements bool, position int64) iter.Seq2[int64, int64]

// SetSegments sets the variable `segments`.
func SetSegments(f func(program []int64, count int64, elements bool, position int64) iter.Seq2[int64, int64]) {
	segments = f
}

// addressOf returns the address of a buffer whose data b begins lo bytes after that address. It keeps b alive during
// the next three calls of addressOf.
func addressOf(b []byte, lo int64) uintptr {
	copy(asked[1:], asked[:])
	asked[0] = b
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(lo)
}

var asked [4][]byte
