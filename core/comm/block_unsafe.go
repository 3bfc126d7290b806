package comm

import (
	"sync/atomic"
	"unsafe"
)

// countLeave records that one of the n members that share memory no longer uses the memory. The first word of b counts
// the members that have left. countLeave returns whether this member is the last one, and whether any member has passed
// true as `used`.
func countLeave(b []byte, n int, used bool) (last, any bool) {
	mine := uint64(1)
	if used {
		mine += 1 << 32
	}
	left := atomic.AddUint64((*uint64)(unsafe.Pointer(&b[0])), mine)
	return uint32(left) == uint32(n), left>>32 != 0
}
