package report

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gompirma/cmd/internal/trace"
)

// facts holds the exact numbers that the page shows. The page's scripts only draw these numbers.
type facts struct {
	Source     string `json:"source"` // the file's name
	Command    string `json:"command"`
	Producer   string `json:"producer"`
	Started    string `json:"started"`
	Exit       int    `json:"exit"`
	Ranks      int    `json:"ranks"`
	Jobs       []int  `json:"jobs,omitempty"` // the first rank of each job, if ranks have started jobs
	Nodes      int    `json:"nodes"`          // 0 if unknown
	Start      int64  `json:"start"`          // ns
	End        int64  `json:"end"`
	Events     int    `json:"events"`
	Arrows     int    `json:"arrows"`
	HalfArrows int    `json:"halves"`
	Ignored    int    `json:"ignored"`
	Cut        bool   `json:"cut"`
	HasJob     bool   `json:"hasJob"`
	Dropped    int64  `json:"dropped"`
	DroppedBy  int    `json:"droppedBy"` // number of ranks that dropped records

	Words         []string         `json:"words"`
	Kinds         []string         `json:"kinds"`
	Names         []string         `json:"names"`
	NameKinds     []int            `json:"nameKinds"`
	Comms         []string         `json:"comms"`
	Lanes         []laneFacts      `json:"lanes"`
	Calls         []callFacts      `json:"calls"`
	OneSided      pairs            `json:"oneSided"`
	Messages      pairs            `json:"messages"`
	Waits         []waitFacts      `json:"waits"`
	WaitsLeft     int              `json:"waitsLeft"` // number of entries that Waits omits
	WaitTime      int64            `json:"waitTime"`  // total time of all waits, in ns
	WaitPairs     pairs            `json:"waitPairs"` // all waits; Bytes holds ns, To is the awaited rank or -1
	Windows       []windowFacts    `json:"windows"`   // by window number; number 0 is an unknown window
	Checked       bool             `json:"checked"`
	Conflicts     []trace.Conflict `json:"conflicts"`
	ConflictsLeft int              `json:"moreConflicts"`
}

// laneFacts describes a row of the timeline.
type laneFacts struct {
	Rank   int     `json:"rank"`
	Thread int     `json:"thread"`
	Name   string  `json:"name"`
	Host   string  `json:"host"`
	Events int     `json:"events"`
	Time   []int64 `json:"time"` // time in ns, by kind of call (Kinds)
}

// callFacts holds the sums over all calls of a function.
type callFacts struct {
	Name   string `json:"name"`
	Kind   int    `json:"kind"`
	Count  int64  `json:"count"`
	Bytes  int64  `json:"bytes"`
	Time   int64  `json:"time"`
	Max    int64  `json:"max"`
	Waited int64  `json:"waited"`
}

// pairs holds sums by pairs of ranks; pairs without events are omitted.
type pairs struct {
	From  []int   `json:"from"`
	To    []int   `json:"to"`
	Count []int64 `json:"count"`
	Bytes []int64 `json:"bytes"`
}

// waitFacts holds the sums over the waits in which a rank waited in a function for another rank.
type waitFacts struct {
	Rank  int    `json:"rank"`
	Call  string `json:"call"`
	For   int    `json:"for"` // the rank that was waited for; trace.None if unknown
	Count int64  `json:"count"`
	Time  int64  `json:"time"`
	Max   int64  `json:"max"`
	Lane  int    `json:"lane"` // row of the longest wait
	At    int64  `json:"at"`
}

// windowFacts holds the heat map of a window: the number of accesses to each of several ranges of equal size.
type windowFacts struct {
	Name     string   `json:"name"`
	Dynamic  bool     `json:"dynamic"`
	Sizes    []int64  `json:"sizes"` // sizes by rank; empty if unknown
	From     int64    `json:"from"`  // offset at which the first range begins, in bytes
	Range    int64    `json:"range"` // size of a range in bytes, a power of two
	Ranges   int      `json:"ranges"`
	Base     []string `json:"base"`   // for a dynamic window, by rank: the address at which offset 0 lies
	Number   []int64  `json:"number"` // number of operations by type: put, get, update
	Bytes    []int64  `json:"bytes"`
	Unplaced int64    `json:"unplaced"` // number of accesses whose offset is unknown; these are not in Heat
	Heat     heat     `json:"heat"`
}

// heat lists the ranges that were accessed.
type heat struct {
	Target []int   `json:"target"`
	Range  []int   `json:"range"`
	Access []int   `json:"way"`
	Count  []int64 `json:"count"`
	Bytes  []int64 `json:"bytes"`
}

