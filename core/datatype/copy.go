package datatype

// Pack, set by capi before the first use, is C's: it copies the data of count copies at an address of the application,
// from byte position of its packed form on, to dst. It stops when dst is full or nothing is left, and returns the
// bytes. Precondition: InMemory has refused nothing.
var Pack func(dst []byte, address uintptr, count int64, program []int64, position int64) int64

// Unpack goes the other way.
var Unpack func(address uintptr, count int64, program []int64, position int64, src []byte) int64
