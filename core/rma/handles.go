package rma

import (
	"sync"

	"gompirma/core/handle"
)

// registry holds the windows of this process. Unlike other handles a window's is the same on all its members, so its index is not drawn here alone:
// members propose one, and the highest proposal that is free at all of them is taken.
type registry struct {
	mu      sync.RWMutex
	windows map[uintptr]*Window
	used    map[uint32]bool // indices that a window or a proposal has
	next    uint32          // no free index below
	gen     uint32          // generation of the last window made here, so that a stale handle differs from its successor
}

// firstIndex is the lowest that a window can have. The handle 0, which an uninitialized variable holds, has index 0: in capi's table nothing is there.
const firstIndex = 1

var windows = registry{windows: map[uintptr]*Window{}, used: map[uint32]bool{}}

// Lookup returns the window behind a handle, nil if there is none.
func Lookup(h uintptr) *Window {
	windows.mu.RLock()
	defer windows.mu.RUnlock()
	return windows.windows[h]
}

// Live returns how many windows this process has.
func Live() int {
	windows.mu.RLock()
	defer windows.mu.RUnlock()
	return len(windows.windows)
}

// propose reserves the lowest free index at or above least and returns it with a generation; ok is false if there is none.
func (r *registry) propose(least uint32) (index, gen uint32, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for index = max(least, r.next, firstIndex); index < handle.MaxIndex; index++ {
		if !r.used[index] {
			r.used[index] = true
			for r.used[r.next] {
				r.next++
			}
			return index, r.gen + 1, true
		}
	}
	return handle.MaxIndex, 0, false // an index that nobody has, which may be withdrawn
}

// withdraw gives an index back.
func (r *registry) withdraw(index uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.used, index)
	r.next = min(r.next, index)
}

func (r *registry) enter(w *Window, gen uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows[w.Handle] = w
	r.gen = max(r.gen, gen)
}

func (r *registry) remove(h uintptr) {
	r.mu.Lock()
	delete(r.windows, h)
	r.mu.Unlock()
	r.withdraw(handle.Index(h))
}
