package pmi1

import (
	"errors"
	"fmt"
	"time"
)

// DeadlineTick is the interval at which a wait checks its Deadline.
const DeadlineTick = 100 * time.Millisecond

// Deadline measures the remaining time of a wait. It counts only time in which this process ran. Time in which this
// process was stopped does not count: the awaited process may have been stopped too, or its answer may be unread.
type Deadline struct {
	left      time.Duration
	last      time.Time
	unlimited bool
}

// NewDeadline starts a wait of at most d; 0 means no limit.
func NewDeadline(d time.Duration) Deadline {
	return Deadline{left: d, last: time.Now(), unlimited: d == 0}
}

// Expired reports whether the time has elapsed. Call it every DeadlineTick with the current time.
func (p *Deadline) Expired(now time.Time) bool {
	p.left -= min(max(now.Sub(p.last), 0), 2*DeadlineTick)
	p.last = now
	return !p.unlimited && p.left <= 0
}

// Watch reports whether the processes of the job are alive.
type Watch interface {
	// DetectsFailure reports whether a failure of a watched process would be detected. If so, a wait for late
	// processes needs no limit.
	DetectsFailure() bool
	// Failed returns a channel that is closed when a process fails; nil if failures are not reported. Err returns
	// which process failed.
	Failed() <-chan struct{}
	Err() error
	// UnknownDetail returns the reason why DetectsFailure returns false.
	UnknownDetail() string
}

// Unwatched is a Watch that watches no process.
type Unwatched struct{}

func (Unwatched) DetectsFailure() bool    { return false }
func (Unwatched) Failed() <-chan struct{} { return nil }
func (Unwatched) Err() error              { return nil }
func (Unwatched) UnknownDetail() string   { return "no process monitors them" }

// Await returns ErrClosed if the launcher has ended. It returns ErrIncomplete if processes are late and it is unknown
// whether they are alive.
var (
	ErrClosed     = errors.New("the launcher has ended")
	ErrIncomplete = errors.New("this process has waited in MPI_Init for other processes")
)

// failureGrace is the time for which Await still waits after it has seen that a process failed. In this time the
// launcher may end the job and with it this process. That end is preferred, because the launcher reports the cause more
// precisely.
const failureGrace = time.Second

// Await receives the launcher's answer from the channel `ready`. It waits at most the time `limit`, unless the limit is
// 0 or `watch` detects failures of all awaited processes. The argument `watch` is nil if Await waits only for the
// launcher. Await returns ErrClosed if the channel `closed` is closed, and watch.Err if a process has failed and
// failureGrace has passed.
func Await[T any](ready <-chan T, closed <-chan struct{}, limit time.Duration, watch Watch) (value T, err error) {
	ticker := time.NewTicker(DeadlineTick)
	defer ticker.Stop()
	patience, grace := NewDeadline(limit), NewDeadline(0)
	var gone <-chan struct{}
	if watch != nil {
		gone = watch.Failed()
	}
	for {
		select {
		case value = <-ready:
			return value, nil
		case <-closed:
			return value, ErrClosed
		case <-gone:
			gone, grace = nil, NewDeadline(failureGrace)
		case now := <-ticker.C:
			switch {
			case grace.Expired(now):
				return value, watch.Err()
			case !patience.Expired(now):
			case watch == nil:
				return value, fmt.Errorf("the launcher has not answered for %v: "+
					"it is stopped, or the connection failed", limit)
			case !watch.DetectsFailure():
				return value, fmt.Errorf("%w for %v, and the launcher does not report whether "+
					"they are alive: %s", ErrIncomplete, limit, watch.UnknownDetail())
			}
		}
	}
}
