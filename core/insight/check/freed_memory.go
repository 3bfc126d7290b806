package check

import (
	"slices"

	"gompirma/core/insight"
)

// This file finds memory that is freed while it belongs to a window.

// reportFreedInUse reports that the program has freed memory that belongs to a window. The record's result is the
// handle of this window.
func (c *Checker) reportFreedInUse(k *rank, r *insight.Record) {
	if w := k.wins[uint64(r.Result)]; w != nil && !k.ended {
		c.reportMemory(w, k, stillUsed,
			callRole{&callSite{rank: k.number, thread: r.Thread, start: r.Start, address: r.Caller,
				name: "the program"}, "frees memory of the window"})
	}
}

const stillUsed = "The window still uses this memory. Call MPI_Win_free or MPI_Win_detach first."

func (c *Checker) reportMemory(w *window, k *rank, advice string, spots ...callRole) {
	c.report(&Finding{Kind: "memory", Window: w.userName(), Target: k.number, Advice: advice}, spots...)
}

// freedMemory reports a finding if the memory that MPI_Free_mem has freed belongs to a window.
func (c *Checker) freedMemory(k *rank, e *event) {
	base := e.In("base").Uint()
	if w := k.windowAt(span{base, base + 1}); w != nil && !k.isBeyondBase(w, base) {
		c.reportMemory(w, k, stillUsed,
			callRole{k.newSite(e), "frees memory of the window"})
	}
}

// unboundedBytes is larger than any memory. Some programs create a window of at least that size. Such a window covers
// all addresses after its base, including memory that does not belong to the window. The value equals that of
// capi/insight/window_memory.c, which checks all other functions that free memory.
const unboundedBytes = 1 << 40

// isBeyondBase reports whether an address after the base of w is inside w only because w has an unbounded size.
func (k *rank) isBeyondBase(w *window, address uint64) bool {
	p := &w.parts[slices.Index(w.comm.members, k.number)]
	return p.size >= unboundedBytes && address != p.base
}

// attach records memory that a rank has attached to a dynamic window.
func (w *window) attach(k *rank, e *event) {
	if w.attached == nil {
		w.attached = map[attached]uint64{}
	}
	w.attached[attached{k.number, e.In("base").Uint()}] = e.In("size").Uint()
}

// attached identifies attached memory by rank and address.
type attached struct {
	rank int
	base uint64
}

// detach reports an operation that may still use the memory that the rank detaches.
func (c *Checker) detach(k *rank, e *event, w *window) {
	key := attached{k.number, e.In("base").Uint()}
	size := w.attached[key]
	delete(w.attached, key)
	if size == 0 {
		return
	}
	var last *access
	all := &access{spans: []span{{key.base, key.base + size}}}
	k.space.each(all, func(x *access) {
		_, touches := overlap(x, all)
		if touches && x.win == w && x.updateClock == nil && !x.endedBefore(k.clock) {
			last = x
		}
	})
	if last != nil {
		c.reportMemory(w, k,
			"The operation may still be running. Complete it at its origin, then synchronize with this "+
				"rank (message, collective or epoch) before MPI_Win_detach.",
			callRole{last.site, "uses the memory"}, callRole{k.newSite(e), "detaches the memory"})
	}
}
