package coll

import (
	"unsafe"

	"gompirma/core/datatype"
)

// Slices of the application's memory. They are valid during the call, because the application must not free or change
// the buffers before the call completes.

// memory returns n bytes at an address of the application.
func memory(addr uintptr, n int) []byte { return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n) }

// contiguousData returns the n > 0 bytes of data of b if they are contiguous in memory, nil otherwise.
func contiguousData(b *Buffer, n int) []byte {
	if t := b.Type.Basic(); t != nil && t.Size == t.Extent {
		return memory(b.Addr, n)
	}
	if !b.Type.Contiguous() && (b.Count != 1 || b.Type.Segments() != 1) {
		return nil
	}
	return memory(b.Addr+uintptr(b.Type.Origin()), n)
}

// pack copies the data of b to dst.
func pack(dst []byte, b *Buffer) {
	datatype.Pack(dst, b.Addr, b.Count, b.Type.Program(), 0)
}

// unpack copies src to the data of b.
func unpack(b *Buffer, src []byte) {
	datatype.Unpack(b.Addr, b.Count, b.Type.Program(), 0, src)
}

// address returns the address of b, 0 for a nil slice. Preconditions: b is not on a stack, and the caller keeps b
// alive.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// contiguousBlocks returns the memory of blocks if they have the given lengths and follow each other without a gap, nil
// otherwise.
func contiguousBlocks(blocks [][]byte, lengths []int) []byte {
	total := 0
	for i, b := range blocks {
		if len(b) != lengths[i] || len(b) > 0 && address(b) != address(blocks[0])+uintptr(total) {
			return nil
		}
		total += len(b)
	}
	if len(blocks[0]) == 0 {
		return nil
	}
	return memory(address(blocks[0]), total)
}
