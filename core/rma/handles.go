package rma

import (
	"sync"

	"gompirma/core/handle"
	"gompirma/core/trim"
)

// registry holds the windows of this process. Unlike other handles, the handle of a window is the same at all members,
// so a single process cannot choose its number. The members propose numbers, and agree on the highest proposal whose
// index is free at all members.
//
// A member proposes a place, which is a position in a sequence of handle numbers. Proposed places only increase: each
// is greater than the place of every window that this process has created. A handle number consists of an index into
// C's table (20 bits) and, above it, 7 bits that distinguish windows with the same index. The bits of a place are
// ordered differently, because the bits that change first are the lowest: first the low 10 bits of the index, then the
// 7 bits above the index, then the high 10 bits of the index.
//
// So a program that keeps creating and freeing windows uses 1023 entries of C's table. It uses other entries only after
// 130,944 windows. A number repeats after 134,217,600 windows, minus 128 for each window that exists meanwhile.
type registry struct {
	mu      sync.RWMutex
	windows map[uintptr]*Window
	used    map[uint32]bool // indices that a window or a proposal uses
	last    uint64          // highest place of the windows that this process has created
	watch   trim.Watch
}

const (
	lowBits   = 10 // number of low bits of the index; they change first
	indexBits = 20
	// The mask of the index. No window has index 0, which is the index of an uninitialized handle.
	indexMask      = handle.MaxWindows
	lowMask        = 1<<lowBits - 1
	generationBits = 7 // distinguish windows with the same index
	// the bits of a place from this bit on are the high bits of the index
	highShift = lowBits + generationBits
)

// numberAt returns the handle number of a place.
func numberAt(place uint64) uint32 {
	low, turn, high := place&lowMask, place>>lowBits&(1<<generationBits-1),
		place>>highShift&(1<<(indexBits-lowBits)-1)
	return uint32(turn<<indexBits | high<<lowBits | low)
}

func indexAt(place uint64) uint32 { return numberAt(place) & indexMask }

var windows = registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}

func init() { windows.watch = trim.NewWatch(windows.trim) }

// windowWeight is the weight of one window for package trim: how many objects of trim's usual size its map entries are
// worth.
const windowWeight = 32

// trim reduces the memory of the maps after the program has freed most of a large number of windows.
func (r *registry) trim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch.ShouldTrim(windowWeight * len(r.windows)) {
		r.windows, r.used = trim.Map(r.windows), trim.Map(r.used)
	}
}

// Lookup returns the window with handle h, nil if no window has this handle.
func Lookup(h uintptr) *Window {
	windows.mu.RLock()
	defer windows.mu.RUnlock()
	return windows.windows[h]
}

// propose reserves the index of the next place that has a free index. The place is at least minPlace and greater than
// r.last. ok is false if all indices are in use.
func (r *registry) propose(minPlace uint64) (place uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used) >= handle.MaxWindows {
		return 0, false
	}
	place = max(minPlace, r.last+1)
	for tried := 0; ; tried++ {
		if index := indexAt(place); index != 0 && !r.used[index] {
			r.used[index] = true
			return place, true
		}
		place++
		if tried > lowMask { // all indices with these high bits are in use
			place = (place>>highShift + 1) << highShift
			tried = 0
		}
	}
}

// withdraw releases the index of a proposed place. Place 0 stands for no proposal; withdraw then has no effect.
func (r *registry) withdraw(place uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.used, indexAt(place))
}

func (r *registry) add(w *Window, place uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows[w.Handle] = w
	r.watch.Count(windowWeight * len(r.windows))
	r.last = max(r.last, place)
}

func (r *registry) remove(h uintptr) {
	r.forget(h)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.used, handle.Number(h)&indexMask)
}

// forget removes a window, but keeps its index in use, because other members may still use the handle.
func (r *registry) forget(h uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.windows, h)
	r.watch.Count(windowWeight * len(r.windows))
}
