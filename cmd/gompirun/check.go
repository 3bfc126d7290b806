package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"gompirma/core/insight"
	"gompirma/core/insight/check"
)

// checkListener searches for conflicting accesses: --check.
type checkListener struct {
	path     string // file for the findings as JSON, or ""
	strict   bool   // also find sends that complete only because they are buffered
	raises   bool   // each call waits until it is known whether it conflicts
	job      *job
	checker  *check.Checker
	order    insight.Order
	lines    insight.Lines
	number   int
	underway insight.Underway
	broken   bool       // a rank has lost records: nothing is checked any longer
	come     [][]uint64 // by rank, the ends of the records that wait in order
}

func (l *checkListener) mode() insight.Mode {
	mode := insight.Records | insight.Entries | insight.Waits | insight.Own
	if l.raises {
		mode |= insight.Answers
	}
	return mode
}

func (l *checkListener) begin(j *job) error {
	l.job = j
	memory := j.observation.memory
	l.checker = check.New(memory.Ranks(), func(rank int, address uint64) insight.Place {
		return l.lines.Place(memory.Rank(rank).Objects(), address)
	})
	l.order.Use, l.order.Pause = l.checker.Record, memory.ReadOne
	if l.strict {
		l.checker.Strict()
	}
	if l.raises {
		l.come = make([][]uint64, memory.Ranks())
		l.checker.Answering()
		l.order.Use = func(rank int, r *insight.Record) {
			l.checker.Record(rank, r)
			l.checker.Ends(rank, l.come[rank][0])
			l.come[rank] = l.come[rank][1:]
		}
	}
	return nil
}

func (l *checkListener) record(rank int, words []uint64) error {
	l.order.Add(rank, words)
	if l.raises {
		l.underway.Add(rank, words)
		l.come[rank] = append(l.come[rank], l.job.observation.memory.Rank(rank).Position())
	}
	return nil
}

// unrecorded is the longest time between the moment when another rank notices a call and the call's record. An
// operation on a window is recorded at its return, but a load from the window may see its effect before.
const unrecorded = 50 * time.Millisecond

// unfinished is the longest time for which an operation delays the check of calls that may have seen its effect. The
// operation may itself wait for one of these calls.
const unfinished = time.Second

// noteLoss ends the checks if a rank has lost records. It is called before records are checked that the rank, or a rank
// that depends on it, wrote after the loss: the rank sets Broken before it writes its next record.
func (l *checkListener) noteLoss() {
	memory := l.job.observation.memory
	for rank := range memory.Ranks() {
		if l.broken || !memory.Rank(rank).Broken() {
			continue
		}
		l.broken = true
		l.checker.Broken()
		fmt.Fprintf(os.Stderr, "gompirun: --check: rank %d lost records of calls, because gompirun did not "+
			"read them in time: later calls are not checked. Set a larger %s (in bytes)\n",
			rank, envRing)
	}
}

func (l *checkListener) looked(until time.Duration) {
	l.noteLoss()
	switch {
	case until == math.MaxInt64:
		l.order.Until(until)
	case l.raises:
		l.order.Until(l.underway.Before(until, unfinished))
		defer l.answer(until) // after the findings are reported: the answer may end the job
	default:
		l.order.Until(until - unrecorded)
	}
	for _, f := range l.checker.News() {
		l.number++
		fmt.Fprintf(os.Stderr, "gompirun: --check: %d: %v\n", l.number, f)
		if f.Kind == "collective" && f.Name == "name" {
			l.job.mail.send(hopeless{"--check ended the job: its ranks call different collectives and " +
				"would hang"})
		}
	}
}

// answer reports to the ranks the position up to which their calls have been checked.
func (l *checkListener) answer(now time.Duration) {
	memory := l.job.observation.memory
	for rank := range memory.Ranks() {
		if position, later := l.checker.Answers(rank, now); position > 0 {
			memory.Rank(rank).Answer(position, later)
		}
	}
}

func (l *checkListener) abandon() { l.order.Abandon() }

func (l *checkListener) end() error {
	l.looked(math.MaxInt64)
	if n := l.order.Left(); n > 0 {
		fmt.Fprintf(os.Stderr, "gompirun: --check: the last %d records of the job were not checked\n", n)
	}
	if l.order.Err != nil {
		return l.order.Err
	}
	findings := l.checker.Findings()
	if l.path != "" {
		text, err := json.MarshalIndent(findings, "", "  ")
		if err == nil {
			err = os.WriteFile(l.path, append(text, '\n'), 0o666)
		}
		if err != nil {
			return err
		}
	}
	if len(findings) > 0 && l.job.verdict == nil {
		l.job.verdict = &verdict{statusConflict, nil}
	}
	return nil
}
