package check

import (
	"slices"
	"strings"

	"gompirma/core/abi"
)

// operation is an operation of an origin on a window.
type operation struct {
	window    *window
	origin    int
	target    int // rank in MPI_COMM_WORLD, like origin
	turn      int // number of its access epoch of MPI_Win_start; -1 for other epochs
	reads     bool
	start     vector    // clock that precedes its access at the target
	began     moment    // moment of the call
	there     *access   // access at the target; nil if it has no bytes
	here      []*access // accesses to the origin's buffers
	fetched   bool      // the origin has been ordered after the updates that it has seen
	request   *reach
	early     bool // the target has not posted the exposure epoch yet
	completed bool // the access epoch has ended
	added     bool
	over      bool
	end       moment
}

// operationNames holds the operations on windows. The variants with a request have an additional R.
var operationNames = map[string]bool{"Put": true, "Get": true, "Accumulate": true, "Get_accumulate": true,
	"Fetch_and_op": true, "Compare_and_swap": true}

func operationName(name string) (base string, request, is bool) {
	base = strings.TrimPrefix(name, "MPI_")
	if operationNames[base] {
		return base, false, true
	}
	if len(base) > 1 && base[0] == 'R' {
		base = strings.ToUpper(base[1:2]) + base[2:]
		return base, true, operationNames[base]
	}
	return base, false, false
}

// buffer returns an access of a call at s to a buffer; nil if it touches no memory.
func (k *rank) buffer(s *site, what kind, address, count, datatype uint64) *access {
	if inPlace(address) {
		return nil
	}
	spans := k.spansOf(address, int64(count), datatype)
	if spans == nil || spans[0].low < 4096 {
		return nil
	}
	return &access{site: s, kind: what, spans: spans, held: k.held}
}

// enterUpdate records the clock of an update at its entry: another rank may see the update before its call returns.
func (c *Checker) enterUpdate(k *rank, e *event) {
	base, _, is := operationName(e.name)
	w := k.wins[e.In("win").Uint()]
	if c.follow != nil || !is || w == nil || base == "Put" || base == "Get" || e.In("op").Uint() == abi.MPI_NO_OP {
		return
	}
	target := w.meets.world(k, int(e.In("target_rank").Int()))
	member := slices.Index(w.meets.members, target)
	if member < 0 {
		return
	}
	if p := &w.parts[member]; !p.known {
		p.begun = append(p.begun, k.clock.clone())
		return
	}
	count, datatype := e.In("target_count").Int(), e.In("target_datatype").Uint()
	if base == "Fetch_and_op" || base == "Compare_and_swap" {
		count, datatype = 1, e.In("datatype").Uint()
	}
	p := w.parts[member]
	spans := k.spansOf(p.base+uint64(e.In("target_disp").Int()*p.unit), count, datatype)
	if spans == nil {
		return
	}
	a := &access{site: k.site(e), win: w, kind: updates, spans: spans, release: k.clock.clone()}
	if p := c.ranks[target].unmapped(spans); p != nil {
		p.begun = append(p.begun, a.release)
		return
	}
	owner := c.owner(target, a)
	c.ranks[owner].space.add(a)
	c.endAccess(a, k.now())
}

// operation records an operation on a window.
func (c *Checker) operation(k *rank, e *event) {
	base, withRequest, is := operationName(e.name)
	if !is {
		return
	}
	w := k.wins[e.In("win").Uint()]
	if w == nil {
		return
	}
	target := w.meets.world(k, int(e.In("target_rank").Int()))
	if target < 0 {
		return
	}
	if c.follow != nil {
		e.call.operates(k, e, w, target)
		if withRequest {
			c.begin(k, e, &request{})
		}
		return
	}
	o := &operation{window: w, origin: k.number, target: target, turn: -1, start: k.clock.clone(),
		began: k.now()}
	word := func(name string) uint64 { return e.In(name).Uint() }
	count, datatype := word("target_count"), word("target_datatype")
	single := base == "Fetch_and_op" || base == "Compare_and_swap"
	if single {
		count, datatype = 1, word("datatype")
	}
	site := k.site(e)
	site.epoch = w.epochs[k.number]
	what, op := updates, word("op")
	switch base {
	case "Put":
		what = writes
	case "Get":
		what = reads
	case "Compare_and_swap":
		op = anyOp
	}
	if op != 0 && op != anyOp {
		site.detail = opName(op)
	}
	add := func(a *access) {
		if a != nil {
			a.remote, a.strand, a.group = true, o.began.strand, o
			o.here = append(o.here, a)
		}
	}
	if base != "Get" && op != abi.MPI_NO_OP {
		n, t := word("origin_count"), word("origin_datatype")
		if single {
			n, t = 1, datatype
		}
		add(k.buffer(site, reads, word("origin_addr"), n, t))
	}
	if base == "Get" {
		add(k.buffer(site, writes, word("origin_addr"), word("origin_count"), word("origin_datatype")))
	}
	if base == "Compare_and_swap" {
		add(k.buffer(site, reads, word("compare_addr"), 1, datatype))
	}
	if single || base == "Get_accumulate" {
		n, t := word("result_count"), word("result_datatype")
		if single {
			n, t = 1, datatype
		}
		add(k.buffer(site, writes, word("result_addr"), n, t))
	}
	o.request = &reach{site: site, what: what, op: op, datatype: datatype, count: int64(count),
		disp: e.In("target_disp").Int(), fetches: single || base == "Get_accumulate", held: k.held}
	if t := k.typeOf(datatype); t != nil {
		o.request.spans = k.spansOf(1<<62, int64(count), datatype)
		o.request.element = k.elementOf(datatype)
		if what == updates {
			o.request.typed = k.elementsOf(1<<62, int64(count), datatype)
		}
	}
	if base == "Put" || base == "Get" || base == "Accumulate" || base == "Get_accumulate" && op != abi.MPI_NO_OP {
		mine, there := k.contents(int64(word("origin_count")), word("origin_datatype")),
			k.contents(int64(count), datatype)
		if how := mine.differs(there, false); how != "" {
			c.tell(&Finding{Kind: "signature", Window: w.plain(), Target: target, Advice: how},
				spot{site, "has different datatypes at origin and target"})
		}
	}
	o.reads = base == "Get"
	for _, a := range o.here {
		c.add(k.number, a, k.clock)
	}
	w.open[k.number] = append(w.open[k.number], o)
	if w.epochs[k.number] == "start" {
		t := w.turnsOf(k.number, target)
		o.turn = t.started - 1
		if x := w.exposureOf(k.number, target, o.turn); x != nil {
			o.start.join(x.clock)
			c.puts(o, x)
		} else {
			t.early = append(t.early, o)
			o.early = true
		}
	}
	if s := w.noput[[2]int{target, w.fences[k.number]}]; s != nil && w.epochs[k.number] == "fence" &&
		what != reads &&
		op != abi.MPI_NO_OP {
		c.asserted("NOPUT", w, s, site, noPut)
	}
	c.reach(k, o)
	if withRequest && e.Out("request").Given() {
		c.begin(k, e, &request{operation: o})
	}
}

