package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// statistics is the listener of --stats. The ranks count their calls in shared memory; gompirun evaluates the counters
// after the ranks have ended.
type statistics struct {
	path string // "" for a table on stderr
	job  *job
}

func (s *statistics) option() string { return "--stats" }

func (s *statistics) mode() insight.Mode { return insight.Stats }

func (s *statistics) begin(j *job) error {
	s.job = j
	if s.path == "" {
		return nil
	}
	file, err := os.Create(s.path) // a file that cannot be written is reported before the job starts
	if err == nil {
		err = file.Close()
	}
	return err
}

func (s *statistics) added(*startedJob) {}

func (s *statistics) record(int, []uint64) error { return nil }

func (s *statistics) end() error {
	sum := summarize(s.job.observation.memory, s.job.observation.known(), monotonic())
	if s.path == "" {
		if len(sum.Ranks) > 0 {
			s.job.out.stderr.printText(sum.table(), !s.job.forced)
		} else if !s.job.opts.quiet && s.job.unrecordedText() == "" {
			s.job.out.stderr.printText("gompirun: --stats: no rank called MPI\n", !s.job.forced)
		}
		return nil
	}
	text, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.path, append(text, '\n'), 0o666)
}

// monotonic returns CLOCK_MONOTONIC.
func monotonic() time.Duration {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano())
}

// summary is the result of --stats. Times are in seconds.
type summary struct {
	Seconds   float64           `json:"seconds"`   // run time of the rank that ran longest
	Mpi       float64           `json:"mpi"`       // time in MPI as a fraction of the run time, over all ranks
	Imbalance float64           `json:"imbalance"` // (max - mean) / max of the ranks' times outside of MPI
	Ranks     []rankSummary     `json:"ranks"`
	Functions []functionSummary `json:"functions"` // in descending order of time
	Windows   []windowSummary   `json:"windows"`
	Accesses  []accessSummary   `json:"file_accesses"`
	Files     fileSummary       `json:"aggregated_file_writes"`
	Costs     []string          `json:"costs"` // the most expensive functions, as text
}

type rankSummary struct {
	Rank      int     `json:"rank"`
	Job       int     `json:"job,omitempty"` // 0 for the job of the command line
	Pid       int     `json:"pid"`
	Threads   int     `json:"threads"`
	Uncounted int     `json:"threads_not_counted,omitempty"`
	Others    int     `json:"other_processes,omitempty"` // processes of this rank whose calls are not counted
	Seconds   float64 `json:"seconds"`                   // time from the first call of MPI to the end
	Mpi       float64 `json:"mpi_seconds"`
	Waiting   float64 `json:"waiting_seconds"` // part of mpi_seconds that was spent in calls that may wait
	Finalized bool    `json:"finalized"`
	part      int     // index of its part of the memory
}

// name returns the name of a rank in messages.
func (r *rankSummary) name() string { return insight.RankName(r.Job, r.Rank) }

// fileSummary holds the counts of collective writes to files that aggregators have executed, over all ranks.
type fileSummary struct {
	Calls        uint64 `json:"calls"`
	Bytes        uint64 `json:"bytes"`
	Writes       uint64 `json:"writes"` // number of ranges that the aggregators have written
	WrittenBytes uint64 `json:"written_bytes"`
}

func (f *fileSummary) add(c insight.FileCounts) {
	f.Calls += c.Calls
	f.Bytes += c.Bytes
	f.Writes += c.Writes
	f.WrittenBytes += c.WrittenBytes
}

// use holds the counters of a function, or of one kind of operation on a window.
type use struct {
	Calls   uint64     `json:"calls"`
	Bytes   uint64     `json:"bytes"`
	Seconds float64    `json:"seconds"`
	Paths   pathCounts `json:"ways,omitempty"` // only for operations on a window, if the library reports paths
}

// pathCounts holds the numbers of calls and bytes for each path to the target's memory.
type pathCounts map[string]struct {
	Calls uint64 `json:"calls"`
	Bytes uint64 `json:"bytes"`
}

func (w *pathCounts) add(counts [insight.Paths]insight.Count) {
	if *w == nil {
		*w = pathCounts{}
	}
	for way, c := range counts {
		if c.Calls > 0 {
			name := insight.Path(way).String()
			sum := (*w)[name]
			sum.Calls += c.Calls
			sum.Bytes += c.Bytes
			(*w)[name] = sum
		}
	}
}

func (u *use) add(c insight.Count) {
	u.Calls += c.Calls
	u.Bytes += c.Bytes
	u.Seconds += c.Time.Seconds()
}

