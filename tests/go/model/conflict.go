package model

// This file tracks the accesses to each byte of a window within one phase. With it, the generator avoids calls whose
// result the standard leaves undefined (MPI-5.0 12.7). A byte may be accessed by one origin, or only be read, or belong
// to an element into which all origins accumulate with the same type.

type use uint8

const (
	unused use = iota
	reading
	writing
	accumulating
	incrementing // changed by verbIncrement under exclusive locks
	touching     // accessed by loads and stores of one rank
)

// cell is the state of one byte of a window in a phase.
type cell struct {
	use     use
	tainted bool  // the origin has changed the byte in this phase, so that no other rank may read it
	origin  int8  // the only origin that has accessed the byte, or `several`
	segment int16 // segment of the origin's last access (tracker.segments)
	element int32 // index in tracker.elements
}

const several = -1

// element is a predefined element of memory into which calls accumulate in this phase.
type element struct {
	base     int
	basic    *Basic
	origin   int  // the only origin that has accessed the element, or `several`
	alone    bool // no other origin may access the element until the end of the phase
	ops      map[Op]bool
	calls    int
	fetching int // number of fetching calls
}

// tracker holds the cells of all members of a window.
type tracker struct {
	cells    [][]cell
	elements []element
	// segments[origin][target] counts the points in the phase at which all calls of origin to target are complete.
	segments [][]int
	mixed    bool // calls may accumulate into one element with different operations
	most     int  // maximum number of calls on one element
}

func newTracker(w *Window) *tracker {
	t := &tracker{most: 12}
	for _, m := range w.Members {
		t.cells = append(t.cells, make([]cell, len(m.Init)))
		t.segments = append(t.segments, make([]int, len(w.Members)))
	}
	return t
}

// ours reports whether the rank `origin` is the only one that has accessed the byte, and all these accesses are
// complete.
func (c *cell) ours(origin, segment int) bool {
	return int(c.origin) == origin && int(c.segment) < segment
}

// claim adds a call to the phase and returns true. If the call conflicts with another one, claim changes nothing and
// returns false.
func (t *tracker) claim(origin int, a *Action) bool {
	if a.Target == procNull || a.TCount == 0 {
		return true
	}
	cells, segment := t.cells[a.Target], t.segments[origin][a.Target]
	ok := true
	var repeated map[int]int // number of accesses to each element, if this call may access an element repeatedly
	if a.accumulates() && !a.TType.disjoint(a.TCount) {
		repeated = map[int]int{}
	}
	a.TType.each(a.TCount, func(off int, b *Basic) {
		at := a.At + off
		if !ok || at < 0 || at+b.Extent > len(cells) {
			ok = false
			return
		}
		if a.accumulates() || a.Verb == verbIncrement {
			ok = t.mayAccumulate(origin, segment, cells, at, b, a, repeated[at])
			if repeated != nil {
				repeated[at]++
			}
			return
		}
		for i := at; i < at+b.Extent && ok; i++ {
			c := &cells[i]
			switch a.Verb {
			case verbPut:
				ok = c.use == unused || c.use != touching && c.ours(origin, segment)
			case verbGet:
				ok = c.use == unused || c.use == reading && (!c.tainted || int(c.origin) == origin) ||
					c.use != touching && c.ours(origin, segment)
			default:
				ok = c.use == unused || c.use == touching && int(c.origin) == origin
			}
		}
	})
	if !ok {
		return false
	}
	a.TType.each(a.TCount, func(off int, b *Basic) {
		at := a.At + off
		element := int32(0)
		if a.accumulates() || a.Verb == verbIncrement {
			element = t.accumulate(origin, cells, at, b, a)
		}
		for i := at; i < at+b.Extent; i++ {
			t.touch(&cells[i], origin, segment, a, element)
		}
	})
	return true
}

