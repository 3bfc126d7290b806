package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// This file detects hangs: all ranks wait in MPI and nothing changes. Gompirun periodically reads the wait records that
// the ranks' threads publish in shared memory; such a read is called a poll. If these records do not change, gompirun
// inspects the threads of the ranks that do not wait in MPI.

const (
	pollsPerTimeout  = 5                // number of polls in the time given by hangTimeout
	maxLateIntervals = 3                // a poll is late if more intervals than this have passed since the last one
	maxInterval      = time.Second      // longest interval between polls
	maxBackoff       = 30 * time.Second // longest interval between inspections of threads
)

// hang is the state of the hang detection.
type hang struct {
	lastPoll  time.Time
	lastWaits []waitID    // the waits at the last poll, if all ranks waited; else nil
	since     time.Time   // time since which lastWaits is unchanged
	holders   lockHolders // holders of locks that ranks wait for
	// states of the threads that slept outside of MPI at the last inspection; nil if a thread ran
	asleep   []string
	next     time.Time // time of the next inspection of the threads
	backoff  time.Duration
	reported bool
	warned   bool // a possible hang has been reported
}

// waitID identifies a wait of a thread. The value changes when the thread wakes up, or waits again.
type waitID struct {
	rank, record  int
	number, wakes uint32
}

// external lists calls that may wait for a process outside the job.
var external = []string{"MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn",
	"MPI_Comm_spawn_multiple"}

// waits returns the waits of all ranks; nil if a rank does not wait, or may wait for another job.
func (p snapshot) waits() (all []waitID) {
	for r := range p {
		d := &p[r]
		if d.ended {
			continue
		}
		if d.text != "" || len(d.waits) == 0 || d.unrecorded > 0 || d.blocked > len(d.waits) {
			return nil
		}
		for _, w := range d.waits {
			if w.Foreign || slices.Contains(external, w.Call) {
				return nil
			}
			all = append(all, waitID{r, w.Record, w.Number, w.Wakes})
		}
	}
	return all
}

// pollInterval returns the interval between two polls.
func (j *job) pollInterval() time.Duration {
	return max(min(j.opts.hangTimeout()/pollsPerTimeout, maxInterval), time.Millisecond)
}

// watchHangs polls the waits of the ranks and schedules the next poll. If no rank can continue, it reports this once.
func (j *job) watchHangs() {
	if j.hang.reported || j.stopping.Load() || j.state >= draining {
		return
	}
	defer j.after(j.pollInterval(), checkHang)
	now := time.Now()
	p := j.snapshot()
	h := &j.hang
	h.holders = j.holders(p, h.holders, now)
	seen := p.waits()
	if j.state != running {
		seen = nil
	}
	if !h.unchanged(seen, now, j.pollInterval(), j.opts.hangTimeout()) {
		return
	}
	others := j.threads(p)
	if !h.allSleep(others, now, j.pollInterval()) || !slices.Equal(j.snapshot().waits(), seen) {
		return
	}
	if len(others.wakeable) == 0 {
		h.reported = true
		j.reportDeadlock(p, now)
		return
	}
	h.scheduleNext(now, j.pollInterval())
	if others.allFutex && !h.warned {
		h.warned = true
		j.findMissing(p)
		j.printLines(slices.Concat(mayHang(others), p.lines(j.traces(p)), h.holders.lines(p, now)))
	}
}

// scheduleNext schedules the next inspection of the threads. The delay grows with each call, up to maxBackoff. The
// argument `between` is the interval between polls.
func (h *hang) scheduleNext(now time.Time, between time.Duration) {
	h.backoff = min(2*h.backoff+between, maxBackoff)
	h.next = now.Add(h.backoff)
}

// mayHang returns the report on a possible hang. In a possible hang all ranks wait in MPI. Their other threads sleep
// too, and only an event from outside the process, such as input, may wake one of them.
func mayHang(o otherThreads) []string {
	return []string{"possible hang: " + strings.Join(o.wakeable, "; ")}
}

// unchanged stores `seen`, the waits of all ranks (nil if a rank does not wait). It returns true if the waits have been
// unchanged for at least the time `patience` and the next inspection of the threads is due.
func (h *hang) unchanged(seen []waitID, now time.Time, between, patience time.Duration) bool {
	// If this poll is late, the machine may have been suspended: the ranks had no time to make progress.
	late := now.Sub(h.lastPoll) > maxLateIntervals*between
	h.lastPoll = now
	if seen == nil || late || !slices.Equal(seen, h.lastWaits) {
		h.lastWaits, h.since, h.asleep, h.next, h.backoff = seen, now, nil, time.Time{}, 0
		return false
	}
	return now.Sub(h.since) >= patience && !now.Before(h.next)
}

// allSleep stores the states of the threads outside of MPI. It reports whether all of them sleep, in the same states as
// at the previous inspection. Equal states mean that none of these threads has run in between.
func (h *hang) allSleep(o otherThreads, now time.Time, between time.Duration) bool {
	if o.active {
		h.scheduleNext(now, between)
		h.asleep = nil
		return false
	}
	asleep := append([]string{}, o.asleep...)
	same := h.asleep != nil && slices.Equal(asleep, h.asleep)
	h.asleep = asleep
	return same
}

// reportDeadlock reports that no rank can continue, and ends the job if the options request this.
func (j *job) reportDeadlock(p snapshot, now time.Time) {
	j.findMissing(p)
	why := p.deadlockText(j.hang.holders)
	if why == "" {
		why = "all ranks wait in MPI, and none can continue"
	}
	why += fmt.Sprintf(" (no progress for %.0f s)", now.Sub(j.hang.since).Seconds())
	lines := slices.Concat([]string{"deadlock: " + why}, p.lines(j.traces(p)), j.hang.holders.lines(p, now))
	if j.opts.deadlock == deadlockAbort {
		j.fail(&failure{statusDeadlock, lines})
		return
	}
	j.printLines(lines)
}

// report returns lines on what each rank does, and on the holders of the locks that ranks wait for.
func (j *job) report() []string {
	p, now := j.snapshot(), time.Now()
	j.findMissing(p)
	j.hang.holders = j.holders(p, j.hang.holders, now)
	lines := slices.Concat(p.lines(j.traces(p)), j.hang.holders.lines(p, now))
	// A deadlock is reported only if watchHangs has already found it and the waits are unchanged. A single poll
	// cannot prove a deadlock, since it reads the ranks one after the other.
	if others := j.threads(p); len(others.wakeable) > 0 && !others.active && p.waits() != nil {
		lines = append(mayHang(others), lines...)
	} else if why := p.deadlockText(j.hang.holders); why != "" && j.hang.reported && slices.Equal(p.waits(),
		j.hang.lastWaits) {
		lines = append([]string{"deadlock: " + why}, lines...)
	}
	return lines
}

// printLines writes lines of gompirun to stderr among the ranks' output.
func (j *job) printLines(lines []string) {
	if !j.opts.quiet {
		// Runs in a goroutine, since the reader of the output may be slow.
		go j.out.stderr.printText("gompirun: "+strings.Join(lines, "\ngompirun: ")+"\n", true)
	}
}

// reportOnSignal handles SIGUSR1: it prints the report of a hang, and forwards the signal to the ranks that catch it.
func (j *job) reportOnSignal() {
	j.printLines(append([]string{"state of the ranks:"}, j.report()...))
	j.signalCatchers(syscall.SIGUSR1)
}
