package datatype

import "unsafe"

// copyRun copies n blocks of block bytes between two slices: from src, sstep bytes apart, to dst, dstep apart,
// beginning with the first byte of each. A block outside a slice panics, as an index would. Each small block is one
// load and one store.
func copyRun(dst []byte, dat, dstep int64, src []byte, sat, sstep, block, n int64) {
	checkRun(dst, dat, dstep, block, n)
	checkRun(src, sat, sstep, block, n)
	d, s := unsafe.Add(unsafe.Pointer(unsafe.SliceData(dst)), dat),
		unsafe.Add(unsafe.Pointer(unsafe.SliceData(src)), sat)
	switch block {
	case 1:
		copyBlocks[uint8](d, dstep, s, sstep, n)
	case 2:
		copyBlocks[uint16](d, dstep, s, sstep, n)
	case 4:
		copyBlocks[uint32](d, dstep, s, sstep, n)
	case 8:
		copyBlocks[uint64](d, dstep, s, sstep, n)
	case 16:
		copyBlocks[[2]uint64](d, dstep, s, sstep, n)
	default:
		for i := int64(0); i < n; i++ {
			copy(dst[dat+i*dstep:dat+i*dstep+block], src[sat+i*sstep:])
		}
	}
}

// checkRun panics unless the run lies in b. Its offsets do not overflow: they are within the bounds of the type.
func checkRun(b []byte, at, step, block, n int64) {
	last := at + (n-1)*step
	_ = b[min(at, last) : max(at, last)+block]
}

// copyBlocks does the loop for blocks of the size of T, at any alignment: the slices were made from the application's
// memory. (Go allows that on the machines that this library is for; checkptr, which the race detector brings, wants an
// alignment for types with pointers only.)
func copyBlocks[T any](d unsafe.Pointer, dstep int64, s unsafe.Pointer, sstep, n int64) {
	for i := int64(0); i < n; i++ {
		*(*T)(unsafe.Add(d, i*dstep)) = *(*T)(unsafe.Add(s, i*sstep))
	}
}