// reach describes the access of an operation at its target, as far as the origin knows it.
type reach struct {
	site     *site
	what     kind
	op       uint64
	datatype uint64
	element  uint64
	typed    []typed
	count    int64
	disp     int64
	spans    []span // relative to 1<<62
	fetches  bool
	held     []hold
}

// reach determines the bytes of the target that an operation accesses, as soon as the target has the window.
func (c *Checker) reach(k *rank, o *operation) {
	p := &o.window.parts[slices.Index(o.window.meets.members, o.target)]
	if !p.known {
		k.unknown++
		p.late = append(p.late, func() {
			k.unknown--
			c.reach(k, o)
		})
		return
	}
	r := o.request
	if len(r.spans) > 0 {
		at := p.base + uint64(r.disp*p.unit) - 1<<62
		for i := range r.spans {
			r.spans[i].low += at
			r.spans[i].high += at
		}
		o.there = &access{site: r.site, win: o.window, kind: r.what, remote: true, strand: o.began.strand,
			group: o, spans: r.spans, held: r.held}
		if r.what == updates {
			for i := range r.typed {
				r.typed[i].low += at
				r.typed[i].high += at
			}
			o.there.op, o.there.element, o.there.typed = r.op, r.element, r.typed
			o.there.ordered = o.window.hints["accumulate_ordering"] != "none"
		}
	}
	if !o.early {
		c.atTarget(o)
	}
}

// atTarget adds the access of an operation at its target when its start is known.
func (c *Checker) atTarget(o *operation) {
	if o.there == nil || o.added {
		return
	}
	o.added = true
	c.add(o.target, o.there, o.start)
	if o.over {
		c.endAccess(o.there, o.end)
	}
}

// done ends an operation at both sides.
func (c *Checker) done(o *operation, at moment) {
	c.doneHere(o, at)
	c.doneThere(o, at)
}

func (c *Checker) doneThere(o *operation, at moment) {
	if o.over {
		if o.there != nil && o.began.strand == at.strand {
			o.there.endsAgain(at)
		}
		return
	}
	o.over, o.end = true, at
	if o.there != nil && o.added {
		c.endAccess(o.there, at)
	}
}

// doneHere ends the use of the origin's buffers. An operation that only reads has its data then and is complete at the
// target too.
func (c *Checker) doneHere(o *operation, at moment) {
	if o.reads {
		c.doneThere(o, at)
	}
	for _, a := range o.here {
		if !a.over {
			c.endAccess(a, at)
		} else if o.began.strand == at.strand {
			a.endsAgain(at)
		}
	}
	if o.request.fetches && !o.fetched {
		o.fetched = true
		k := c.ranks[o.origin]
		for _, v := range o.window.parts[slices.Index(o.window.meets.members, o.target)].begun {
			k.clock.join(v)
		}
		f := o.there
		if f == nil {
			return
		}
		c.ranks[o.target].space.each(f, func(x *access) {
			if _, is := overlap(x, f); is && (x.release != nil || x.clock != nil) {
				k.clock.join(x.release)
				k.clock.join(x.clock)
			}
		})
	}
}

// requestDone records that the request of an operation is complete. The operation is then complete at the origin, and
// also at the target if it only reads.
func (c *Checker) requestDone(k *rank, o *operation) {
	c.doneHere(o, k.now())
	if o.reads {
		o.window.open[k.number] = slices.DeleteFunc(o.window.open[k.number],
			func(x *operation) bool { return x == o })
		o.window.endedBy(k, o)
	}
}
