package insight

import (
	"bytes"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// A rank on another host has its part in that host's memory. A process on that host sends changes of the part to
// gompirun (cmd/internal/relay). gompirun keeps a copy of the part, and reads the copy like the part of a rank on its
// own host.

const mirrorPage = 4096

// mirror is the additional state of a part whose content is sent to gompirun: the sender uses the first field, gompirun
// the second.
type mirror struct {
	lastSent []byte       // the content that was sent last
	reached  atomic.Int64 // all records up to this time have arrived
}

// Mirror declares that the ranks run on other hosts, so that the parts are copies.
func (m *Memory) Mirror() {
	m.isMirror = true
}

// Reached records that everything that the rank recorded until the given time has arrived.
func (r *Rank) Reached(until time.Duration) { r.reached.Store(int64(until)) }

// reached returns the time until which the records of all ranks have arrived, at most now.
func (m *Memory) reached(now time.Duration) time.Duration {
	if m.isMirror {
		for _, r := range *m.parts.Load() {
			now = min(now, time.Duration(r.reached.Load()))
		}
	}
	return now
}

// NeverMore is the argument of Reached that declares that the rank sends nothing more.
const NeverMore = time.Duration(math.MaxInt64)

// ChangedPages calls the function `use` with each page of the part, except the ring, that has changed since the last
// call of ChangedPages. It adds the argument offset to the clock values in the pages.
func (r *Rank) ChangedPages(offset time.Duration, use func(at int64, piece []byte) error) error {
	end := PartSlots + min(r.Threads(), Slots)*SlotSize // a thread acquires the first free slot
	if r.lastSent == nil {
		r.lastSent = make([]byte, PartRing)
	}
	var page [mirrorPage]byte
	for at := 0; at < end; at += mirrorPage {
		n := copy(page[:], r.part[at:min(at+mirrorPage, end)])
		if at == 0 {
			for _, off := range []int64{PartMonotonic, PartMonotonicNow, PartEnded} {
				if clock := u64(page[:], off); *clock != 0 {
					*clock += uint64(offset)
				}
			}
			clear(page[PartSpaceFutex : PartSpaceWanted+4]) // the copy has its own state of the ring
			clear(page[PartHead : PartTail+8])
		}
		if bytes.Equal(page[:n], r.lastSent[at:at+n]) {
			continue
		}
		copy(r.lastSent[at:], page[:n])
		if err := use(int64(at), page[:n]); err != nil {
			return err
		}
	}
	return nil
}

var errMirror = errors.New("another host sent invalid data for the records of a rank")

// ApplyPage writes a page into the copy. The page is one that ChangedPages has passed to its function `use` at the
// rank's host.
func (r *Rank) ApplyPage(at int64, piece []byte) error {
	if at < 0 || at%mirrorPage != 0 || len(piece) > mirrorPage || at+int64(len(piece)) > int64(PartRing) {
		return errMirror
	}
	if at == 0 {
		if len(piece) < PartTail+8 {
			return errMirror
		}
		copy(piece[PartSpaceFutex:PartSpaceWanted+4], r.part[PartSpaceFutex:])
		copy(piece[PartHead:PartTail+8], r.part[PartHead:])
	}
	copy(r.part[at:], piece)
	return nil
}

// Write appends a record to the ring of a rank on another host. It waits for space until stop is closed.
func (r *Rank) Write(words []uint64, stop <-chan struct{}) error {
	n, size := uint64(len(words)), uint64(len(r.ring))
	if n < HeadWords || n > MaxRecord || words[0]>>32 != n {
		return errMirror
	}
	head := *u64(r.part, PartHead)
	for head+n-atomic.LoadUint64(u64(r.part, PartTail)) > size {
		select {
		case <-stop:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
	for i := uint64(1); i < n; i++ {
		r.ring[(head+i)%size] = words[i]
	}
	*u64(r.part, PartHead) = head + n
	// The store pairs with the load in readWords. Without it, readWords could see the first word before the other
	// words of the record.
	atomic.StoreUint64(&r.ring[head%size], words[0])
	return nil
}

// ShiftTimes adds offset to the times of entry and return of a record.
func ShiftTimes(words []uint64, offset time.Duration) {
	for _, i := range []int{2, 3} {
		if words[i] != 0 {
			words[i] += uint64(offset)
		}
	}
}
