package rma

import (
	"sync/atomic"
	"unsafe"
)

// clear takes all entries out of the table. Nobody writes it any more; who reads it too late looks again.
func (a *attached) clear() {
	version := (*uint64)(unsafe.Pointer(&a.bytes[0]))
	atomic.AddUint64(version, 1)
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&a.bytes[8])), 0)
	atomic.AddUint64(version, 1)
}
