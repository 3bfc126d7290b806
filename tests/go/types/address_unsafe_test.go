package types

import "unsafe"

// addressOf returns the address of a buffer whose data b begins lo bytes after that address. It keeps b alive during
// the next three calls of addressOf.
func addressOf(b []byte, lo int64) uintptr {
	copy(asked[1:], asked[:])
	asked[0] = b
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(lo)
}

var asked [4][]byte

// pointerTo returns an address as a pointer. The address may be outside of all memory.
func pointerTo(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
