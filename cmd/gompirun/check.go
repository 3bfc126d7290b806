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

// checkListener looks for conflicting accesses: --check.
type checkListener struct {
	path    string // of the findings as JSON, or ""
	job     *job
	checker *check.Checker
	order   insight.Order
	lines   insight.Lines
	number  int
}

func (l *checkListener) mode() insight.Mode {
	return insight.Records | insight.Entries | insight.Waits |
		insight.Own
}

func (l *checkListener) begin(j *job) error {
	l.job = j
	memory := j.observation.memory
	l.checker = check.New(memory.Ranks(), func(rank int, address uint64) insight.Place {
		return l.lines.Place(memory.Rank(rank).Objects(), address)
	})
	l.order.Use = l.checker.Record
	return nil
}

func (l *checkListener) record(rank int, words []uint64) error {
	l.order.Add(rank, words)
	return nil
}

// unrecorded is how long a call that another rank has noticed may not be recorded yet: one that operates on a window is
// written down when it returns, but whoever loads from there sees before what it has done.
const unrecorded = 50 * time.Millisecond

func (l *checkListener) looked(until time.Duration) {
	if until != math.MaxInt64 {
		until -= unrecorded
	}
	l.order.Until(until)
	for _, f := range l.checker.News() {
		l.number++
		fmt.Fprintf(os.Stderr, "gompirun: --check: %d: %v\n", l.number, f)
		if f.Kind == "collective" && f.Name == "name" {
			l.job.mail.send(hopeless{"--check ends the job: its ranks are in different collectives"})
		}
	}
}

func (l *checkListener) end() error {
	l.looked(math.MaxInt64)
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