const (
	accessKinds  = 3
	maxRanges    = 256  // maximum number of ranges of a window
	maxWaits     = 2000 // maximum number of entries of facts.Waits
	maxConflicts = 200  // maximum number of entries of facts.Conflicts
)

func (g *traceData) facts(source string) *facts {
	s := &g.sum
	f := &facts{Source: source, Command: s.Command, Producer: s.Producer, Started: s.Started, Exit: s.ExitStatus,
		Ranks: g.ranks, Jobs: s.Jobs, Nodes: len(s.Nodes), Start: g.start, End: g.end, Events: g.events,
		Arrows:     len(g.arrows),
		HalfArrows: g.halfArrows, Ignored: s.Ignored, Cut: s.Cut, HasJob: s.HasJob, Checked: s.Checked,
		Comms: g.comms.list, Names: []string{}, NameKinds: []int{}, Lanes: []laneFacts{}}
	for k := range trace.Kinds {
		f.Kinds = append(f.Kinds, k.String())
	}
	for _, n := range g.names.list {
		f.Names = append(f.Names, n.text)
		f.NameKinds = append(f.NameKinds, int(n.kind))
	}
	for _, n := range s.Dropped {
		if n > 0 {
			f.Dropped += n
			f.DroppedBy++
		}
	}
	f.Conflicts = s.Conflicts[:min(len(s.Conflicts), maxConflicts)]
	f.ConflictsLeft = len(s.Conflicts) - len(f.Conflicts)
	g.times(f)
	f.OneSided, f.Messages = g.matrices()
	g.heat(f)
	f.Words = words(f)
	f.WaitsLeft = max(len(f.Waits)-maxWaits, 0)
	f.Waits = f.Waits[:len(f.Waits)-f.WaitsLeft]
	return f
}

// times adds the times of all events to the sums of f: by function, by row of the timeline, and by cause of waiting.
func (g *traceData) times(f *facts) {
	type cause struct {
		rank, on int
		call     string
	}
	calls := map[int32]*callFacts{}
	waits := map[cause]*waitFacts{}
	between := map[[2]int]*sums{}
	for i, l := range g.lanes {
		facts := laneFacts{Rank: l.rank, Thread: l.thread, Name: l.name, Host: g.host(l.rank),
			Events: len(l.events), Time: make([]int64, trace.Kinds)}
		wait := func(call string, on int32, at, time int64) {
			c := cause{l.rank, int(on), call}
			w := waits[c]
			if w == nil {
				w = &waitFacts{Rank: l.rank, Call: call, For: int(on)}
				waits[c] = w
			}
			if w.Count == 0 || time > w.Max {
				w.Max, w.Lane, w.At = time, i, at
			}
			w.Count++
			w.Time += time
			f.WaitTime += time
			add(between, l.rank, int(on), time)
		}
		of := func(e *event) *callFacts {
			c := calls[e.name]
			if c == nil {
				n := g.name(e)
				c = &callFacts{Name: n.text, Kind: int(n.kind)}
				calls[e.name] = c
			}
			return c
		}
		g.walk(l, func(e, within *event, own int64) {
			n := g.name(e)
			facts.Time[n.kind] += own
			if n.kind == trace.Wait {
				call := n.text
				if within != nil {
					call = g.name(within).text
					of(within).Waited += e.dur
				}
				wait(call, e.waitedOn, e.start, e.dur)
				return
			}
			c := of(e)
			c.Count++
			c.Bytes += e.bytes
			c.Time += e.dur
			c.Max = max(c.Max, e.dur)
			if e.waited > 0 {
				facts.Time[trace.Wait] += e.waited
				c.Waited += e.waited
				wait(n.text, e.waitedOn, e.start, e.waited)
			}
		})
		f.Lanes = append(f.Lanes, facts)
	}
	f.Calls = []callFacts{}
	for _, c := range calls {
		f.Calls = append(f.Calls, *c)
	}
	slices.SortFunc(f.Calls, func(a, b callFacts) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	f.Waits = []waitFacts{}
	for _, w := range waits {
		f.Waits = append(f.Waits, *w)
	}
	slices.SortFunc(f.Waits, func(a, b waitFacts) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Call, b.Call),
			cmp.Compare(a.For, b.For))
	})
	f.WaitPairs = listed(between)
}

// sums holds the number of events between two ranks, and their bytes.
type sums struct{ count, bytes int64 }