func (t *tracker) touch(c *cell, origin, segment int, a *Action, element int32) {
	first := c.use == unused
	switch {
	case a.Verb == verbGet:
		c.tainted = c.tainted || c.use != reading && c.use != unused
		c.use = reading
	case a.Verb == verbPut:
		c.use, c.tainted = writing, true
	case a.Verb == verbIncrement:
		c.use = incrementing
	case a.accumulates():
		c.use = accumulating
	default:
		c.use = touching
	}
	c.element, c.segment = element, int16(segment)
	if first {
		c.origin = int8(origin)
	} else if int(c.origin) != origin {
		c.origin = several
	}
}

// kind returns the operation of an accumulate, or verbIncrement.
func (a *Action) kind() Op {
	if a.Verb == verbIncrement {
		return verbIncrement
	}
	return a.Op
}

// mayAccumulate reports whether the call `a` may accumulate into the element at offset `at`. The argument `before` is
// the number of earlier accesses of the same call to this element.
func (t *tracker) mayAccumulate(origin, segment int, cells []cell, at int, b *Basic, a *Action, before int) bool {
	if before >= t.most/2 {
		return false
	}
	for i := at; i < at+b.Extent; i++ {
		c := &cells[i]
		if c.use == unused || c.ours(origin, segment) && c.use != touching && c.use != incrementing &&
			a.Verb != verbIncrement {
			continue
		}
		if c.use != accumulating && c.use != incrementing ||
			(c.use == incrementing) != (a.Verb == verbIncrement) {
			return false
		}
		e := &t.elements[c.element]
		if e.base != at || e.basic != b {
			return false
		}
		if e.origin == origin {
			continue
		}
		if e.alone {
			return false
		}
		op := a.kind()
		for o := range e.ops {
			if o != op && o != opNoOp && op != opNoOp && !t.mixed {
				return false
			}
		}
	}
	if c := &cells[at]; c.use == accumulating && t.elements[c.element].base == at {
		e := &t.elements[c.element]
		if e.calls+before+a.Times > t.most && !e.easy(a, b) {
			return false
		}
	}
	return true
}

// easy reports whether the checker can check any number of calls on the element if the call `a` is added. It can if all
// calls fetch, because the results determine their order. It also can if no call fetches and all orders give the same
// value.
func (e *element) easy(a *Action, b *Basic) bool {
	if a.Result != nil {
		return e.fetching == e.calls
	}
	if e.fetching > 0 || !(a.kind().commutes(b) || a.kind() == opSum) {
		return false
	}
	for o := range e.ops {
		if o != a.kind() {
			return false
		}
	}
	return true
}

// commutes reports whether calls with op give exactly the same value in any order. It does not cover floating-point
// sums, for which this depends on the values; the caller checks those.
func (op Op) commutes(b *Basic) bool {
	return op != opReplace && op != opSwap && b.Kind != floating && b.Kind != cmplx
}

// accumulate adds the call `a` to the element at offset `at`, and returns the element's index.
func (t *tracker) accumulate(origin int, cells []cell, at int, b *Basic, a *Action) int32 {
	c := cells[at]
	known := (c.use == accumulating || c.use == incrementing) && t.elements[c.element].base == at &&
		t.elements[c.element].basic == b
	if !known {
		t.elements = append(t.elements, element{base: at, basic: b, origin: origin, ops: map[Op]bool{}})
		c.element = int32(len(t.elements) - 1)
	}
	e := &t.elements[c.element]
	for i := at; i < at+b.Extent; i++ {
		// The origin has accessed this memory in another way in this phase, so no other origin may access it.
		if cells[i].use == reading || cells[i].use == writing ||
			(cells[i].use == accumulating && cells[i].element != c.element) {
			e.alone = true
		}
	}
	if e.origin != origin {
		e.origin = several
	}
	e.ops[a.kind()] = true
	e.calls += a.Times
	if a.Result != nil {
		e.fetching += a.Times
	}
	return c.element
}
