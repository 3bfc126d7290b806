package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that calls get their results in order, with the ends of their records. A conflict is raised by its later call.
// If that call already has its result, the same thread's next call on the window raises the conflict.
func TestChecked(t *testing.T) {
	c := New(1, nil)
	c.EnableSyncCheck()
	k, w, other := c.ranks[0], &window{}, &window{}
	access := func(thread int, start time.Duration) *access {
		return &access{site: &callSite{thread: thread, start: start}}
	}
	returns := func(thread int, start time.Duration, on *window, position uint64) {
		k.returnedCalls = append(k.returnedCalls, returnedCall{thread: thread, start: start, end: start + 1,
			window: on, canRaise: true})
		c.SetRecordEnd(0, position)
		c.SetRecordEnd(0, position+1) // the end of a record that is no call
	}
	answers := func(now time.Duration, position uint64, conflicts ...uint64) {
		t.Helper()
		p, l := c.Checked(0, now)
		require.Equal(t, position, p)
		require.Equal(t, conflicts, l)
	}
	answers(0, 0)
	k.addConflict(access(0, 1), access(1, 7), w)
	k.addConflict(access(0, 2), access(1, 7), w)
	returns(0, 7, w, 10)
	returns(1, 7, nil, 20)
	returns(1, 8, w, 30)
	answers(10, 30, 20)
	// conflicts that are found after the call's result, or whose later access is a store
	k.addConflict(access(0, 1), access(1, 8), w)
	k.addConflict(access(0, 1), access(1, 0), w)
	returns(1, 9, other, 40)
	returns(0, 9, w, 50)
	returns(1, 10, w, 60)
	returns(1, 11, w, 70)
	answers(20, 70, 60)
	// the address of the target's memory is unknown
	k.unresolvedOps++
	returns(0, 20, w, 80)
	answers(21+maxResolveWait, 0)
	k.addConflict(access(0, 1), access(0, 20), w)
	answers(22+maxResolveWait, 80, 80)
}
