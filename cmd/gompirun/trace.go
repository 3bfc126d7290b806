package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"gompirma/cmd/internal/trace"
	"gompirma/core/abi"
	"gompirma/core/insight"
	"gompirma/core/insight/check"
	"gompirma/core/version"
)

// traceListener implements --trace: it writes every call to a trace file while the job runs.
type traceListener struct {
	path    string
	drops   bool // drop records if the ring is full
	job     *job
	file    *os.File
	to      *trace.Writer
	flushed time.Duration
	model   *check.Checker
	order   insight.Sorter

	began   time.Duration // start of the job, as CLOCK_MONOTONIC
	started time.Time     // start of the job, as date and time
	kinds   []trace.Kind  // kind of event for each function, by index in abi.Functions
	threads map[[2]int]bool
	windows map[*check.Window]*tracedWindow
	byAge   []*tracedWindow
	comms   map[*check.Comm]string
	nodes   []string        // names of the nodes
	nodeOf  []int           // numbers of the nodes of the ranks
	used    map[string]bool // names already given to windows and communicators
	arrows  uint64
}

// tracedWindow is a window with its name in the file. The program may name the window only after its creation.
// Therefore the events of calls that isWindowSetup accepts are held back. The first other call on the window fixes the
// name.
type tracedWindow struct {
	*check.Window
	name string
	held []trace.Event
}

func (l *traceListener) option() string { return "--trace" }

// mode returns the mode in which ranks wait for space for a record, unless the user wants full rings to drop records.
func (l *traceListener) mode() insight.Mode {
	if l.drops {
		return insight.Records | insight.Entries
	}
	return insight.Records | insight.Entries | insight.WaitForSpace
}

func (l *traceListener) begin(j *job) (err error) {
	l.job = j
	if l.file, err = os.Create(l.path); err != nil {
		return fmt.Errorf("--trace %s: %w", l.path, withoutPath(err))
	}
	l.began, l.started = monotonic(), time.Now()
	l.to = trace.NewWriter(l.file)
	l.threads, l.used = map[[2]int]bool{}, map[string]bool{}
	l.windows, l.comms = map[*check.Window]*tracedWindow{}, map[*check.Comm]string{}
	for _, f := range abi.Functions() {
		l.kinds = append(l.kinds, kindOfCall(f))
	}
	for i := range j.nodes {
		l.nodes = append(l.nodes, l.nodeName(i, j.nodes[i].host))
	}
	for i := range j.ranks {
		l.addRank(i, j.nodeOf(i).number)
	}
	l.model = check.Follow(len(j.ranks), l.returned)
	memory := j.observation.memory
	l.order.Pause = memory.ReadOneEach
	l.order.Use = func(rank int, r *insight.Record) {
		if memory.Rank(rank).HasEssentialLoss() {
			l.model.RecordsLost()
		}
		l.model.Record(rank, r)
	}
	return l.to.Flush()
}

func (l *traceListener) added(s *startedJob) {
	l.model.AddJob(s.size)
	for s.node >= len(l.nodes) {
		l.nodes = append(l.nodes, l.nodeName(len(l.nodes), ""))
	}
	for i := range s.size {
		l.addRank(s.part+i, s.node)
	}
}

// addRank writes the name of a rank.
func (l *traceListener) addRank(rank, node int) {
	l.nodeOf = append(l.nodeOf, node)
	l.to.Process(rank, l.job.observation.known().Name(rank), l.nodes[node])
}

// nodeName returns the name of a node: the host's name, with a number for each simulated node. The argument `host` is
// "" for this host.
func (l *traceListener) nodeName(number int, host string) string {
	if host != "" {
		return host
	}
	host, _ = os.Hostname()
	if len(l.job.nodes) > 1 {
		host = fmt.Sprintf("%s, node %d", host, number)
	}
	return host
}

func (l *traceListener) record(rank int, words []uint64) error {
	l.order.Add(rank, words)
	return nil
}

// advanced writes the calls up to the time `until`. It flushes the file every 100 ms, so that little is lost if
// gompirun is killed.
func (l *traceListener) advanced(until time.Duration) {
	l.order.Until(until)
	if now := monotonic(); now-l.flushed > 100*time.Millisecond {
		l.flushed = now
		_ = l.to.Flush() // Close returns the error
	}
}

