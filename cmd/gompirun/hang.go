package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Hangs: all ranks wait in MPI and nothing moves. gompirun looks from time to time at what the threads of the ranks
// have told that they wait for, which is all that a rank ever does for it.

// How often is looked, and how long at most between two looks at the threads of ranks.
const (
	looksInAfter = 5
	mostLate     = 3 // times of that
	mostBetween  = time.Second
	mostBackoff  = 30 * time.Second
)

// hang is what is known of how the job moves.
type hang struct {
	looked   time.Time // when that was last
	seen     []told    // at the last look, if all ranks waited then; else nil
	since    time.Time // since when it is the same
	held     held      // locks that are waited for
	asleep   []string  // what the threads of all ranks did at the last look at them, nil: one was outside of MPI
	next     time.Time // when to look at them again
	backoff  time.Duration
	reported bool
	doubted  bool // that it may hang has been reported
}

// told is that a thread waits: another wait, or something that came for this one, makes it another.
type told struct {
	rank, record  int
	number, wakes uint32
}

// external are calls that somebody outside of the job ends.
var external = []string{"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn",
	"MPI_Comm_spawn_multiple"}

// waits returns what the ranks of a picture wait for; nil: a rank does not, or may be waiting for another job.
func (p picture) waits() (all []told) {
	for r := range p {
		d := &p[r]
		if d.gone {
			continue
		}
		if d.is != "" || len(d.ws) == 0 || d.more > 0 || d.blocked > len(d.ws) {
			return nil
		}
		for _, w := range d.ws {
			if w.Foreign || slices.Contains(external, w.Call) {
				return nil
			}
			all = append(all, told{r, w.Record, w.Number, w.Wakes})
		}
	}
	return all
}

// between is the time between two looks.
func (j *job) between() time.Duration {
	return max(min(j.opts.patience()/looksInAfter, mostBetween), time.Millisecond)
}

// watchHangs looks at what the ranks do, says so once if none can go on, and comes back.
func (j *job) watchHangs() {
	if j.hang.reported || j.stopping.Load() || j.state >= draining {
		return
	}
	defer j.after(j.between(), watch)
	now := time.Now()
	p := j.look()
	h := &j.hang
	h.held = j.holders(p, h.held, now)
	seen := p.waits()
	if j.state != running {
		seen = nil
	}
	if !h.still(seen, now, j.between(), j.opts.patience()) {
		return
	}
	others := j.threads(p)
	if !h.allSleep(others, now, j.between()) || !slices.Equal(j.look().waits(), seen) {
		return
	}
	if len(others.may) == 0 {
		h.reported = true
		j.tellDeadlock(p, now)
		return
	}
	h.later(now, j.between())
	if others.futex && !h.doubted {
		h.doubted = true
		j.findMissing(p)
		j.say(slices.Concat(mayHang(others), p.lines(j.traces(p)), h.held.lines(p, now)))
	}
}

// later has the threads looked at again after some time, which grows.
func (h *hang) later(now time.Time, between time.Duration) {
	h.backoff = min(2*h.backoff+between, mostBackoff)
	h.next = now.Add(h.backoff)
}

// mayHang says that a job hangs unless something outside of it wakes a thread.
func mayHang(o outside) []string {
	return []string{"may hang: " + strings.Join(o.may, "; ")}
}

// still takes in what all ranks wait for, nil if a rank does not, and returns whether that has long been the same, so
// that their threads are to be looked at.
func (h *hang) still(seen []told, now time.Time, between, patience time.Duration) bool {
	// If gompirun itself has come late, the machine may have stood still, and the ranks as well.
	late := now.Sub(h.looked) > mostLate*between
	h.looked = now
	if seen == nil || late || !slices.Equal(seen, h.seen) {
		h.seen, h.since, h.asleep, h.next, h.backoff = seen, now, nil, time.Time{}, 0
		return false
	}
	return now.Sub(h.since) >= patience && !now.Before(h.next)
}

// allSleep takes in what threads outside of MPI do, and returns whether all have slept at two looks in a row, in the
// same way. What one does between them another would have had to wake it for.
func (h *hang) allSleep(o outside, now time.Time, between time.Duration) bool {
	if o.active {
		h.later(now, between)
		h.asleep = nil
		return false
	}
	asleep := append([]string{}, o.asleep...)
	same := h.asleep != nil && slices.Equal(asleep, h.asleep)
	h.asleep = asleep
	return same
}

// tellDeadlock says that no rank can go on, and ends the job if that is wanted.
func (j *job) tellDeadlock(p picture, now time.Time) {
	j.findMissing(p)
	why := p.why(j.hang.held)
	if why == "" {
		why = "all ranks wait in MPI"
	}
	why += fmt.Sprintf(" (nothing has moved for %.0f s)", now.Sub(j.hang.since).Seconds())
	lines := slices.Concat([]string{"deadlock: " + why}, p.lines(j.traces(p)), j.hang.held.lines(p, now))
	if j.opts.deadlock == deadlockAbort {
		j.fail(&verdict{statusDeadlock, lines})
		return
	}
	j.say(lines)
}

// report is what each rank does, and who holds what others wait for.
func (j *job) report() []string {
	p, now := j.look(), time.Now()
	j.findMissing(p)
	j.hang.held = j.holders(p, j.hang.held, now)
	lines := slices.Concat(p.lines(j.traces(p)), j.hang.held.lines(p, now))
	// One look is not enough to know that ranks wait for each other: they are looked at one after the other.
	if others := j.threads(p); len(others.may) > 0 && !others.active && p.waits() != nil {
		lines = append(mayHang(others), lines...)
	} else if why := p.why(j.hang.held); why != "" && j.hang.reported && slices.Equal(p.waits(), j.hang.seen) {
		lines = append([]string{"deadlock: " + why}, lines...)
	}
	return lines
}

// say writes lines of gompirun's own among the ranks'.
func (j *job) say(lines []string) {
	if !j.opts.quiet {
		// Apart: somebody may read the output slowly.
		go j.out.stderr.say("gompirun: "+strings.Join(lines, "\ngompirun: ")+"\n", true)
	}
}

// asked is what becomes of SIGUSR1: the same as at a hang, also where the ranks want to know of the signal.
func (j *job) asked() {
	j.say(append([]string{"what the ranks do:"}, j.report()...))
	for i := range j.ranks {
		if r := &j.ranks[i]; r.pid != 0 && !r.ended && catches("/proc", r.pid, syscall.SIGUSR1) {
			j.signalRank(r, syscall.SIGUSR1)
		}
	}
}
