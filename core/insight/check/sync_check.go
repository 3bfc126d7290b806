package check

import (
	"slices"
	"time"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// conflictingCall identifies what made the later access of a conflict: a call, or a load or store of the program. Only
// a call can raise an error for the conflict.
type conflictingCall struct {
	thread int
	start  time.Duration
	window *window // nil if unknown
}

type returnedCall struct {
	thread     int
	start, end time.Duration
	window     *window
	canRaise   bool
	position   uint64
}

// EnableSyncCheck makes the checker collect the data for Checked.
func (c *Checker) EnableSyncCheck() { c.syncCheck = true }

// maxUnraised is the largest number of a rank's conflicts that the checker keeps until a call raises an error for them.
const maxUnraised = 64

// addConflict records that access y of rank k conflicts with the earlier access x. w is nil if the window is unknown.
func (k *rank) addConflict(x, y *access, w *window) {
	for _, a := range []*access{x, y} {
		if w == nil && a.group != nil {
			w = a.group.window
		}
	}
	l := conflictingCall{y.site.thread, y.site.start, w}
	if slices.Contains(k.unraised, l) {
		return
	}
	if len(k.unraised) == maxUnraised {
		k.unraised = slices.Delete(k.unraised, 0, 1)
	}
	k.unraised = append(k.unraised, l)
}

// addReturned records that a call has returned.
func (k *rank) addReturned(e *event) {
	k.returnedCalls = append(k.returnedCalls, returnedCall{thread: e.Thread, start: e.Start, end: e.End,
		window:   e.call.window,
		canRaise: e.Result == abi.MPI_SUCCESS && insight.ErrorParam(e.Function) != nil})
}

// SetRecordEnd sets the ring position of the end of the record that was last passed to Record.
func (c *Checker) SetRecordEnd(rank int, position uint64) {
	if k := c.ranks[rank]; len(k.returnedCalls) > 0 && k.returnedCalls[len(k.returnedCalls)-1].position == 0 {
		k.returnedCalls[len(k.returnedCalls)-1].position = position
	}
}

// maxResolveWait is the longest time for which Checked delays a call's result until the target's memory is known. The
// target will soon return from the creation of the window.
const maxResolveWait = time.Second

// Checked returns the ring position up to which a rank's calls have been checked. The position is 0 if it has not
// advanced since the last call of Checked. The result `conflicts` has the record ends of those newly checked calls that
// must raise an error, because they made the later access of a conflict. That access may also be a load or store, or
// its call may already have its result. Then the thread's next call on the window raises the error.
func (c *Checker) Checked(rank int, now time.Duration) (position uint64, conflicts []uint64) {
	k := c.ranks[rank]
	for len(k.returnedCalls) > 0 && (k.unresolvedOps == 0 || now-k.returnedCalls[0].end > maxResolveWait) {
		a := k.returnedCalls[0]
		k.returnedCalls = k.returnedCalls[1:]
		position = a.position
		if a.canRaise && k.raiseConflicts(&a) {
			conflicts = append(conflicts, a.position)
		}
	}
	return position, conflicts
}

// raiseConflicts reports whether a call must raise an error, and removes the conflicts for which it raises the error.
func (k *rank) raiseConflicts(a *returnedCall) bool {
	n := len(k.unraised)
	k.unraised = slices.DeleteFunc(k.unraised, func(l conflictingCall) bool {
		own, behind := l.start == a.start, a.start > l.start && l.window != nil && l.window == a.window
		return l.thread == a.thread && (own || behind)
	})
	return len(k.unraised) < n
}
