package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that calls are answered in their order with the ends of their records. A conflict is raised by its later call
// or, if that has its answer already, by the same thread's next call on the window.
func TestAnswers(t *testing.T) {
	c := New(1, nil)
	c.Answering()
	k, w, other := c.ranks[0], &window{}, &window{}
	access := func(thread int, start time.Duration) *access {
		return &access{site: &site{thread: thread, start: start}}
	}
	returns := func(thread int, start time.Duration, on *window, position uint64) {
		k.asked = append(k.asked, asked{thread: thread, start: start, end: start + 1, window: on, raises: true})
		c.Ends(0, position)
		c.Ends(0, position+1) // of a record that is no call
	}
	answers := func(now time.Duration, position uint64, conflicts ...uint64) {
		t.Helper()
		p, l := c.Answers(0, now)
		require.Equal(t, position, p)
		require.Equal(t, conflicts, l)
	}
	answers(0, 0)
	k.came(access(0, 1), access(1, 7), w)
	k.came(access(0, 2), access(1, 7), w)
	returns(0, 7, w, 10)
	returns(1, 7, nil, 20)
	returns(1, 8, w, 30)
	answers(10, 30, 20)
	// found after the answer, and by a store
	k.came(access(0, 1), access(1, 8), w)
	k.came(access(0, 1), access(1, 0), w)
	returns(1, 9, other, 40)
	returns(0, 9, w, 50)
	returns(1, 10, w, 60)
	returns(1, 11, w, 70)
	answers(20, 70, 60)
	// the address of the target's memory is unknown
	k.unknown++
	returns(0, 20, w, 80)
	answers(21+settling, 0)
	k.came(access(0, 1), access(0, 20), w)
	answers(22+settling, 80, 80)
}
