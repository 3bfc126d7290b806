package check

import (
	"slices"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// later is a call that was the later one of a conflict, or a load or store that was, which raises nothing itself.
type later struct {
	thread int
	start  time.Duration
	window *window // nil: none is known
}

// asked is a call that has returned.
type asked struct {
	thread     int
	start, end time.Duration
	window     *window
	raises     bool // it can
	position   uint64
}

// Answering has the checker remember what Answers tells.
func (c *Checker) Answering() { c.answers = true }

// mostLater is how many conflicts of a rank are remembered that no call of it has raised yet.
const mostLater = 64

// came notes that y of the rank came after x and conflicts with it.
func (k *rank) came(x, y *access, w *window) {
	for _, a := range []*access{x, y} {
		if w == nil && a.group != nil {
			w = a.group.window
		}
	}
	l := later{y.site.thread, y.site.start, w}
	if slices.Contains(k.later, l) {
		return
	}
	if len(k.later) == mostLater {
		k.later = slices.Delete(k.later, 0, 1)
	}
	k.later = append(k.later, l)
}

// asks notes that a call has returned.
func (k *rank) asks(e *event) {
	k.asked = append(k.asked, asked{thread: e.Thread, start: e.Start, end: e.End, window: e.call.window,
		raises: e.Result == abi.MPI_SUCCESS && insight.Raises(e.Function) != nil})
}

// Ends says where in its ring the record ends that was given to Record last.
func (c *Checker) Ends(rank int, position uint64) {
	if k := c.ranks[rank]; len(k.asked) > 0 && k.asked[len(k.asked)-1].position == 0 {
		k.asked[len(k.asked)-1].position = position
	}
}

// settling is how long a call waits for it to be known where the memory is that it has operated on: its owner will soon
// return from the creation of the window.
const settling = time.Second

// Answers returns how far in its ring a rank's calls have been looked at, 0: no further than it has returned before;
// and of those that were the later ones of conflicts since then, where their records end. A conflict that was found
// when its call had its answer already, or whose later access is a load or store, comes with the thread's next call on
// the window.
func (c *Checker) Answers(rank int, now time.Duration) (position uint64, conflicts []uint64) {
	k := c.ranks[rank]
	for len(k.asked) > 0 && (k.unknown == 0 || now-k.asked[0].end > settling) {
		a := k.asked[0]
		k.asked = k.asked[1:]
		position = a.position
		if a.raises && k.raised(&a) {
			conflicts = append(conflicts, a.position)
		}
	}
	return position, conflicts
}

// raised reports whether a call raises an error, and forgets what for.
func (k *rank) raised(a *asked) bool {
	n := len(k.later)
	k.later = slices.DeleteFunc(k.later, func(l later) bool {
		own, behind := l.start == a.start, a.start > l.start && l.window != nil && l.window == a.window
		return l.thread == a.thread && (own || behind)
	})
	return len(k.later) < n
}
