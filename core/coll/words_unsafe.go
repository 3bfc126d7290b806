package coll

import "unsafe"

// The words of shared memory as Go pointers, for sync/atomic. b is mapped memory that Go never moves.

func word32(b []byte, off int) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func word64(b []byte, off int) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }
