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

// checkListener implements --check: it searches for conflicting accesses and erroneous calls of MPI.
type checkListener struct {
	path          string // file to which the findings are written as JSON; "" if none
	strict        bool   // also find sends that complete only because the library buffers them
	waitsForCheck bool   // each call of a rank waits until it has been checked: --check=error
	job           *job
	checker       *check.Checker
	order         insight.Sorter
	lines         insight.Locator
	number        int
	underway      insight.PendingOps
	broken        bool       // a rank has lost records, so the checks have ended
	arrivals      [][]uint64 // for each rank, the ring position after each record that has arrived, in order
	ranks         int        // number of ranks that the checker knows
	saysUnknown   bool       // gompirun has reported that some processes are not recorded
}

func (l *checkListener) option() string { return "--check" }

func (l *checkListener) mode() insight.Mode {
	mode := insight.Records | insight.Entries | insight.WaitForSpace | insight.ProgramAccesses
	if l.waitsForCheck {
		mode |= insight.SyncCheck
	}
	return mode
}

func (l *checkListener) begin(j *job) error {
	l.job = j
	memory := j.observation.memory
	l.ranks = memory.Ranks()
	l.checker = check.New(l.ranks, func(rank int, address uint64) insight.Location {
		return l.lines.Location(memory.Rank(rank).Objects(), address)
	})
	l.order.Use, l.order.Pause = l.checker.Record, memory.ReadOneEach
	if l.strict {
		l.checker.Strict()
	}
	if l.waitsForCheck {
		l.arrivals = make([][]uint64, memory.Ranks())
		l.checker.EnableSyncCheck()
		l.order.Use = func(rank int, r *insight.Record) {
			l.checker.Record(rank, r)
			l.checker.SetRecordEnd(rank, l.arrivals[rank][0])
			l.arrivals[rank] = l.arrivals[rank][1:]
		}
	}
	return nil
}

func (l *checkListener) added(s *startedJob) {
	l.checker.AddJob(s.size)
	l.ranks += s.size
	if l.waitsForCheck {
		l.arrivals = append(l.arrivals, make([][]uint64, s.size)...)
	}
}

func (l *checkListener) record(rank int, words []uint64) error {
	l.order.Add(rank, words)
	if l.waitsForCheck {
		l.underway.Add(rank, words)
		l.arrivals[rank] = append(l.arrivals[rank], l.job.observation.memory.Rank(rank).Position())
	}
	return nil
}

// maxRecordDelay is the longest time for which the record of a call may be later than the call's effect. A call on a
// window is recorded when it returns, but another rank may load the data that it wrote earlier.
const maxRecordDelay = 50 * time.Millisecond

// maxOperationDelay is the longest time for which an unfinished operation delays the check of calls that may have seen
// its effect. The delay must end, because the operation may itself wait for one of these calls.
const maxOperationDelay = time.Second

// noteLoss ends the checks if a rank has lost records. The method `advanced` calls noteLoss before it checks records. A
// rank sets HasEssentialLoss before it writes its next record. Therefore no record is checked that this rank, or a rank
// that depends on this rank, wrote after the loss.
func (l *checkListener) noteLoss() {
	memory := l.job.observation.memory
	for rank := range l.ranks {
		if l.broken || !memory.Rank(rank).HasEssentialLoss() {
			continue
		}
		l.broken = true
		l.checker.RecordsLost()
		fmt.Fprintf(os.Stderr, "gompirun: --check: some calls of %s were lost, because gompirun did not "+
			"read them in time; later calls are not checked. Set a larger %s (in bytes)\n",
			l.job.observation.known().Name(rank), envRing)
	}
}

func (l *checkListener) advanced(until time.Duration) {
	l.noteLoss()
	switch {
	case until == math.MaxInt64:
		l.order.Until(until)
	case l.waitsForCheck:
		l.order.Until(l.underway.QuiescentTime(until, maxOperationDelay))
		defer l.reportChecked(until) // after the loop below, since a finding may end the job
	default:
		l.order.Until(until - maxRecordDelay)
	}
	if l.checker.HasUnknown() && !l.saysUnknown {
		l.saysUnknown = true
		fmt.Fprintln(os.Stderr, "gompirun: --check: this job communicates with processes of another job that "+
			"gompirun cannot identify; accesses of one job to memory of the other are not checked")
	}
	for _, f := range l.checker.NewFindings() {
		l.number++
		fmt.Fprintf(os.Stderr, "gompirun: --check: %d: %v\n", l.number, f)
		if f.Kind == "collective" && f.Name == "name" {
			l.job.mail.send(cannotComplete{
				"--check ended the job, because its ranks call different collectives and would hang"})
		}
	}
}

// reportChecked reports to each rank how far its calls have been checked, as a position in the rank's ring of records.
// With --check=error, the rank waits for this position.
func (l *checkListener) reportChecked(now time.Duration) {
	memory := l.job.observation.memory
	for rank := range l.ranks {
		if position, later := l.checker.Checked(rank, now); position > 0 {
			memory.Rank(rank).ReportChecked(position, later)
		}
	}
}

func (l *checkListener) abandon() { l.order.Abandon() }

func (l *checkListener) end() error {
	l.advanced(math.MaxInt64)
	if n := l.order.Dropped(); n > 0 {
		fmt.Fprintf(os.Stderr, "gompirun: --check: the last calls of the job were not checked (number: %d), "+
			"because a signal or the time limit ended the analysis\n", n)
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
	if len(findings) > 0 && l.job.failure == nil {
		l.job.failure = &failure{statusConflict, nil}
	}
	return nil
}
