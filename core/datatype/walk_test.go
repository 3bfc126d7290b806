package datatype

import (
	"iter"
	"unsafe"
)

// segments is that of core/datatype/reference, which imports this package: reference_test.go, outside, brings it here.
var segments func(program []int64, count int64, elements bool, position int64) iter.Seq2[int64, int64]

// SetSegments brings it.
func SetSegments(f func(program []int64, count int64, elements bool, position int64) iter.Seq2[int64, int64]) {
	segments = f
}

// addressOf returns the address of a buffer whose data begins lo bytes behind it at b, which stays there until a few
// others have been asked for.
func addressOf(b []byte, lo int64) uintptr {
	copy(asked[1:], asked[:])
	asked[0] = b
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(lo)
}

var asked [4][]byte
