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
