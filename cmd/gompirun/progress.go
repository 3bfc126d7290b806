package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"gompirma/core/insight"
)

// This file prints how far the job is: one line on what the ranks do, from their wait records.

// progressInterval is the interval between two lines of --progress on a terminal.
const progressInterval = time.Second

// watchProgress prints a line and schedules the next one.
func (j *job) watchProgress() {
	if j.stopping.Load() || j.state >= draining {
		return
	}
	j.printProgress()
	j.after(progressInterval, showProgress)
}

// progressLine returns the line of --progress. With --stats it also has the bytes that the calls so far have
// transferred.
func (j *job) progressLine() string {
	line := progressText(j.snapshot(), time.Since(j.startTime))
	if o := j.observation; o != nil && o.memory.Mode()&insight.Stats != 0 {
		line += "; " + cmp.Or(strings.Trim(formatBytes(bytesOfCalls(o.memory)), "-"), "0 B") + " in MPI calls"
	}
	return line
}

// bytesOfCalls returns the number of bytes that --stats has counted, over all ranks and functions.
func bytesOfCalls(m *insight.Memory) (sum uint64) {
	for rank := range m.Ranks() {
		for _, c := range m.Counts(rank) {
			sum += c.Bytes
		}
	}
	return sum
}

func (j *job) printProgress() { j.printLines([]string{j.progressLine()}) }

// progressOnSignal handles SIGUSR2: it prints the line of --progress, and forwards the signal to the ranks that catch
// it.
func (j *job) progressOnSignal() {
	j.printProgress()
	j.signalCatchers(syscall.SIGUSR2)
}

// progressText returns the line: the elapsed time, and how many ranks compute, wait in MPI (and in which calls), have
// not called MPI_Init, have called MPI_Finalize, and have ended.
func progressText(p snapshot, elapsed time.Duration) string {
	var computing, waiting, early, finalized, ended int
	calls := map[string]int{}
	for _, d := range p {
		switch {
		case d.ended:
			ended++
		case d.finalized:
			finalized++
		case d.blocked > 0 || len(d.waits) > 0 || d.unrecorded > 0:
			waiting++
			if len(d.waits) > 0 {
				calls[d.waits[0].Call]++
			}
		case d.text != "":
			early++
		default:
			computing++
		}
	}
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(computing, "computing")
	add(waiting, "waiting in MPI"+callsText(calls))
	add(early, "before MPI_Init")
	add(finalized, "after MPI_Finalize")
	add(ended, "ended")
	return fmt.Sprintf("progress: %s, %d %s: %s", durationText(elapsed), len(p), plural(len(p), "rank"),
		strings.Join(parts, ", "))
}

// callsText returns the calls in which most ranks sleep, with their numbers: " (3 MPI_Recv, 1 MPI_Barrier)". It returns
// "" if no rank sleeps.
func callsText(calls map[string]int) string {
	const most = 3
	names := slices.Sorted(maps.Keys(calls))
	slices.SortStableFunc(names, func(a, b string) int { return calls[b] - calls[a] })
	var parts []string
	for i, name := range names {
		if i == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", calls[name], name))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// durationText returns a duration as "7 s", "12:07" or "1:02:07".
func durationText(d time.Duration) string {
	s := int(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
