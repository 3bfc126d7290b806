package rma

import (
	"sync"

	"gompirma/core/handle"
	"gompirma/core/trim"
)

// registry holds the windows of this process. Unlike other handles a window's is the same on all its members, so its
// number is not drawn here alone: members propose one, and the highest proposal that is free at all of them is taken.
//
// Proposals are places in one sequence that never comes back, and go on behind the last window made here. A place tells
// the number: its low 10 bits are the low bits of the index, then come the 7 bits above the index, then the index'
// other 10. So windows that are made and freed all the time use 1023 entries of C's table, others only after 130,944
// windows, and a number comes again after 134,217,600 windows, less 128 for each that lives meanwhile.
type registry struct {
	mu      sync.RWMutex
	windows map[uintptr]*Window
	used    map[uint32]bool // indices that a window or a proposal has
	last    uint64          // place of the last window made here
	watch   trim.Watch
}

const (
	lowBits   = 10 // of the index that change first
	indexBits = 20
	// no window's index is 0, since C finds 0 there, which an uninitialized handle holds
	indexMask = handle.MaxWindows
	lowMask   = 1<<lowBits - 1
	turnBits  = 7                  // that tell windows with the same index apart
	sameBlock = lowBits + turnBits // places that differ below have the same high bits of the index
)

// numberAt returns the number of a place.
func numberAt(place uint64) uint32 {
	low, turn, high := place&lowMask, place>>lowBits&(1<<turnBits-1), place>>sameBlock&(1<<(indexBits-lowBits)-1)
	return uint32(turn<<indexBits | high<<lowBits | low)
}

func indexAt(place uint64) uint32 { return numberAt(place) & indexMask }

var windows = registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}

func init() { windows.watch = trim.NewWatch(windows.settle) }

// windowWeight is the memory of a window, as trim counts it.
const windowWeight = 32

// settle makes the maps as small as what is in them, when most of many windows have gone.
func (r *registry) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch.Over(windowWeight * len(r.windows)) {
		r.windows, r.used = trim.Map(r.windows), trim.Map(r.used)
	}
}

// Lookup returns the window behind a handle, nil if there is none.
func Lookup(h uintptr) *Window {
	windows.mu.RLock()
	defer windows.mu.RUnlock()
	return windows.windows[h]
}

// propose reserves the index of the next place that is at or behind least and behind the last window's, and whose index
// is free; ok is false if none is.
func (r *registry) propose(least uint64) (place uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used) >= handle.MaxWindows {
		return 0, false
	}
	place = max(least, r.last+1)
	for tried := 0; ; tried++ {
		if index := indexAt(place); index != 0 && !r.used[index] {
			r.used[index] = true
			return place, true
		}
		place++
		if tried > lowMask { // all of them are in use
			place = (place>>sameBlock + 1) << sameBlock
			tried = 0
		}
	}
}

// withdraw gives the index of a place back; place 0 has none.
func (r *registry) withdraw(place uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.used, indexAt(place))
}

func (r *registry) enter(w *Window, place uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows[w.Handle] = w
	r.watch.Count(windowWeight * len(r.windows))
	r.last = max(r.last, place)
}

func (r *registry) remove(h uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.windows, h)
	r.watch.Count(windowWeight * len(r.windows))
	delete(r.used, handle.Number(h)&indexMask)
}
