package rma

import (
	"sync/atomic"
	"unsafe"
)

// write brings the table in shared memory up to date with the list from entry i on.
func (a *attached) write(i int) {
	version := (*uint64)(unsafe.Pointer(&a.bytes[0]))
	count := (*uint64)(unsafe.Pointer(&a.bytes[8]))
	atomic.AddUint64(version, 1) // odd: readers wait
	for ; i < len(a.list); i++ {
		e := (*[4]uint64)(unsafe.Pointer(&a.bytes[attachedHead+i*attachedEntry]))
		// Atomic, because readers may look meanwhile, to find out afterwards that they must look again.
		atomic.StoreUint64(&e[0], uint64(a.list[i].addr))
		atomic.StoreUint64(&e[1], uint64(a.list[i].size))
		atomic.StoreUint64(&e[2], uint64(a.list[i].heap))
	}
	atomic.StoreUint64(count, uint64(len(a.list)))
	atomic.AddUint64(version, 1)
}
