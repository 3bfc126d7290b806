package datatype

// Pack is implemented in C; capi sets it before the first use. It packs the data of `count` copies of a type, at an
// address of the application, into `dst`. It begins at byte `position` of the packed form. It stops when `dst` is full
// or no data is left, and returns the number of bytes. Precondition: InMemory has returned nil.
var Pack func(dst []byte, address uintptr, count int64, program []int64, position int64) int64

// Unpack copies src to the data of count copies of a type, from byte `position` of the packed form on.
var Unpack func(address uintptr, count int64, program []int64, position int64, src []byte) int64
