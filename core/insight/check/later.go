package check

import (
	"slices"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// later identifies a call that made the later access of a conflict, or a load or store that did. A load or store raises
// nothing itself.
type later struct {
	thread int
	start  time.Duration
	window *window // nil if unknown
}

// asked is a call that has returned.
type asked struct {
	thread     int
	start, end time.Duration
	window     *window
	raises     bool // the call can raise an error
	position   uint64
}

// Answering makes the checker collect the data for Answers.
func (c *Checker) Answering() { c.answers = true }

// mostLater is the largest number of conflicts of a rank that wait for a call to raise them.
const mostLater = 64

// came records that access y of the rank conflicts with the earlier access x.
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

// asks records that a call has returned.
func (k *rank) asks(e *event) {
	k.asked = append(k.asked, asked{thread: e.Thread, start: e.Start, end: e.End, window: e.call.window,
		raises: e.Result == abi.MPI_SUCCESS && insight.Raises(e.Function) != nil})
}

// Ends sets the position in the ring of the end of the record that was passed to Record last.
func (c *Checker) Ends(rank int, position uint64) {
	if k := c.ranks[rank]; len(k.asked) > 0 && k.asked[len(k.asked)-1].position == 0 {
		k.asked[len(k.asked)-1].position = position
	}
}

// settling is the longest time that a call's answer waits for the target's memory to become known: the target will soon
// return from the creation of the window.
const settling = time.Second

// Answers returns the position in its ring up to which a rank's calls have been checked; 0 if it has not advanced. It
// also returns the ends of the records of calls since then that were the later ones of conflicts. A conflict may be
// found after its call got its answer, or its later access may be a load or store. Then the thread's next call on the
// window raises it.
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

// raised reports whether a call raises an error, and removes the conflicts that it raises.
func (k *rank) raised(a *asked) bool {
	n := len(k.later)
	k.later = slices.DeleteFunc(k.later, func(l later) bool {
		own, behind := l.start == a.start, a.start > l.start && l.window != nil && l.window == a.window
		return l.thread == a.thread && (own || behind)
	})
	return len(k.later) < n
}
