package rma

import (
	"sync/atomic"
	"unsafe"
)

// clear removes all entries of the table and increments its version number. Precondition: no process writes the table
// any longer. A process that is still reading the table notices the changed version and reads the table again.
func (a *attached) clear() {
	version := (*uint64)(unsafe.Pointer(&a.bytes[0]))
	atomic.AddUint64(version, 1)
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&a.bytes[8])), 0)
	atomic.AddUint64(version, 1)
}
