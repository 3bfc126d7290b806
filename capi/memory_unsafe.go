package main

import "unsafe"

// Application memory comes as uintptr and becomes a Go pointer here, for the length of one call. Addresses such as MPI_IN_PLACE (1) never do.

// out returns the application's variable of type T at address.
func out[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// slice returns n elements of type T at address as a slice; nil for n == 0.
func slice[T any](address uintptr, n int) []T {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(out[T](address), n)
}

// putString stores s with an ending 0 at address, cut to size bytes altogether, and returns its length without the 0. Not inlined: with a constant s,
// Go 1.26 fails to compile the copy to an address that it knows as an integer.
//
//go:noinline
func putString(address uintptr, s string, size int) int {
	b := slice[byte](address, size)
	n := copy(b[:size-1], s)
	b[n] = 0
	return n
}

// pointer makes an address a pointer for a call into C.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
