package main

import (
	"bytes"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// When several ranks end, this file finds the rank that ended first and caused the other ends. The failure of a rank
// makes other ranks abort. gompirun may notice the aborts before the failure, because the kernel closes the connections
// of an exiting process before it notifies the parent. A rank that aborts for this reason names the failed rank.

// An end records that a rank has ended, or that it has called MPI_Abort.
type end struct {
	rank    int
	byAbort bool // the rank has called MPI_Abort, and may still run
	status  syscall.WaitStatus
}

func (j *job) noteEnd(rank int, status syscall.WaitStatus) {
	w := j.ranks[rank].world
	close(w.exited[rank-w.first])
	w.pmi.Drain(rank - w.first)
	j.ranks[rank].ended = true
	j.runningCount--
	j.ends = append(j.ends, end{rank: rank, status: status})
}

// classifyEnds determines for each entry of j.ends whether the job fails, the most likely cause first. If the rank that
// caused a failure may still be exiting, classifyEnds leaves all entries and schedules another check.
func (j *job) classifyEnds() {
	if j.failure == nil && j.unexplained() {
		if j.heldSince.IsZero() {
			j.heldSince = time.Now()
		}
		if !j.recheckPending {
			j.recheckPending = true
			j.after(graceLost/20, recheckEnds)
		}
		return
	}
	j.heldSince = time.Time{}
	ends := j.ends
	j.ends = nil
	slices.SortStableFunc(ends, func(a, b end) int { return j.suspicion(b) - j.suspicion(a) })
	for _, e := range ends {
		if w := j.ranks[e.rank].world; e.byAbort && j.outlives(w) {
			j.loseWorld(w, e.rank, j.aborted(e.rank, j.pmiState(e.rank)))
		} else if e.byAbort {
			j.fail(j.aborted(e.rank, j.pmiState(e.rank)))
		} else {
			j.rankEnded(e.rank, e.status)
		}
	}
}

// suspicion returns how likely it is that e has caused the other ends; a higher number is more likely.
func (j *job) suspicion(e end) int {
	st := j.pmiState(e.rank)
	switch {
	case st.Aborted && st.FailedRank >= 0:
		return 0
	case !st.Aborted && e.status.Signaled():
		return 2
	}
	return 1
}

// unexplained reports whether j.ends has a failure whose cause may not be in j.ends yet. The cause is missing while a
// rank is exiting, or while a rank that an MPI_Abort reported as failed has no entry.
func (j *job) unexplained() bool {
	failed, since := false, time.Duration(0)
	if !j.heldSince.IsZero() {
		since = time.Since(j.heldSince)
	}
	for _, e := range j.ends {
		st := j.pmiState(e.rank)
		v, _ := j.classifyEnd(e.rank, e.status, st)
		if v == nil && !e.byAbort {
			continue
		}
		failed = true
		if e.byAbort && st.FailedRank >= 0 && !j.ranks[st.FailedRank].ended && since < graceLost {
			return true
		}
	}
	if !failed || since > graceEnding {
		return false
	}
	for i := range j.ranks {
		isListed := slices.ContainsFunc(j.ends, func(e end) bool { return e.rank == i })
		if r := &j.ranks[i]; r.pid != 0 && !r.ended && !isListed && isExiting("/proc", r.pid) {
			return true
		}
	}
	return false
}

// isExiting reports whether a child of gompirun has ended, or is ending: the kernel has set its flag "exiting".
func isExiting(proc string, pid int) bool {
	const (
		state, flags = 0, 6
		exiting      = 4 // the kernel's flag for a process that is exiting
	)
	fields := statOf(proc, strconv.Itoa(pid))
	if len(fields) <= flags {
		return true // the process no longer exists
	}
	bits, err := strconv.ParseUint(string(fields[flags]), 10, 64)
	return err == nil && bits&exiting != 0 || bytes.ContainsAny(fields[state], "ZXx")
}