type functionSummary struct {
	Name string `json:"name"`
	use
	Share      float64   `json:"share"` // fraction of the run time of all ranks
	ByRank     []float64 `json:"seconds_by_rank"`
	waits      bool
	collective bool
}

type windowSummary struct {
	Name     string         `json:"name"`
	Leader   int            `json:"leader"` // the first member's rank in MPI_COMM_WORLD of its job; -1 if unknown
	Job      int            `json:"leader_job,omitempty"`
	Members  int            `json:"members"`
	Ordinal  int            `json:"ordinal"` // index among the windows of equal leader and member count
	Uses     map[string]use `json:"uses"`
	isOthers bool
}

// accessSummary holds the sums of the blocking and split collective calls that read files, or of those that write.
type accessSummary struct {
	Kind string `json:"kind"` // read or write
	use
	Bandwidth float64 `json:"bytes_per_second"` // bytes, divided by the longest time of a rank in these calls
}

// fileAccesses sums the calls that read files and those that write files. It omits nonblocking calls, because the
// program waits for their data in other calls.
func fileAccesses(functions []functionSummary, ranks int) (all []accessSummary) {
	for _, kind := range []string{"read", "write"} {
		a, seconds := accessSummary{Kind: kind}, make([]float64, ranks)
		for _, f := range functions {
			if f.Calls == 0 || !strings.HasPrefix(f.Name, "MPI_File_"+kind) {
				continue
			}
			if !strings.HasSuffix(f.Name, "_end") { // a split collective is one access
				a.Calls += f.Calls
			}
			a.Bytes += f.Bytes
			a.Seconds += f.Seconds
			for i, t := range f.ByRank {
				seconds[i] += t
			}
		}
		if a.Calls > 0 {
			a.Bandwidth = float64(a.Bytes) / max(slices.Max(seconds), 1e-9)
			all = append(all, a)
		}
	}
	return all
}

// summarize evaluates the counters of the ranks of all jobs. now is the end time of ranks that did not call
// MPI_Finalize.
func summarize(m *insight.Memory, jobs insight.Jobs, now time.Duration) *summary {
	s := &summary{}
	functions := make([]functionSummary, len(abi.Functions()))
	for i, f := range abi.Functions() {
		functions[i] = functionSummary{Name: f.Name, ByRank: make([]float64, m.Ranks()),
			waits: insight.MayWait(f), collective: insight.IsCollective(f)}
	}
	var all, mpi float64
	for i := range m.Ranks() {
		part := m.Rank(i)
		if part.Pid() == 0 {
			continue
		}
		from, to := part.RunTimes()
		r := rankSummary{part: i, Pid: part.Pid(), Threads: part.Threads(), Uncounted: part.UncountedThreads(),
			Others: part.RejectedProcesses(), Finalized: to != 0}
		r.Job, r.Rank = jobs.Of(i)
		if to == 0 {
			to = now
		}
		r.Seconds = (to - from).Seconds()
		for k, c := range m.Counts(i) {
			functions[k].add(c)
			functions[k].ByRank[i] = c.Time.Seconds()
			r.Mpi += c.Time.Seconds()
			if functions[k].waits {
				r.Waiting += c.Time.Seconds()
			}
		}
		s.Seconds = max(s.Seconds, r.Seconds)
		all += r.Seconds
		mpi += r.Mpi
		s.Ranks = append(s.Ranks, r)
		s.addWindows(m.Windows(i), jobs)
		s.Files.add(part.FileCounts())
	}
	if all > 0 {
		s.Mpi = mpi / all
	}
	for _, f := range functions {
		if f.Calls > 0 {
			f.Share = f.Seconds / max(all, 1e-9)
			s.Functions = append(s.Functions, f)
		}
	}
	s.Accesses = fileAccesses(s.Functions, m.Ranks())
	slices.SortStableFunc(s.Functions, func(a, b functionSummary) int { return cmp.Compare(b.Seconds, a.Seconds) })
	s.Imbalance = s.imbalance()
	s.Costs = s.costs()
	return s
}

