package trim

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// owner is an owner of a Watch in tests. It only counts objects and stores none.
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
	if o.watch.ShouldTrim(o.live) {
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

// TestWatch checks that memory is returned when most of a large number of objects have been freed and are not created
// again. In other cases it must not be returned.
func TestWatch(t *testing.T) {
	few, half, back, gone, again := newOwner(), newOwner(), newOwner(), newOwner(), newOwner()
	runMu.Lock() // settle cannot run before all steps below have been executed
	few.set(MinDecrease - 1)
	few.set(0)
	half.set(10 * MinDecrease)
	half.set(6 * MinDecrease)
	back.set(2 * MinDecrease)
	back.set(0)
	back.set(2 * MinDecrease)
	gone.set(2 * MinDecrease)
	for i := 2 * MinDecrease; i > 0; i-- {
		gone.set(i - 1)
	}
	again.set(MinDecrease)
	again.set(0)
	runMu.Unlock()
	require.Eventually(t, func() bool { return again.times() == 1 }, time.Minute, time.Millisecond)
	runMu.Lock() // waits until settle has ended
	require.Equal(t, 1, gone.times())
	for _, o := range []*owner{few, half, back} {
		require.Zero(t, o.times())
	}
	back.set(0)
	again.set(MinDecrease)
	again.set(0)
	runMu.Unlock()
	require.Eventually(t, func() bool { return again.times() == 2 && back.times() == 1 }, time.Minute,
		time.Millisecond)
	runMu.Lock()
	defer runMu.Unlock()
	require.Equal(t, 1, gone.times())
}

// TestNext checks that the pause grows if memory is returned repeatedly.
func TestNext(t *testing.T) {
	p := next(minPause, time.Hour)
	require.Equal(t, minPause, p)
	for p < maxPause {
		q := next(p, 2*p)
		require.Equal(t, 2*p, q)
		p = q
	}
	require.Equal(t, maxPause, next(maxPause, maxPause))
	require.Equal(t, minPause, next(maxPause, time.Hour))
}
