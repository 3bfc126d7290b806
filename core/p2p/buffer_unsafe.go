package p2p

import "unsafe"

// addressOf returns the address of b. The caller keeps b alive.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
