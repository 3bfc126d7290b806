package rma

import "unsafe"

// bytesOf returns n bytes of memory at addr.
func bytesOf(addr uintptr, n int64) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}
