package datatype

import "unsafe"

// MemoryAt is the memory that count copies of the type touch in the buffer at address, which must stay valid while the
// result is used. The address may be 0 (MPI_BOTTOM) if the displacements are absolute. Precondition: InMemory has
// refused nothing.
func (l Layout) MemoryAt(address uintptr, count int64) Memory {
	lo, hi, _ := l.Bounds(count)
	if lo == hi {
		return Memory{}
	}
	first := address + uintptr(lo)
	return Memory{Mem: unsafe.Slice(*(**byte)(unsafe.Pointer(&first)), hi-lo), Base: -lo}
}
