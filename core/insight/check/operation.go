package check

import (
	"slices"
	"strings"

	"gompirma/core/abi"
)

// operation is an operation of an origin on a window.
type operation struct {
	window         *window
	origin         int
	target         int // rank in MPI_COMM_WORLD, like origin
	epoch          int // number of the access epoch, if MPI_Win_start opened it; else -1
	isGet          bool
	start          vector    // clock after which the access at the target is ordered
	began          timestamp // timestamp of the call
	targetAccess   *access   // access at the target; nil if it touches no memory
	originAccesses []*access // accesses to the origin's buffers
	isFetched      bool      // the result has arrived, so the origin's clock includes the updates in it
	targetInfo     *targetInfo
	isEarly        bool // the target has not posted the exposure epoch yet
	isCompleted    bool // the access epoch has ended
	isAdded        bool
	isDone         bool
	end            timestamp
}

// opBaseNames holds the operations on windows. Names of request-based variants begin with R.
var opBaseNames = map[string]bool{"Put": true, "Get": true, "Accumulate": true, "Get_accumulate": true,
	"Fetch_and_op": true, "Compare_and_swap": true}

func splitOpName(name string) (base string, request, is bool) {
	base = strings.TrimPrefix(name, "MPI_")
	if opBaseNames[base] {
		return base, false, true
	}
	if len(base) > 1 && base[0] == 'R' {
		base = strings.ToUpper(base[1:2]) + base[2:]
		return base, true, opBaseNames[base]
	}
	return base, false, false
}

// buffer returns the access of a call to a buffer; nil if the call touches no memory there.
func (k *rank) buffer(s *callSite, what kind, address, count, datatype uint64) *access {
	if inPlace(address) {
		return nil
	}
	spans := k.spansOf(address, int64(count), datatype)
	if spans == nil || spans[0].low < 4096 {
		return nil
	}
	return &access{site: s, kind: what, spans: spans, held: k.heldLocks}
}

