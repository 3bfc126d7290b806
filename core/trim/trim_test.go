package trim

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// owner owns objects that are numbers only.
type owner struct {
	mu      sync.Mutex
	watch   Watch
	live    int
	settled int
}

func newOwner() *owner {
	o := &owner{}
	o.watch = NewWatch(o.settle)
	return o
}

func (o *owner) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch.Over(o.live) {
		o.settled++
	}
}

func (o *owner) set(live int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live = live
	o.watch.Count(live)
}

func (o *owner) times() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.settled
}

// TestWatch checks that memory is returned when most of many objects have been freed and are not created again, and not
// for less.
func TestWatch(t *testing.T) {
	few, half, back, gone, again := newOwner(), newOwner(), newOwner(), newOwner(), newOwner()
	running.Lock() // all steps come before settle runs
	few.set(WorthWhile - 1)
	few.set(0)
	half.set(10 * WorthWhile)
	half.set(6 * WorthWhile)
	back.set(2 * WorthWhile)
	back.set(0)
	back.set(2 * WorthWhile)
	gone.set(2 * WorthWhile)
	for i := 2 * WorthWhile; i > 0; i-- {
		gone.set(i - 1)
	}
	again.set(WorthWhile)
	again.set(0)
	running.Unlock()
	require.Eventually(t, func() bool { return again.times() == 1 }, time.Minute, time.Millisecond)
	running.Lock() // settle has ended
	require.Equal(t, 1, gone.times())
	for _, o := range []*owner{few, half, back} {
		require.Zero(t, o.times())
	}
	back.set(0)
	again.set(WorthWhile)
	again.set(0)
	running.Unlock()
	require.Eventually(t, func() bool { return again.times() == 2 && back.times() == 1 }, time.Minute,
		time.Millisecond)
	running.Lock()
	defer running.Unlock()
	require.Equal(t, 1, gone.times())
}

// TestNext checks that the pause grows if memory is returned repeatedly.
func TestNext(t *testing.T) {
	p := next(soon, time.Hour)
	require.Equal(t, soon, p)
	for p < late {
		q := next(p, 2*p)
		require.Equal(t, 2*p, q)
		p = q
	}
	require.Equal(t, late, next(late, late))
	require.Equal(t, soon, next(late, time.Hour))
}
