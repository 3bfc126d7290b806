package insight

import (
	"bytes"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// A rank on another host has its part in memory there. A process beside it sends on what changes (cmd/internal/relay),
// and here stands a copy of the part, from which all is read as if the rank were here.

const mirrorPage = 4096

// mirror is what has been sent on of a part, or how far what comes is complete.
type mirror struct {
	sent    []byte
	reached atomic.Int64 // copy: of what has happened until then all is here
}

// Mirror says that the ranks are elsewhere, and their parts are copies.
func (m *Memory) Mirror() {
	m.mirrors = true
}

// Reached notes that all has come of what a rank that is elsewhere recorded until a time.
func (r *Rank) Reached(until time.Duration) { r.reached.Store(int64(until)) }

// reached returns until when all is here.
func (m *Memory) reached(now time.Duration) time.Duration {
	if m.mirrors {
		for _, r := range m.ranks {
			now = min(now, time.Duration(r.reached.Load()))
		}
	}
	return now
}

// End is what who sends no more has reached.
const End = time.Duration(math.MaxInt64)

// Changes calls use with each piece of the part that has changed since the last call, but for the ring: what a copy
// needs besides the records. Clocks are later by so much.
func (r *Rank) Changes(later time.Duration, use func(at int64, piece []byte) error) error {
	end := PartSlots + min(r.Threads(), Slots)*SlotSize // a thread takes the first slot that is free
	if r.sent == nil {
		r.sent = make([]byte, PartRing)
	}
	var page [mirrorPage]byte
	for at := 0; at < end; at += mirrorPage {
		n := copy(page[:], r.part[at:min(at+mirrorPage, end)])
		if at == 0 {
			for _, off := range []int64{PartMonotonic, PartNow, PartEnded} {
				if clock := u64(page[:], off); *clock != 0 {
					*clock += uint64(later)
				}
			}
			clear(page[PartRoom : PartFull+4]) // of the ring
			clear(page[PartHead : PartTail+8])
		}
		if bytes.Equal(page[:n], r.sent[at:at+n]) {
			continue
		}
		copy(r.sent[at:], page[:n])
		if err := use(int64(at), page[:n]); err != nil {
			return err
		}
	}
	return nil
}

var errMirror = errors.New("what came of another host is not of a rank's memory")

// Change writes a piece that Changes has given at the rank's host.
func (r *Rank) Change(at int64, piece []byte) error {
	if at < 0 || at%mirrorPage != 0 || len(piece) > mirrorPage || at+int64(len(piece)) > int64(PartRing) {
		return errMirror
	}
	if at == 0 {
		if len(piece) < PartTail+8 {
			return errMirror
		}
		copy(piece[PartRoom:PartFull+4], r.part[PartRoom:])
		copy(piece[PartHead:PartTail+8], r.part[PartHead:])
	}
	copy(r.part[at:], piece)
	return nil
}

// Write puts a record into the ring of a rank that is elsewhere, and waits for room until stop is closed.
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
	atomic.StoreUint64(&r.ring[head%size], words[0]) // pairs with the load in Read
	return nil
}

// Shift makes the times of a record later.
func Shift(words []uint64, later time.Duration) {
	for _, i := range []int{2, 3} {
		if words[i] != 0 {
			words[i] += uint64(later)
		}
	}
}
