// Package trim gives memory that is no longer in use back to the system, once many objects have gone. Go does so by
// itself only when it has collected its garbage, which a process that does little else makes it do after minutes, and
// keeps a reserve then; a program that had a million requests for a moment wants the memory for itself.
package trim

import (
	"maps"
	"runtime/debug"
	"sync"
	"time"
)

// Watch follows the number of objects of a kind. Its owner's lock guards it.
type Watch struct {
	peak   int // the most there were since memory was given back
	due    bool
	settle func()
}

const (
	// WorthWhile is by how many objects less than there were it begins to be worth while, and then if they are less
	// than half: a collection takes some milliseconds. Kinds of which one has much more than a hundred bytes are
	// counted so many times.
	WorthWhile = 16 << 10

	// Not at once, since the next ones may come soon. Programs in which many come and go again and again are left
	// alone for longer and longer.
	soon, late = time.Second, 64 * time.Second
)

// NewWatch returns a watch that has settle called, by another thread, some time after it has become worth while. settle
// locks what the owner's lock is, and if Over still says so gives up what the owner keeps for more objects.
func NewWatch(settle func()) Watch { return Watch{settle: settle} }

// Count is told of the number whenever it has changed.
func (w *Watch) Count(live int) {
	if live > w.peak {
		w.peak = live
	} else if w.peak-live >= WorthWhile && !w.due && w.settle != nil && live <= w.peak/2 {
		w.due = true
		add(w)
	}
}

// Over returns whether memory is to be given back still. Called by settle.
func (w *Watch) Over(live int) bool {
	w.due = false
	if w.peak-live < WorthWhile || live > w.peak/2 {
		return false
	}
	w.peak = live
	over = true
	return true
}

// Map returns what is in m in a map that is as large as that needs.
func Map[K comparable, V any](m map[K]V) map[K]V {
	small := make(map[K]V, len(m))
	maps.Copy(small, m)
	return small
}

var (
	mu    sync.Mutex // the last to be locked
	list  []*Watch
	pause = soon
	last  time.Time // memory was given back then

	running sync.Mutex // guards over
	over    bool       // some Watch is
)

func add(w *Watch) {
	mu.Lock()
	defer mu.Unlock()
	if list = append(list, w); len(list) == 1 {
		time.AfterFunc(pause, run)
	}
}

func run() {
	running.Lock()
	defer running.Unlock()
	mu.Lock()
	ws := list
	list = nil
	mu.Unlock()
	over = false
	for _, w := range ws {
		w.settle()
	}
	if !over {
		return
	}
	debug.FreeOSMemory()
	mu.Lock()
	defer mu.Unlock()
	now := time.Now()
	pause, last = next(pause, now.Sub(last)), now
}

// next returns how long to wait the next time, when memory was given back after such a pause and so long after the time
// before.
func next(pause, since time.Duration) time.Duration {
	if since < 8*pause {
		return min(2*pause, late)
	}
	return soon
}
