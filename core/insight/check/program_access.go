package check

import "gompirma/core/insight"

// programAccesses processes a record of memory accesses that the program itself made since its last call.
func (c *Checker) programAccesses(k *rank, r *insight.Record) {
	k.tick()
	for i := range r.Accesses {
		x := &r.Accesses[i]
		a := access{site: &callSite{rank: k.number, thread: r.Thread, address: x.PC,
			name: programAccessNames[x.Kind&3]},
			held: k.heldLocks, byProgram: true, atomic: x.Kind >= insight.AtomicStore}
		if x.Kind == insight.Store || x.Kind == insight.AtomicStore {
			a.kind = writes
		}
		if x.Kind == insight.AtomicStore {
			a.clock = k.clock.clone()
		}
		spans := spansOfRuns(x.Runs)
		if p := k.unresolvedPart(spans); p != nil {
			start, now := k.clock.clone(), k.now()
			p.deferred = append(p.deferred, func() { c.addProgramAccess(k, a, spans, start, now) })
		} else {
			c.addProgramAccess(k, a, spans, k.clock, k.now())
		}
	}
}

// addProgramAccess adds an access of the program to the spaces of the ranks that own the accessed memory.
func (c *Checker) addProgramAccess(k *rank, all access, spans []span, start vector, now timestamp) {
	for owner, spans := range k.byOwner(spans) {
		a := all
		a.spans = spans
		if a.atomic && a.kind == reads {
			c.acquireFromLoad(k, owner, &a)
		}
		c.addOwned(owner, &a, start)
		if owner == k.number {
			c.noteStore(k, &a)
		}
		c.endAccess(&a, now)
	}
}

var programAccessNames = [...]string{insight.Load: "load", insight.Store: "store", insight.AtomicStore: "atomic store",
	insight.AtomicLoad: "atomic load"}

// acquireFromLoad orders a rank after all actions whose effect an atomic load may have seen: operations on the loaded
// memory, and atomic stores.
func (c *Checker) acquireFromLoad(k *rank, owner int, a *access) {
	c.ranks[owner].space.each(a, func(x *access) {
		if _, is := overlap(x, a); !is || x.updateClock == nil && !a.observes(x) {
			return
		}
		if x.updateClock != nil {
			k.clock.join(x.updateClock)
		} else if x.group != nil {
			k.clock.join(x.group.start)
		} else if x.clock != nil {
			k.clock.join(x.clock)
		}
	})
}

// observes reports whether `a` may see the effect of `b` and is then ordered after it. `a` must be an atomic access of
// the program. Moreover `b` must be atomic too, or `a` must be a load that may poll for the effect of a window
// operation `b`.
func (a *access) observes(b *access) bool {
	return a.atomic && (b.atomic || a.kind == reads && b.remote && b.win != nil)
}

// spansOfRuns returns the bytes of runs.
func spansOfRuns(pieces []insight.Run) (spans []span) {
	for _, p := range pieces {
		if p.Stride == p.Size && p.Count > 0 {
			spans = append(spans, span{p.Low, p.Low + p.Count*p.Size})
			continue
		}
		if p.Count > maxSpans {
			continue // dropped: the bytes between the blocks belong to other data
		}
		for i := range p.Count {
			spans = append(spans, span{p.Low + i*p.Stride, p.Low + i*p.Stride + p.Size})
		}
	}
	return merged(spans)
}

// byOwner groups spans by the rank that owns the memory, and converts them to addresses at that rank. Memory of other
// ranks is mapped at this rank if the memory belongs to a shared window.
func (k *rank) byOwner(spans []span) map[int][]span {
	if len(spans) == 0 {
		return nil
	}
	all := map[int][]span{}
	for _, s := range spans {
		for s.low < s.high {
			owner, at, high := k.ownerOf(s)
			all[owner] = append(all[owner], span{s.low + at, high + at})
			s.low = high
		}
	}
	for owner := range all {
		all[owner] = merged(all[owner])
	}
	return all
}

// ownerOf returns the rank that owns the first bytes of s, and the end of the range with that owner. An address of this
// rank plus the result `at` is the address of the same byte in the owner's address space.
func (k *rank) ownerOf(s span) (owner int, at, high uint64) {
	high = s.high
	for i := range k.aliases {
		a := &k.aliases[i]
		if a.low <= s.low && s.low < a.high {
			at = a.window.parts[a.member].base - a.low
			return a.window.comm.members[a.member], at, min(high, a.high)
		}
		if s.low < a.low && a.low < high {
			high = a.low
		}
	}
	return k.number, 0, high
}

// findingLocation returns the program location and the kind by which an access is compared in findings. All loads and
// stores of one source line have the same location and kind.
func (c *Checker) findingLocation(a *access) (place int, what kind) {
	if a.byProgram && c.locate(a.site.rank, a.site.address).Line > 0 {
		return c.locationNumber(a.site), reads
	}
	return c.locationNumber(a.site), a.kind
}
