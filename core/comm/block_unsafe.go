package comm

import (
	"sync/atomic"
	"unsafe"
)

// countLeave records that one of the n members that share memory no longer uses it. The low half of the first word of b
// counts these members. The high half counts those that passed true as `used`. countLeave returns whether this member
// is the last of the n, and whether any member has passed true.
func countLeave(b []byte, n int, used bool) (last, any bool) {
	mine := uint64(1)
	if used {
		mine += 1 << 32
	}
	left := atomic.AddUint64((*uint64)(unsafe.Pointer(&b[0])), mine)
	return uint32(left) == uint32(n), left>>32 != 0
}

// loadWord, storeWord and swapWord access the 64-bit word at the beginning of b in shared memory. swapWord replaces the
// value `old` and returns whether it has done so.
func loadWord(b []byte) uint64     { return atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[0]))) }
func storeWord(b []byte, v uint64) { atomic.StoreUint64((*uint64)(unsafe.Pointer(&b[0])), v) }
func swapWord(b []byte, old, v uint64) bool {
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(&b[0])), old, v)
}