// enterUpdate records the clock of an accumulate at the entry of its call, because another rank may see the update
// before the call returns.
func (c *Checker) enterUpdate(k *rank, e *event) {
	base, _, is := splitOpName(e.name)
	w := k.wins[e.In("win").Uint()]
	if c.follow != nil || !is || w == nil || base == "Put" || base == "Get" || e.In("op").Uint() == abi.MPI_NO_OP {
		return
	}
	target := w.comm.worldRank(k, int(e.In("target_rank").Int()))
	member := slices.Index(w.comm.members, target)
	if member < 0 {
		return
	}
	if p := &w.parts[member]; !p.known {
		p.updateClocks = append(p.updateClocks, k.clock.clone())
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
	a := &access{site: k.newSite(e), win: w, kind: updates, spans: spans, updateClock: k.clock.clone()}
	if p := c.ranks[target].unresolvedPart(spans); p != nil {
		p.updateClocks = append(p.updateClocks, a.updateClock)
		return
	}
	owner := c.resolveOwner(target, a)
	c.ranks[owner].space.add(a)
	c.endAccess(a, k.now())
}

// operation records an operation on a window.
func (c *Checker) operation(k *rank, e *event) {
	base, withRequest, is := splitOpName(e.name)
	if !is {
		return
	}
	w := k.wins[e.In("win").Uint()]
	if w == nil {
		return
	}
	target := w.comm.worldRank(k, int(e.In("target_rank").Int()))
	if target < 0 {
		return
	}
	if c.follow != nil {
		e.call.noteOperation(k, e, w, target)
		if withRequest {
			c.addRequest(k, e, &request{})
		}
		return
	}
	o := &operation{window: w, origin: k.number, target: target, epoch: -1, start: k.clock.clone(),
		began: k.now()}
	word := func(name string) uint64 { return e.In(name).Uint() }
	count, datatype := word("target_count"), word("target_datatype")
	single := base == "Fetch_and_op" || base == "Compare_and_swap"
	if single {
		count, datatype = 1, word("datatype")
	}
	site := k.newSite(e)
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
			o.originAccesses = append(o.originAccesses, a)
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
	o.targetInfo = &targetInfo{site: site, what: what, op: op, datatype: datatype, count: int64(count),
		disp: e.In("target_disp").Int(), fetches: single || base == "Get_accumulate", held: k.heldLocks}
	if t := k.typeOf(datatype); t != nil {
		o.targetInfo.spans = k.spansOf(1<<62, int64(count), datatype)
		o.targetInfo.element = k.elementOf(datatype)
		if what == updates {
			o.targetInfo.typed = k.elementsOf(1<<62, int64(count), datatype)
		}
	}
	if base == "Put" || base == "Get" || base == "Accumulate" || base == "Get_accumulate" && op != abi.MPI_NO_OP {
		mine, there := k.dataOf(int64(word("origin_count")), word("origin_datatype")),
			k.dataOf(int64(count), datatype)
		if how := mine.mismatch(there, false, "at the origin", "at the target"); how != "" {
			c.report(&Finding{Kind: "signature", Window: w.userName(), Target: target, Advice: how},
				callRole{site, "passes different datatypes for origin and target"})
		}
	}
	o.isGet = base == "Get"
	for _, a := range o.originAccesses {
		c.add(k.number, a, k.clock)
	}
	w.openOps[k.number] = append(w.openOps[k.number], o)
	if w.epochs[k.number] == "start" {
		t := w.epochCountsOf(k.number, target)
		o.epoch = t.started - 1
		if x := w.exposureOf(k.number, target, o.epoch); x != nil {
			o.start.join(x.clock)
			c.checkNoput(o, x)
		} else {
			t.earlyOps = append(t.earlyOps, o)
			o.isEarly = true
		}
	}
	if s := w.noputFences[[2]int{target, w.fenceCounts[k.number]}]; s != nil && w.epochs[k.number] == "fence" &&
		what != reads &&
		op != abi.MPI_NO_OP {
		c.reportAssert("NOPUT", w, s, site, noPut)
	}
	c.resolveTarget(k, o)
	if withRequest && e.Out("request").HasValue() {
		c.addRequest(k, e, &request{operation: o})
	}
}

// targetInfo describes the access of an operation at its target, as far as the origin knows it.
type targetInfo struct {
	site     *callSite
	what     kind
	op       uint64
	datatype uint64
	element  uint64
	typed    []typedSpan
	count    int64
	disp     int64
	spans    []span // relative to the data's begin, which stands at address 1<<62
	fetches  bool
	held     []heldLock
}

// resolveTarget determines the bytes at the target that an operation accesses. This is not possible before the target
// has returned from the creation of the window. In that case, resolveTarget is called again when the target has
// returned.
func (c *Checker) resolveTarget(k *rank, o *operation) {
	p := &o.window.parts[slices.Index(o.window.comm.members, o.target)]
	if !p.known {
		k.unresolvedOps++
		p.deferred = append(p.deferred, func() {
			k.unresolvedOps--
			c.resolveTarget(k, o)
		})
		return
	}
	r := o.targetInfo
	if len(r.spans) > 0 {
		at := p.base + uint64(r.disp*p.unit) - 1<<62
		for i := range r.spans {
			r.spans[i].low += at
			r.spans[i].high += at
		}
		o.targetAccess = &access{site: r.site, win: o.window, kind: r.what, remote: true,
			strand: o.began.strand,
			group:  o, spans: r.spans, held: r.held}
		if r.what == updates {
			for i := range r.typed {
				r.typed[i].low += at
				r.typed[i].high += at
			}
			o.targetAccess.op, o.targetAccess.element, o.targetAccess.typed = r.op, r.element, r.typed
			o.targetAccess.ordered = o.window.hints["accumulate_ordering"] != "none"
		}
	}
	if !o.isEarly {
		c.addTargetAccess(o)
	}
}

// addTargetAccess adds the access of an operation at its target, once the start of the access is known.
func (c *Checker) addTargetAccess(o *operation) {
	if o.targetAccess == nil || o.isAdded {
		return
	}
	o.isAdded = true
	c.add(o.target, o.targetAccess, o.start)
	if o.isDone {
		c.endAccess(o.targetAccess, o.end)
	}
}

// completeOp ends an operation at the origin and at the target.
func (c *Checker) completeOp(o *operation, at timestamp) {
	c.completeAtOrigin(o, at)
	c.completeAtTarget(o, at)
}

func (c *Checker) completeAtTarget(o *operation, at timestamp) {
	if o.isDone {
		if o.targetAccess != nil && o.began.strand == at.strand {
			o.targetAccess.endAgain(at)
		}
		return
	}
	o.isDone, o.end = true, at
	if o.targetAccess != nil && o.isAdded {
		c.endAccess(o.targetAccess, at)
	}
}

// completeAtOrigin ends the use of the origin's buffers. A get has received its data by then, so it is also complete at
// the target.
func (c *Checker) completeAtOrigin(o *operation, at timestamp) {
	if o.isGet {
		c.completeAtTarget(o, at)
	}
	for _, a := range o.originAccesses {
		if !a.isOver {
			c.endAccess(a, at)
		} else if o.began.strand == at.strand {
			a.endAgain(at)
		}
	}
	if o.targetInfo.fetches && !o.isFetched {
		o.isFetched = true
		k := c.ranks[o.origin]
		for _, v := range o.window.parts[slices.Index(o.window.comm.members, o.target)].updateClocks {
			k.clock.join(v)
		}
		f := o.targetAccess
		if f == nil {
			return
		}
		c.ranks[o.target].space.each(f, func(x *access) {
			if _, is := overlap(x, f); is && (x.updateClock != nil || x.clock != nil) {
				k.clock.join(x.updateClock)
				k.clock.join(x.clock)
			}
		})
	}
}

// completeRequestOp records that the request of an operation is complete. The operation is then complete at the origin.
// A get is then complete at the target too.
func (c *Checker) completeRequestOp(k *rank, o *operation) {
	c.completeAtOrigin(o, k.now())
	if o.isGet {
		o.window.openOps[k.number] = slices.DeleteFunc(o.window.openOps[k.number],
			func(x *operation) bool { return x == o })
		o.window.noteEnded(k, o)
	}
}
