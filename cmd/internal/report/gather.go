package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gompirma/cmd/internal/trace"
)

// lane is a thread of a rank: a row of the timeline.
type lane struct {
	rank, thread int
	name         string // name of the thread; "" if none
	events       []event
}

// event is a compact form of trace.Event, with indices into tables instead of texts.
type event struct {
	start, dur                          int64
	bytes, disp, span, waited           int64
	name                                int32 // index into traceData.names; the entry also holds the kind
	target, dest, source, tag, waitedOn int32
	comm, window                        int32 // 0 if none
}

// name is the name of a call, with its kind.
type name struct {
	text string
	kind trace.Kind
}

type arrowEnd struct {
	lane  int32
	known bool
	time  int64
}

// arrow connects two calls.
type arrow struct{ from, to arrowEnd }

// table assigns consecutive numbers to distinct values.
type table[T comparable] struct {
	list   []T
	number map[T]int32
}

func (t *table[T]) indexOf(v T) int32 {
	n, ok := t.number[v]
	if !ok {
		if t.number == nil {
			t.number = map[T]int32{}
		}
		n = int32(len(t.list))
		t.number[v] = n
		t.list = append(t.list, v)
	}
	return n
}

// traceData holds the content of a trace file. It implements trace.Sink, through which the reader fills it.
type traceData struct {
	sum        trace.Summary
	lanes      []*lane
	laneOf     map[[2]int]int32
	names      table[name]
	comms      table[string]
	windows    table[string]
	process    map[int]string
	flows      map[string]*arrow
	arrows     []arrow // arrows with both ends, sorted by their begin
	halfArrows int     // number of arrows with only one end in the file
	ranks      int
	start      int64 // time of the first event
	end        int64
	events     int
}

// maxEvents is the largest number of events; each takes about a hundred bytes.
const maxEvents = 50_000_000

func newGathered() *traceData {
	g := &traceData{laneOf: map[[2]int]int32{}, process: map[int]string{}, flows: map[string]*arrow{},
		start: math.MaxInt64, end: math.MinInt64}
	g.comms.indexOf("")
	g.windows.indexOf("")
	return g
}

func (g *traceData) lane(rank, thread int) int32 {
	key := [2]int{rank, thread}
	n, ok := g.laneOf[key]
	if !ok {
		g.ranks = max(g.ranks, rank+1)
		n = int32(len(g.lanes))
		g.laneOf[key] = n
		g.lanes = append(g.lanes, &lane{rank: rank, thread: thread})
	}
	return n
}

func (g *traceData) Event(e *trace.Event) error {
	if g.events == maxEvents {
		return fmt.Errorf("the trace has more than %d events", maxEvents)
	}
	g.events++
	g.start, g.end = min(g.start, e.Start), max(g.end, e.Start+e.Dur)
	for _, rank := range []int{e.Rank, e.Target, e.Dest, e.Source, e.For} {
		g.ranks = max(g.ranks, rank+1)
	}
	l := g.lanes[g.lane(e.Rank, e.Thread)]
	l.events = append(l.events, event{start: e.Start, dur: e.Dur, bytes: e.Bytes, disp: e.Disp,
		span: max(e.Span, e.Bytes), waited: e.Waited, name: g.names.indexOf(name{e.Name, e.Kind}),
		target: int32(e.Target), dest: int32(e.Dest), source: int32(e.Source), tag: int32(e.Tag),
		waitedOn: int32(e.For), comm: g.comms.indexOf(e.Comm), window: g.windows.indexOf(e.Window)})
	return nil
}

func (g *traceData) Flow(id string, f trace.Flow) {
	a := g.flows[id]
	if a == nil {
		a = &arrow{}
		g.flows[id] = a
	}
	p := arrowEnd{g.lane(f.Rank, f.Thread), true, f.Time}
	if f.End {
		a.to = p
	} else {
		a.from = p
	}
	if a.from.known && a.to.known {
		g.arrows = append(g.arrows, *a)
		delete(g.flows, id) // the id may be reused
	}
}

func (g *traceData) Process(rank int, text string) {
	g.process[rank] = text
	g.ranks = max(g.ranks, rank+1)
}

func (g *traceData) Thread(rank, thread int, text string) { g.lanes[g.lane(rank, thread)].name = text }

func (g *traceData) name(e *event) name { return g.names.list[e.name] }

// finish sorts the events and arrows.
func (g *traceData) finish(sum trace.Summary) {
	g.sum = sum
	g.ranks = max(g.ranks, sum.Ranks)
	g.halfArrows = len(g.flows)
	g.flows = nil
	if g.events == 0 {
		g.start, g.end = 0, 0
	}
	has := make([]bool, g.ranks)
	for _, l := range g.lanes {
		has[l.rank] = true
	}
	for rank := range g.ranks { // each rank has a row, even without calls
		if !has[rank] {
			g.lane(rank, 0)
		}
	}
	old := slices.Clone(g.lanes)
	slices.SortStableFunc(g.lanes, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.thread, b.thread))
	})
	now := map[*lane]int32{}
	for i, l := range g.lanes {
		now[l] = int32(i)
		slices.SortStableFunc(l.events, func(a, b event) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur),
				cmp.Compare(g.name(&a).kind/trace.Wait, g.name(&b).kind/trace.Wait))
		})
	}
	for i := range g.arrows {
		a := &g.arrows[i]
		a.from.lane, a.to.lane = now[old[a.from.lane]], now[old[a.to.lane]]
	}
	slices.SortStableFunc(g.arrows, func(a, b arrow) int { return cmp.Compare(a.from.time, b.from.time) })
	g.laneOf = nil
}

// walk calls the function `do` for each event e of a lane. The argument `within` of `do` is the event that contains e,
// or nil. The argument `own` is e's duration without the time of events inside e and without the known waiting time.
func (g *traceData) walk(l *lane, do func(e, within *event, own int64)) {
	type open struct {
		e   *event
		own int64
	}
	var stack []open
	pop := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		var within *event
		if len(stack) > 0 {
			within = stack[len(stack)-1].e
		}
		do(top.e, within, max(top.own, 0))
	}
	for i := range l.events {
		e := &l.events[i]
		for len(stack) > 0 && stack[len(stack)-1].e.start+stack[len(stack)-1].e.dur <= e.start {
			top := stack[len(stack)-1].e
			// e is a wait within top, a call of 0 ns that begins at the same time
			if top.start == e.start && g.name(e).kind == trace.Wait {
				break
			}
			pop()
		}
		// In a faulty file, an event may end after the enclosing event. In this case, only the time up to the
		// end of the enclosing event is subtracted.
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			top.own -= min(e.dur, top.e.start+top.e.dur-e.start)
		}
		stack = append(stack, open{e, e.dur - e.waited})
	}
	for len(stack) > 0 {
		pop()
	}
}