// returned writes the event of a call that has returned. At the end of the job it also writes the calls that have not
// returned.
func (l *traceListener) returned(c *check.Call) {
	end := c.End
	if c.Entry { // the call has not returned
		end = monotonic()
	}
	if key := [2]int{c.Rank, c.Thread}; !l.threads[key] {
		l.threads[key] = true
		l.to.Thread(c.Rank, c.Thread, fmt.Sprintf("thread %d", c.Thread))
	}
	e := trace.NewEvent(l.kinds[c.Number], c.Function.Name, c.Rank, c.Thread, int64(c.Start-l.began),
		int64(end-c.Start))
	e.Target, e.Dest, e.Source, e.Tag, e.Bytes = c.Target, c.Dest, c.Source, c.Tag, c.Bytes
	e.Disp, e.Span, e.Waited, e.For = c.Disp, c.Span, int64(c.Waited), c.WaitedFor
	if c.Comm != nil {
		e.Comm = l.comm(c.Comm)
	}
	for _, s := range c.Senders {
		l.arrows++
		l.to.Flow(trace.Flow{ID: l.arrows, Rank: s.Rank, Thread: s.Thread, Time: int64(s.Start-l.began) + 1})
		l.to.Flow(trace.Flow{ID: l.arrows, End: true, Rank: c.Rank, Thread: c.Thread,
			Time: int64(max(c.Start, end-1) - l.began)})
	}
	if c.Window == nil {
		l.to.Event(e)
		return
	}
	w := l.windows[c.Window]
	if w == nil {
		w = &tracedWindow{Window: c.Window}
		l.windows[c.Window] = w
		l.byAge = append(l.byAge, w)
	}
	if w.name == "" {
		w.held = append(w.held, e)
		if !isWindowSetup(c.Function) {
			l.fixName(w)
		}
		return
	}
	e.Window = w.name
	l.to.Event(e)
}

// fixName fixes the name of a window and writes the window's events that were held back.
func (l *traceListener) fixName(w *tracedWindow) {
	w.name = l.unique(cmp.Or(w.Label(), fmt.Sprintf("window %d", w.Number())))
	for _, e := range w.held {
		e.Window = w.name
		l.to.Event(e)
	}
	w.held = nil
}

func (l *traceListener) comm(m *check.Comm) string {
	name, is := l.comms[m]
	if !is {
		if name = m.Label(); m.Number() > 0 { // predefined communicators have number 0
			name = l.unique(cmp.Or(name, fmt.Sprintf("communicator %d", m.Number())))
		}
		l.comms[m] = name
	}
	return name
}

// unique returns `name`, with a number appended if another object already has this name.
func (l *traceListener) unique(name string) string {
	base := name
	for n := 2; l.used[name]; n++ {
		name = fmt.Sprintf("%s %d", base, n)
	}
	l.used[name] = true
	return name
}

// isWindowSetup reports whether f creates a window, sets or reads its name, or sets its error handler.
func isWindowSetup(f *abi.Function) bool {
	name := strings.TrimSuffix(f.Name, "_c")
	return strings.HasPrefix(name, "MPI_Win_create") || strings.HasPrefix(name, "MPI_Win_allocate") ||
		name == "MPI_Win_set_name" || name == "MPI_Win_get_name" || name == "MPI_Win_set_errhandler"
}

func kindOfCall(f *abi.Function) trace.Kind {
	const pointToPoint, partitioned, collectives, topologies = 3, 4, 6, 8
	name := strings.TrimPrefix(strings.TrimSuffix(f.Name, "_c"), "MPI_")
	has := func(words ...string) bool {
		return slices.ContainsFunc(f.Params,
			func(p *abi.Param) bool { return slices.Contains(words, p.Name) })
	}
	use, uses := insight.UseOf(f)
	switch {
	case uses && !use.MayWait(), name == "Rput", name == "Rget":
		return trace.RMA
	case uses, has("win") && (insight.IsCollective(f) || name == "Win_test" || name == "Win_sync" ||
		name == "Win_attach" || name == "Win_detach"):
		return trace.Sync
	case f.Chapter == partitioned, f.Chapter == pointToPoint && !strings.Contains(name, "uffer") &&
		has("comm", "request", "array_of_requests", "message"):
		return trace.Message
	case has("comm") && (f.Chapter == collectives || insight.IsCollective(f)), f.Chapter == topologies &&
		strings.Contains(strings.ToLower(name), "neighbor_a"):
		return trace.Collective
	}
	return trace.Other
}

