package rma

import (
	"sync/atomic"
	"unsafe"
)

// insert gives p the place i in the list and in the table in shared memory.
func (a *attached) insert(i int, p piece) {
	a.list = append(a.list, piece{})
	copy(a.list[i+1:], a.list[i:])
	a.list[i] = p
	a.change(len(a.list), func(entries []byte) {
		copy(entries[(i+1)*attachedEntry:], entries[i*attachedEntry:])
		e := (*[4]uint64)(unsafe.Pointer(&entries[i*attachedEntry]))
		e[0], e[1], e[2], e[3] = uint64(p.addr), uint64(p.size), uint64(p.heap), 0
	})
}

// remove takes entry i out of both.
func (a *attached) remove(i int) {
	a.list = append(a.list[:i], a.list[i+1:]...)
	a.change(len(a.list)+1, func(entries []byte) { copy(entries[i*attachedEntry:], entries[(i+1)*attachedEntry:]) })
}

// change has f change the n entries that there are before or after. Readers may look meanwhile, to find out afterwards
// that they must look again: words that they see half written do no harm.
func (a *attached) change(n int, f func(entries []byte)) {
	version := (*uint64)(unsafe.Pointer(&a.bytes[0]))
	count := (*uint64)(unsafe.Pointer(&a.bytes[8]))
	atomic.AddUint64(version, 1) // odd: readers wait
	atomic.LoadUint64(version)   // what follows is not seen before it, on arm64 neither
	f(a.bytes[attachedHead:][:n*attachedEntry])
	atomic.StoreUint64(count, uint64(len(a.list)))
	atomic.AddUint64(version, 1)
}

// clear takes all entries out of both.
func (a *attached) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list, a.empty = a.list[:0], nil
	a.change(0, func([]byte) {})
}
