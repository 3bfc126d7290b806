// Package trim owns the decision when to return unused memory to the system after many objects have been freed. It must
// not know what the objects are. Go returns memory by itself only after a garbage collection, which a mostly idle
// process runs after minutes, and it then keeps a reserve. A program that had a million requests for a moment needs the
// memory for itself.
package trim

import (
	"maps"
	"runtime/debug"
	"sync"
	"time"
)

// Watch tracks the number of objects of a kind. Its owner's lock guards it.
type Watch struct {
	peak int // maximum since memory was last returned
	due  bool
	trim func()
}

const (
	// MinDecrease is the least decrease from the peak for which returning memory is worth while, if the number is
	// also below half of the peak: a collection takes some milliseconds. An object that is much larger than a
	// hundred bytes counts as several.
	MinDecrease = 16 << 10

	// Memory is not returned at once, since the next objects may be created soon. If a program creates and frees
	// many objects repeatedly, the pause doubles up to maxPause.
	minPause, maxPause = time.Second, 64 * time.Second
)

// NewWatch returns a watch. Another thread calls the function `settle` some time after it has become worth while to
// return memory. That function acquires the owner's lock and, if ShouldTrim still returns true, frees what the owner
// reserves for more objects.
func NewWatch(settle func()) Watch { return Watch{trim: settle} }

// Count records the present number of objects. The owner calls it whenever the number has changed.
func (w *Watch) Count(live int) {
	if live > w.peak {
		w.peak = live
	} else if w.peak-live >= MinDecrease && !w.due && w.trim != nil && live <= w.peak/2 {
		w.due = true
		add(w)
	}
}

// ShouldTrim returns whether memory must still be returned. settle calls it.
func (w *Watch) ShouldTrim(live int) bool {
	w.due = false
	if w.peak-live < MinDecrease || live > w.peak/2 {
		return false
	}
	w.peak = live
	trimmed = true
	return true
}

// Map returns a copy of m whose size fits its contents.
func Map[K comparable, V any](m map[K]V) map[K]V {
	small := make(map[K]V, len(m))
	maps.Copy(small, m)
	return small
}

var (
	mu    sync.Mutex // acquired after all other locks
	list  []*Watch
	pause = minPause
	last  time.Time // when memory was last returned

	runMu   sync.Mutex // guards trimmed
	trimmed bool       // ShouldTrim of some Watch has returned true
)

func add(w *Watch) {
	mu.Lock()
	defer mu.Unlock()
	if list = append(list, w); len(list) == 1 {
		time.AfterFunc(pause, run)
	}
}

func run() {
	runMu.Lock()
	defer runMu.Unlock()
	mu.Lock()
	ws := list
	list = nil
	mu.Unlock()
	trimmed = false
	for _, w := range ws {
		w.trim()
	}
	if !trimmed {
		return
	}
	debug.FreeOSMemory()
	mu.Lock()
	defer mu.Unlock()
	now := time.Now()
	pause, last = next(pause, now.Sub(last)), now
}

// next returns the next pause. The argument `pause` is the present pause, and `since` the time between the last two
// returns of memory.
func next(pause, since time.Duration) time.Duration {
	if since < 8*pause {
		return min(2*pause, maxPause)
	}
	return minPause
}
