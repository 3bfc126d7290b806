package pmi1

import (
	"errors"
	"fmt"
	"time"
)

// PatienceTick is the interval at which a wait checks its Patience.
const PatienceTick = 100 * time.Millisecond

// Patience measures the remaining time of a wait. It counts only time in which this process ran. While this process was
// stopped or got no processor, the awaited process may have been stopped too, or its answer may be waiting unread.
type Patience struct {
	left    time.Duration
	last    time.Time
	endless bool
}

// NewPatience starts a wait of at most d; 0 means no limit.
func NewPatience(d time.Duration) Patience {
	return Patience{left: d, last: time.Now(), endless: d == 0}
}

// Over reports whether the time has elapsed. Call it every PatienceTick with the current time.
func (p *Patience) Over(now time.Time) bool {
	p.left -= min(max(now.Sub(p.last), 0), 2*PatienceTick)
	p.last = now
	return !p.endless && p.left <= 0
}

// Watch reports whether the processes of the job live.
type Watch interface {
	// Sees reports whether a failure of a watched process would be detected. If so, a wait for late processes needs
	// no limit.
	Sees() bool
	// Gone returns a channel that is closed when a process fails; nil if failures are not reported. Err returns
	// which process failed.
	Gone() <-chan struct{}
	Err() error
	// Unknown returns the reason why Sees is false.
	Unknown() string
}

// Unwatched is a Watch that watches no process.
type Unwatched struct{}

func (Unwatched) Sees() bool            { return false }
func (Unwatched) Gone() <-chan struct{} { return nil }
func (Unwatched) Err() error            { return nil }
func (Unwatched) Unknown() string       { return "nothing monitors them" }

// ErrClosed: the launcher has ended. ErrIncomplete: processes are late and it is unknown whether they live.
var (
	ErrClosed     = errors.New("the launcher has ended")
	ErrIncomplete = errors.New("some processes have not arrived")
)

// graceGone is how long, after a process has failed, a launcher gets to end this process itself: it knows the cause
// better.
const graceGone = time.Second

// Await receives the launcher's answer from ready. It waits at most limit, unless limit is 0 or watch sees all awaited
// processes. watch is nil if only the launcher is awaited. Await returns ErrClosed if closed is closed.
func Await[T any](ready <-chan T, closed <-chan struct{}, limit time.Duration, watch Watch) (value T, err error) {
	ticker := time.NewTicker(PatienceTick)
	defer ticker.Stop()
	patience, grace := NewPatience(limit), NewPatience(0)
	var gone <-chan struct{}
	if watch != nil {
		gone = watch.Gone()
	}
	for {
		select {
		case value = <-ready:
			return value, nil
		case <-closed:
			return value, ErrClosed
		case <-gone:
			gone, grace = nil, NewPatience(graceGone)
		case now := <-ticker.C:
			switch {
			case grace.Over(now):
				return value, watch.Err()
			case !patience.Over(now):
			case watch == nil:
				return value, fmt.Errorf("the launcher has not answered for %v: "+
					"it is stopped, or the connection failed", limit)
			case !watch.Sees():
				return value, fmt.Errorf("%w for %v, and the launcher does not report whether "+
					"they are alive: %s", ErrIncomplete, limit, watch.Unknown())
			}
		}
	}
}