func add(to map[[2]int]*sums, from, at int, bytes int64) {
	s := to[[2]int{from, at}]
	if s == nil {
		s = &sums{}
		to[[2]int{from, at}] = s
	}
	s.count++
	s.bytes += bytes
}

func listed(of map[[2]int]*sums) pairs {
	keys := make([][2]int, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	p := pairs{[]int{}, []int{}, []int64{}, []int64{}}
	for _, k := range keys {
		p.From, p.To = append(p.From, k[0]), append(p.To, k[1])
		p.Count, p.Bytes = append(p.Count, of[k].count), append(p.Bytes, of[k].bytes)
	}
	return p
}

// matrices sums up operations by origin and target, and messages by sender and receiver. It counts a message at its
// sender.
func (g *traceData) matrices() (oneSided, messages pairs) {
	operations, sent := map[[2]int]*sums{}, map[[2]int]*sums{}
	for _, l := range g.lanes {
		for i := range l.events {
			switch e := &l.events[i]; {
			case g.name(e).kind == trace.RMA && e.target >= 0:
				add(operations, l.rank, int(e.target), e.bytes)
			case g.name(e).kind == trace.Message && e.dest >= 0:
				add(sent, l.rank, int(e.dest), e.bytes)
			}
		}
	}
	return listed(operations), listed(sent)
}

// accessKind returns the type of access of an operation to the target's memory.
func accessKind(call string) int {
	switch strings.TrimPrefix(strings.ToLower(call), "mpi_") {
	case "put", "rput", "put_c", "rput_c":
		return 0
	case "get", "rget", "get_c", "rget_c":
		return 1
	}
	return 2
}

// heat counts, for each window, the accesses to ranges of bytes. The ranges cover all accesses.
func (g *traceData) heat(f *facts) {
	known := map[string]*trace.Window{}
	for i := range g.sum.Windows {
		g.windows.indexOf(g.sum.Windows[i].Name) // includes windows without accesses
		known[g.sum.Windows[i].Name] = &g.sum.Windows[i]
	}
	f.Windows = make([]windowFacts, len(g.windows.list))
	to := make([]int64, len(f.Windows)) // end of the last access
	base := make([]map[int32]int64, len(f.Windows))
	each := func(do func(w int, e *event)) {
		for _, l := range g.lanes {
			for i := range l.events {
				if e := &l.events[i]; g.name(e).kind == trace.RMA && e.target >= 0 {
					do(int(e.window), e)
				}
			}
		}
	}
	for i, name := range g.windows.list {
		w := &f.Windows[i]
		w.Name, w.Sizes = name, []int64{}
		if k := known[name]; k != nil {
			w.Dynamic, w.Sizes = k.Dynamic, append(w.Sizes, k.Sizes...)
		}
		w.Number, w.Bytes = make([]int64, accessKinds), make([]int64, accessKinds)
		w.From, base[i] = -1, map[int32]int64{}
	}
	// Sets the base of the offsets: 0, or in a dynamic window the lowest accessed address
	each(func(w int, e *event) {
		if b, found := base[w][e.target]; e.disp >= 0 && f.Windows[w].Dynamic && (!found || e.disp < b) {
			base[w][e.target] = e.disp &^ 63
		}
	})
	at := func(w int, e *event) int64 { return e.disp - base[w][e.target] }
	each(func(w int, e *event) {
		how := accessKind(g.name(e).text)
		f.Windows[w].Number[how]++
		f.Windows[w].Bytes[how] += e.bytes
		if e.disp < 0 {
			f.Windows[w].Unplaced++
			return
		}
		from := at(w, e)
		if f.Windows[w].From < 0 || from < f.Windows[w].From {
			f.Windows[w].From = from
		}
		to[w] = max(to[w], from+max(e.span, 1))
	})
	for i := range f.Windows {
		w := &f.Windows[i]
		w.From = max(w.From, 0)
		w.Range = 1
		for w.From/w.Range*w.Range+maxRanges*w.Range < to[i] {
			w.Range *= 2
		}
		w.From = w.From / w.Range * w.Range
		w.Ranges = int((to[i] - w.From + w.Range - 1) / w.Range)
		if w.Dynamic {
			for rank := range g.ranks {
				w.Base = append(w.Base, fmt.Sprintf("%#x", base[i][int32(rank)]))
			}
		}
	}
	type spot struct{ window, target, rng, way int32 }
	spots := map[spot]*sums{}
	each(func(w int, e *event) {
		if e.disp < 0 {
			return
		}
		facts := &f.Windows[w]
		from := at(w, e) - facts.From
		span := max(e.span, 1)
		for r := from / facts.Range; r*facts.Range < from+span; r++ {
			key := spot{int32(w), e.target, int32(r), int32(accessKind(g.name(e).text))}
			s := spots[key]
			if s == nil {
				s = &sums{}
				spots[key] = s
			}
			s.count++
			// The bytes of this range are the bytes before its end minus the bytes before its begin. Both
			// numbers are rounded down, and the next range subtracts the number that this range adds. Thus
			// the bytes of all ranges add up to e.bytes.
			low, high := max(r*facts.Range-from, 0), min((r+1)*facts.Range-from, span)
			s.bytes += mulDiv(e.bytes, high, span) - mulDiv(e.bytes, low, span)
		}
	})
	keys := make([]spot, 0, len(spots))
	for k := range spots {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.target, b.target), cmp.Compare(a.rng,
			b.rng),
			cmp.Compare(a.way, b.way))
	})
	for _, k := range keys {
		h := &f.Windows[k.window].Heat
		h.Target, h.Range, h.Access = append(h.Target, int(k.target)), append(h.Range, int(k.rng)),
			append(h.Access,
				int(k.way))
		h.Count, h.Bytes = append(h.Count, spots[k].count), append(h.Bytes, spots[k].bytes)
	}
}

