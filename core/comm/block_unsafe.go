package comm

import (
	"sync/atomic"
	"unsafe"
)

// leave counts one member out of a control block of n and returns whether it was the last one.
func leave(b []byte, n int) bool {
	left := (*uint32)(unsafe.Pointer(&b[len(b)-cacheLine]))
	return atomic.AddUint32(left, 1) == uint32(n)
}
