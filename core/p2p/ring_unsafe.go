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

// fill writes the record to room, but for its first word.
func (r *record) fill(room []byte) {
	to := recordAt(room, 0)
	to.ctx, to.src, to.tag, to.from, to.class, to.size, to.id = r.ctx, r.src, r.tag, r.from, r.class, r.size, r.id
}

// commit makes the record in room visible to the owner of the ring; all but its first word has been written. The store
// is sequentially consistent, so that the look at whether the owner sleeps, which comes next, is not moved in front of
// it.
func commit(room []byte, word uint64) { atomic.StoreUint64(u64(room, 0), word) }

func trailingZeros(x uint64) int { return bits.TrailingZeros64(x) }
