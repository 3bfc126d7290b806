package rma

import (
	"sync/atomic"
	"unsafe"
)

// address returns the address of mapped memory, which never moves.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// counter returns the 32-bit word at offset off of mapped memory.
func counter(b []byte, off int64) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&b[off])) }
