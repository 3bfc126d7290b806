package main

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Application memory comes as uintptr and becomes a Go pointer here, for the length of one call. Addresses such as
// MPI_IN_PLACE (1) never do.

// out returns the application's variable of type T at address.
func out[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// slice returns n elements of type T at address as a slice; nil for n == 0.
func slice[T any](address uintptr, n int) []T {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(out[T](address), n)
}

// array returns n elements of type T at address, all of them the caller's to read, as a slice: before it makes anything
// of that length, since a length may be as wrong as an address is, and then the process is to end by the same signal
// and not by Go's lack of memory. MPI_ERR_COUNT: no memory is that long.
func array[T any](address uintptr, n int64) ([]T, error) {
	const step = 64 << 10 // bytes
	each := int64(unsafe.Sizeof(*new(T)))
	if n > (1<<47-int64(address&(1<<47-1)))/each {
		return nil, mpierr.New(abi.MPI_ERR_COUNT, "an array of %d elements at %#x is longer than memory", n,
			address)
	}
	for at := int64(step); at < n*each; at += step {
		touch(out[byte](address + uintptr(at)))
	}
	return slice[T](address, int(n)), nil
}

// listAt returns the n elements at an address. MPI_ERR_ARG: n is negative, or there is none there.
func listAt[T any](what string, n int32, at uintptr) ([]T, error) {
	if n < 0 || n > 0 && at == 0 {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "%d %s at address %#x", n, what, at)
	}
	return array[T](at, int64(n))
}

// touch reads a byte, and faults where there is no memory.
//
//go:noinline
func touch(p *byte) byte { return *p }

// putString stores s with an ending 0 at address, cut to size bytes altogether, and returns its length without the 0.
// Not inlined: with a constant s, Go 1.26 fails to compile the copy to an address that it knows as an integer.
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
