package p2p

import "unsafe"

// addressOf returns the address of b. The caller keeps b alive.
func addressOf[T any](b []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
