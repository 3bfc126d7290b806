package p2p

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

var _ = [1]struct{}{}[unsafe.Sizeof(record{})-recordSize]

func u32(b []byte, off int64) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
func u64(b []byte, off int64) *uint64 { return (*uint64)(unsafe.Pointer(&b[off])) }

func recordAt(b []byte, off int64) *record {
	return (*record)(unsafe.Pointer(&b[off : off+recordSize][0]))
}

// commit makes the record in room visible to the owner. h is its fixed part; what follows it has been written. The
// store is sequentially consistent, so that the look at whether the owner sleeps, which comes next, is not moved in
// front of it.
func commit(room []byte, h *record, k kind, flags uint8, n int64) {
	r := recordAt(room, 0)
	r.ctx, r.src, r.tag, r.node, r.class, r.size, r.id = h.ctx, h.src, h.tag, h.node, h.class, h.size, h.id
	atomic.StoreUint64(&r.word, wordCommitted|uint64(flags)<<wordFlags|uint64(k)<<wordKind|uint64(n))
}

func trailingZeros(x uint64) int { return bits.TrailingZeros64(x) }