// mulDiv returns `bytes` * `part` / `whole`, without overflow.
func mulDiv(bytes, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(part))
	n, _ := bits.Div64(high, low, uint64(whole))
	return int64(n)
}

// host returns the host of a rank; "" if unknown.
func (g *traceData) host(rank int) string {
	s := &g.sum
	if rank < len(s.NodeOf) && s.NodeOf[rank] >= 0 && s.NodeOf[rank] < len(s.Nodes) {
		return s.Nodes[s.NodeOf[rank]]
	}
	_, host, _ := strings.Cut(g.process[rank], " on host ")
	return host
}

// words returns a few sentences on the functions and ranks with the highest costs.
func words(f *facts) []string {
	words := []string{}
	run := f.End - f.Start
	if run <= 0 {
		return words
	}
	type cost struct {
		call  string
		ranks map[int]bool
		on    map[int]int64 // time of the waits for each rank
		time  int64
	}
	of := map[string]*cost{}
	var costs []*cost
	for _, w := range f.Waits {
		c := of[w.Call]
		if c == nil {
			c = &cost{call: w.Call, ranks: map[int]bool{}, on: map[int]int64{}}
			of[w.Call] = c
			costs = append(costs, c)
		}
		c.ranks[w.Rank] = true
		c.on[w.For] += w.Time
		c.time += w.Time
	}
	slices.SortFunc(costs, func(a, b *cost) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.call,
			b.call))
	})
	for _, c := range costs {
		n := int64(len(c.ranks))
		if len(words) == 3 || c.time*1000 < run*n {
			break
		}
		text := fmt.Sprintf("%d ranks waited on average %s of the run in %s", n, percent(c.time, run*n),
			c.call)
		if n == 1 {
			for rank := range c.ranks {
				text = fmt.Sprintf("Rank %d waited %s of the run in %s", rank, percent(c.time, run),
					c.call)
			}
		}
		most := trace.None
		for on, time := range c.on {
			if on >= 0 && (most < 0 || time > c.on[most] || time == c.on[most] && on < most) {
				most = on
			}
		}
		switch {
		case most < 0:
		case len(c.on) == 1:
			text += fmt.Sprintf(" for rank %d", most)
		default:
			text += fmt.Sprintf(", %s of this time for rank %d", percent(c.on[most], c.time), most)
		}
		words = append(words, text+".")
	}
	return append(words, imbalance(f, run)...)
}

func percent(part, whole int64) string {
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}

// imbalance returns a sentence on the rank with the longest time outside of MPI, if that time exceeds the mean of all
// ranks by more than a tenth.
func imbalance(f *facts, run int64) []string {
	var sum, longest int64
	rank, n := 0, int64(0)
	for _, l := range f.Lanes {
		if l.Events == 0 || l.Thread != 0 {
			continue
		}
		outside := run
		for _, t := range l.Time {
			outside -= t
		}
		n++
		sum += outside
		if outside > longest {
			longest, rank = outside, l.Rank
		}
	}
	if n < 2 || sum <= 0 || longest*10*n < 11*sum {
		return nil
	}
	return []string{fmt.Sprintf("Rank %d was outside of MPI for %s of the run; the average of all ranks is "+
		"%s.", rank,
		percent(longest, run), percent(sum, n*run))}
}
