package op

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// maxSmallCount is the number of elements up to which Go executes the most common reductions: a call into C takes as
// long as that many elements.
const maxSmallCount = 16

// combineSmall executes target op= origin for few elements of the most common types and operations, like Kernel.
// Returns false if it has no loop for them.
func combineSmall(h uintptr, b *datatype.Basic, origin, target []byte, n int) bool {
	switch b.Class {
	case datatype.Signed, datatype.Address:
		switch b.Size {
		case 4:
			return loop[int32](h, origin, target, n)
		case 8:
			return loop[int64](h, origin, target, n)
		}
	case datatype.Unsigned:
		switch b.Size {
		case 4:
			return loop[uint32](h, origin, target, n)
		case 8:
			return loop[uint64](h, origin, target, n)
		}
	case datatype.Floating:
		switch {
		case b.Long:
		case b.Size == 4:
			return loop[float32](h, origin, target, n)
		case b.Size == 8:
			return loop[float64](h, origin, target, n)
		}
	}
	return false
}

func loop[T int32 | int64 | uint32 | uint64 | float32 | float64](h uintptr, origin, target []byte, n int) bool {
	x, y := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(origin))), n),
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(target))), n)
	switch h {
	case abi.MPI_SUM:
		for i := range x {
			y[i] += x[i]
		}
	case abi.MPI_MIN:
		for i := range x {
			if x[i] < y[i] {
				y[i] = x[i]
			}
		}
	case abi.MPI_MAX:
		for i := range x {
			if x[i] > y[i] {
				y[i] = x[i]
			}
		}
	default:
		return false
	}
	return true
}
