// Package trim owns the decision when to return unused memory to the system after many objects have been freed. It must
// not depend on the kind of objects. Go itself returns memory only after a garbage collection, which a mostly idle
// process runs only after minutes. Even then it keeps a reserve. But a program that briefly had a million requests
// needs the memory for other purposes.
package trim

import (
	"maps"
	"runtime/debug"
	"sync"
	"time"
)

// Watch tracks the number of objects of one kind, such as the entries of a table. The lock of its owner guards it.
type Watch struct {
	peak int // largest number of objects since memory was returned last
	due  bool
	trim func()
}

const (
	// MinDecrease is the smallest decrease from the peak for which memory is returned. Moreover the number must
	// have fallen to at most half of the peak. A smaller decrease does not justify the garbage collection, which
	// takes some milliseconds. An object that is much larger than a hundred bytes counts as several objects.
	MinDecrease = 16 << 10

	// Memory is returned after a pause, since the program may create new objects soon. If a program creates and
	// frees many objects repeatedly, the pause doubles up to maxPause.
	minPause, maxPause = time.Second, 64 * time.Second
)

// NewWatch returns a watch. When enough objects have been freed, another thread calls the function `settle` after the
// pause. This function acquires the owner's lock. If ShouldTrim still returns true, it frees the memory that the owner
// keeps for more objects.
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

// ShouldTrim returns whether memory must still be returned. The function `settle` of NewWatch calls it.
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
	mu    sync.Mutex // acquired after all other locks; guards the variables below, up to runMu
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

// next returns the next pause. The argument `pause` is the current pause, and `since` is the time between the last two
// returns of memory.
func next(pause, since time.Duration) time.Duration {
	if since < 8*pause {
		return min(2*pause, maxPause)
	}
	return minPause
}