// addWindows adds a rank's counters for its windows to s.Windows, which holds the sums over all ranks. A window is the
// same at two ranks if leader, number of members and ordinal are equal.
func (s *summary) addWindows(windows []insight.Window, jobs insight.Jobs) {
	for _, w := range windows {
		job, leader := jobs.Of(w.FirstRank)
		at := slices.IndexFunc(s.Windows, func(k windowSummary) bool {
			return k.Job == job && k.Leader == leader && k.Members == w.Members && k.Ordinal == w.Ordinal &&
				k.isOthers == w.IsOverflow
		})
		if at < 0 || w.FirstRank < 0 && !w.IsOverflow {
			at = len(s.Windows)
			s.Windows = append(s.Windows, windowSummary{Job: job, Leader: leader, Members: w.Members,
				Ordinal: w.Ordinal, Uses: map[string]use{}, isOthers: w.IsOverflow})
		}
		k := &s.Windows[at]
		if k.Name = cmp.Or(k.Name, w.Name); w.IsOverflow {
			k.Name = "others"
		}
		for u, c := range w.Uses {
			if c.Calls > 0 {
				name := insight.Use(u).String()
				sum := k.Uses[name]
				sum.add(c)
				if w.HasPaths && u < len(w.Paths) {
					sum.Paths.add(w.Paths[u])
				}
				k.Uses[name] = sum
			}
		}
	}
}

// outside returns the time that a rank spent outside of MPI: its run time, minus the average time that its threads
// spent in MPI.
func (r *rankSummary) outside() float64 { return max(r.Seconds-r.Mpi/float64(max(r.Threads, 1)), 0) }

// imbalance returns (max - mean) / max of the ranks' times outside of MPI.
func (s *summary) imbalance() float64 {
	most, sum := 0.0, 0.0
	for i := range s.Ranks {
		most = max(most, s.Ranks[i].outside())
		sum += s.Ranks[i].outside()
	}
	if most == 0 {
		return 0
	}
	return (most - sum/float64(len(s.Ranks))) / most
}

// costs returns a text on each of the three functions that took the most time. The text names the rank that spent the
// largest share of its run time in the function, and compares it with the other ranks of its job.
func (s *summary) costs() (lines []string) {
	for _, f := range s.Functions[:min(3, len(s.Functions))] {
		most, least := 0, 0 // indices into s.Ranks
		share := func(i int) float64 { return 100 * f.ByRank[s.Ranks[i].part] / max(s.Ranks[i].Seconds, 1e-9) }
		for i := range s.Ranks {
			if share(i) > share(most) {
				most = i
			}
		}
		if share(most) < 0.05 {
			continue
		}
		others := 0 // number of other ranks of the job
		least = most
		for i := range s.Ranks {
			if i == most || s.Ranks[i].Job != s.Ranks[most].Job {
				continue
			}
			others++
			if share(i) < share(least) {
				least = i
			}
		}
		did, where := "spent", s.window(f.Name)
		if f.waits {
			did = "waited"
		}
		in := " of the run in " + f.Name + where
		line := fmt.Sprintf("%s %s %.3g %%%s", s.Ranks[most].name(), did, share(most), in)
		switch {
		case others == 0:
		case share(least) > 0.8*share(most):
			line = fmt.Sprintf("%s %s %.3g to %.3g %%%s", s.ranksOfJob(s.Ranks[most].Job), did,
				share(least), share(most), in)
		case f.waits && f.collective:
			line += fmt.Sprintf(" for %s, which spent %.3g %% there", s.Ranks[least].name(), share(least))
		default:
			line += fmt.Sprintf("; %s %s %.3g %%", s.Ranks[least].name(), did, share(least))
		}
		lines = append(lines, line)
	}
	return lines
}

// ranksOfJob returns text that names the ranks of a job: "the ranks" if there is only one job.
func (s *summary) ranksOfJob(job int) string {
	if s.Ranks[len(s.Ranks)-1].Job == 0 {
		return "the ranks"
	}
	return fmt.Sprintf("the ranks of job %d", job)
}

// window returns text that names the window with at least 90 % of a function's time. It returns "" if there is no such
// window, the function uses no window, or the job has only one window.
func (s *summary) window(function string) string {
	u, ok := insight.UseOf(abi.FunctionByName(function))
	if !ok || !u.MayWait() || len(s.Windows) < 2 {
		return ""
	}
	all, most, name := 0.0, 0.0, ""
	for i := range s.Windows {
		t := s.Windows[i].Uses[u.String()].Seconds
		all += t
		if t > most {
			most, name = t, s.Windows[i].title()
		}
	}
	if most < 0.9*all || name == "" {
		return ""
	}
	return " of " + name
}

// title returns the name of a window in messages.
func (w *windowSummary) title() string {
	switch {
	case w.isOthers:
		return "all other windows"
	case w.Name != "":
		return fmt.Sprintf("window '%s'", w.Name)
	case w.Leader < 0:
		return fmt.Sprintf("window %d", w.Ordinal)
	}
	title := fmt.Sprintf("window %d of %s", w.Ordinal, insight.RankName(w.Job, w.Leader))
	if others := w.Members - 1; others > 0 {
		title += fmt.Sprintf(" + %d %s", others, plural(others, "rank"))
	}
	return title
}
