package rma

import "unsafe"

// bytesOf returns memory of the application by its address.
func bytesOf(addr uintptr, n int64) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}
