package main

import (
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Addresses of application memory arrive as uintptr. These functions convert them to Go pointers for the duration of
// one call. Special addresses such as MPI_IN_PLACE (1) must never be converted.

// out returns a pointer to the application's variable of type T at an address.
func out[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// slice returns the n elements of type T at an address as a slice, or nil if n <= 0.
func slice[T any](address uintptr, n int) []T {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(out[T](address), n)
}

// array checks that the n elements of type T at an address can be read, and returns them as a slice. It reads one byte
// in every 64 KiB. So if n is too large, the process ends here with SIGSEGV, and not later when Go allocates memory for
// n elements. It returns MPI_ERR_COUNT if the array would exceed the address space.
func array[T any](address uintptr, n int64) ([]T, error) {
	const step = 64 << 10 // bytes
	each := int64(unsafe.Sizeof(*new(T)))
	if n > (1<<47-int64(address&(1<<47-1)))/each {
		return nil, mpierr.New(abi.MPI_ERR_COUNT, "an array of %d elements at %#x exceeds the address space", n,
			address)
	}
	for at := int64(step); at < n*each; at += step {
		touch(out[byte](address + uintptr(at)))
	}
	return slice[T](address, int(n)), nil
}

// listAt returns the n elements at an address. It returns MPI_ERR_ARG if n is negative, or if n > 0 and the address is
// null.
func listAt[T any](what string, n int32, at uintptr) ([]T, error) {
	if n < 0 {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "the number of %s is %d; it must not be negative", what, n)
	}
	if n > 0 && at == 0 {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "the array of %s is NULL; its length must be %d", what, n)
	}
	return array[T](at, int64(n))
}

// touch reads the byte at p, so that the process receives SIGSEGV here if p is not mapped.
//
//go:noinline
func touch(p *byte) byte { return *p }

// cString copies the C string at an address. It returns "" for a null pointer.
func cString(address uintptr) string {
	if address == 0 {
		return ""
	}
	first := out[byte](address)
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(first, n))
}

// putString stores s, truncated to size-1 bytes, and a terminating 0 at address. It returns the length without the 0.
// It is not inlined, because Go 1.26 fails to compile an inlined call if both s and the address are constants.
//
//go:noinline
func putString(address uintptr, s string, size int) int {
	b := slice[byte](address, size)
	n := copy(b[:size-1], s)
	b[n] = 0
	return n
}

// pointer converts an address to a pointer for a call into C.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