// abandon drops the remaining records.
func (l *traceListener) abandon() { l.order.Abandon() }

// end writes the calls that have not returned, and the summary of the job. The listener of --check has ended before.
func (l *traceListener) end() error {
	l.advanced(math.MaxInt64)
	memory := l.job.observation.memory
	l.model.OpenCalls(func(c *check.Call) {
		if !memory.Rank(c.Rank).HasEssentialLoss() { // if records are lost, the call may have returned
			l.returned(c)
		}
	})
	about := trace.Job{Producer: "gompirma " + version.String, Command: strings.Join(os.Args, " "),
		Started: l.started.Format(time.RFC3339), Ranks: memory.Ranks(), Nodes: l.nodes, NodeOf: l.nodeOf,
		Windows: []trace.Window{}, Conflicts: []trace.Conflict{}}
	if l.job.failure != nil {
		about.ExitStatus = l.job.failure.status
	}
	jobs := l.job.observation.known()
	if len(jobs) > 1 {
		about.Jobs = jobs
	}
	lost, losers := int64(0), []int(nil)
	for i := range memory.Ranks() {
		n := int64(memory.Rank(i).Dropped())
		about.Dropped = append(about.Dropped, n)
		if lost += n; n > 0 {
			losers = append(losers, i)
		}
	}
	for _, w := range l.byAge {
		if w.name == "" {
			l.fixName(w)
		}
		one := trace.Window{Name: w.name, Sizes: make([]int64, memory.Ranks()), Dynamic: w.Dynamic()}
		for i := range one.Sizes {
			one.Sizes[i] = trace.None
		}
		w.Sizes(func(rank int, size int64) { one.Sizes[rank] = size })
		about.Windows = append(about.Windows, one)
	}
	for _, other := range l.job.observation.listeners {
		if c, is := other.(*checkListener); is {
			about.Checked = true
			about.Conflicts = l.conflicts(c.checker.Findings())
		}
	}
	err := cmp.Or(l.to.Close(about), l.file.Close(), l.order.Err)
	if err != nil {
		return fmt.Errorf("--trace %s: %w", l.path, withoutPath(err))
	}
	if lost > 0 && !l.job.opts.quiet {
		why := "gompirun did not read them in time"
		if l.drops {
			why = fmt.Sprintf("the buffer of the rank was full: omit --trace=drop, so that ranks wait, "+
				"or set a larger %s (in bytes)", envRing)
		}
		l.job.out.stderr.printText(fmt.Sprintf("gompirun: --trace: the trace lacks %d %s of %s, because "+
			"%s\n", lost, plural(int(lost), "call"), namesOf(losers, jobs.Of), why), true)
	}
	return nil
}

// conflicts returns the findings of --check, races first.
func (l *traceListener) conflicts(findings []*check.Finding) []trace.Conflict {
	all := []trace.Conflict{}
	order := []string{"race", "buffer", "epoch", "freed"}
	rank := func(f *check.Finding) int {
		if i := slices.Index(order, f.Kind); i >= 0 {
			return i
		}
		return len(order)
	}
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b *check.Finding) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Times, a.Times))
	})
	for _, f := range findings {
		c := trace.Conflict{What: strings.Join(strings.Fields(f.Kind+" "+f.Name+" "+f.Object+" "+f.File), " "),
			Window: f.Window, Target: f.Owner, From: int64(f.First), To: int64(f.First + f.Bytes),
			Count: int64(f.Times), Advice: f.Advice, Accesses: []trace.Access{}}
		for _, w := range l.byAge {
			if f.Window != "" && w.UserName() == f.Window {
				c.Window = w.name
				break
			}
		}
		for _, p := range f.Places {
			c.Accesses = append(c.Accesses, trace.Access{Rank: p.Caller, Thread: p.Thread, Call: p.Call,
				File: p.Place.File, Line: p.Place.Line, Function: p.Place.Function, Epoch: p.Epoch})
		}
		all = append(all, c)
	}
	return all
}
