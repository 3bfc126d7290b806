package main

import (
	"bytes"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Which end was the first. A rank that is lost takes others along, which notice before gompirun does, since the kernel
// ends a process' connections before its parent can know of its end. They tell for whose sake they abort.

// end is that of a rank, or its word that it is about to.
type end struct {
	rank   int
	word   bool // it has called MPI_Abort, and may still run
	status syscall.WaitStatus
}

// noteEnd takes in that a rank has ended.
func (j *job) noteEnd(rank int, status syscall.WaitStatus) {
	j.pmi.Drain(rank)
	j.ranks[rank].ended = true
	j.living--
	j.ends = append(j.ends, end{rank: rank, status: status})
}

// judgeEnds says what those that are known mean for the job. A failure is held back while another rank is on its way
// out that may be the cause.
func (j *job) judgeEnds() {
	if j.verdict == nil && j.unexplained() {
		if j.held.IsZero() {
			j.held = time.Now()
		}
		if !j.looking {
			j.looking = true
			j.after(graceLost/20, look)
		}
		return
	}
	j.held = time.Time{}
	ends := j.ends
	j.ends = nil
	slices.SortStableFunc(ends, func(a, b end) int { return j.suspicion(b) - j.suspicion(a) })
	for _, e := range ends {
		if e.word {
			j.fail(j.aborted(e.rank, j.pmi.State(e.rank)))
		} else {
			j.rankEnded(e.rank, e.status)
		}
	}
}

// suspicion is how likely an end is the cause of others that came at the same time.
func (j *job) suspicion(e end) int {
	st := j.pmi.State(e.rank)
	switch {
	case st.Aborted && st.Lost >= 0:
		return 0
	case !st.Aborted && e.status.Signaled():
		return 2
	}
	return 1
}

// unexplained returns whether there is a failure, and another rank that may be its cause is about to end.
func (j *job) unexplained() bool {
	failed, since := false, time.Duration(0)
	if !j.held.IsZero() {
		since = time.Since(j.held)
	}
	for _, e := range j.ends {
		st := j.pmi.State(e.rank)
		v, _ := j.judge(e.rank, e.status, st)
		if v == nil && !e.word {
			continue
		}
		failed = true
		if e.word && st.Lost >= 0 && !j.ranks[st.Lost].ended && since < graceLost {
			return true
		}
	}
	if !failed || since > graceEnding {
		return false
	}
	for i := range j.ranks {
		said := slices.ContainsFunc(j.ends, func(e end) bool { return e.rank == i })
		if r := &j.ranks[i]; r.pid != 0 && !r.ended && !said && leaves("/proc", r.pid) {
			return true
		}
	}
	return false
}

// leaves returns whether a child of gompirun has ended, or does so just now: the kernel takes it apart.
func leaves(proc string, pid int) bool {
	const (
		state, flags = 0, 6
		exiting      = 4 // the flag of a process that the kernel takes apart
	)
	fields := statOf(proc, strconv.Itoa(pid))
	if len(fields) <= flags {
		return true // it is not even there any longer
	}
	bits, err := strconv.ParseUint(string(fields[flags]), 10, 64)
	return err == nil && bits&exiting != 0 || bytes.ContainsAny(fields[state], "ZXx")
}
