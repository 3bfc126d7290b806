package pmi1

import (
	"errors"
	"fmt"
	"time"
)

// PatienceTick is how often a wait looks whether its Patience is over.
const PatienceTick = 100 * time.Millisecond

// Patience is how long is waited for something. It counts the time in which this process ran: while that was stopped,
// or got no processor, what it waits for may have been stopped, too, or lies there unseen.
type Patience struct {
	left    time.Duration
	last    time.Time
	endless bool
}

// NewPatience begins a wait of d, 0: for ever.
func NewPatience(d time.Duration) Patience {
	return Patience{left: d, last: time.Now(), endless: d == 0}
}

// Over returns whether the time is over. Call it every PatienceTick, with the time.
func (p *Patience) Over(now time.Time) bool {
	p.left -= min(max(now.Sub(p.last), 0), 2*PatienceTick)
	p.last = now
	return !p.endless && p.left <= 0
}

// Watch is what somebody knows of whether the processes of the job live.
type Watch interface {
	// Sees returns whether it is known of those that this process has to care for. Then it need not wonder how late
	// they are.
	Sees() bool
	// Gone is closed when one does not live any longer, nil: that is not told. Err says which.
	Gone() <-chan struct{}
	Err() error
	// Unknown says why Sees is false.
	Unknown() string
}

// Unwatched knows nothing.
type Unwatched struct{}

func (Unwatched) Sees() bool            { return false }
func (Unwatched) Gone() <-chan struct{} { return nil }
func (Unwatched) Err() error            { return nil }
func (Unwatched) Unknown() string       { return "nobody watches them" }

// ErrClosed says that the launcher is gone, ErrIncomplete that processes are late of which nobody knows more.
var (
	ErrClosed     = errors.New("the launcher is gone")
	ErrIncomplete = errors.New("not all processes have come")
)

// graceGone is how long a launcher has to end this process because of another one's end, which it can judge better.
const graceGone = time.Second

// Await returns what the launcher gives to ready. It waits no longer than limit, unless that is 0 or watch sees all
// that it waits for; watch is nil if that is the launcher alone. ErrClosed: closed is.
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
					"it is stopped, or the way to it is lost", limit)
			case !watch.Sees():
				return value, fmt.Errorf("%w for %v, and the launcher does not tell whether "+
					"they live: %s", ErrIncomplete, limit, watch.Unknown())
			}
		}
	}
}
