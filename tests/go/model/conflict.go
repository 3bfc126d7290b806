package model

// This file tracks the accesses to each byte of a window within one phase, so that the generator makes no calls that
// the standard leaves undefined (MPI-5.0 12.7). A byte belongs to one origin, or is read only, or belongs to an element
// into which all origins accumulate with the same type.

type use uint8

const (
	unused use = iota
	reading
	writing
	accumulating
	incrementing // by verbIncrement, under exclusive locks
	touching     // by loads and stores of one rank
)

// cell is the state of one byte in a phase.
type cell struct {
	use     use
	tainted bool  // the origin has changed it in this phase: a read by another rank has no defined result
	origin  int8  // several: more than one origin
	segment int16 // of the origin's last access
	element int32 // index in tracker.elements
}

const several = -1

// element is a value into which calls accumulate in this phase.
type element struct {
	base     int
	basic    *Basic
	origin   int  // several: more than one origin
	alone    bool // only the same origin may access it from now on
	ops      map[Op]bool
	calls    int
	fetching int // number of fetching calls
}

// tracker holds the cells of all members of a window.
type tracker struct {
	cells    [][]cell
	elements []element
	// segments[origin][target] counts the points at which all of origin's calls to target are complete.
	segments [][]int
	mixed    bool // different operations may accumulate into one element
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

// ours reports whether only origin has used the cell, and all its accesses are complete.
func (c *cell) ours(origin, segment int) bool {
	return int(c.origin) == origin && int(c.segment) < segment
}

// claim tries to add a call to the phase. It returns false, and changes nothing, if the call would conflict.
func (t *tracker) claim(origin int, a *Action) bool {
	if a.Target == procNull || a.TCount == 0 {
		return true
	}
	cells, segment := t.cells[a.Target], t.segments[origin][a.Target]
	ok := true
	var repeated map[int]int // number of accesses of this call to each element, if that may be more than one
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

// kind returns the operation of an accumulate-type call.
func (a *Action) kind() Op {
	if a.Verb == verbIncrement {
		return verbIncrement
	}
	return a.Op
}

// mayAccumulate reports whether a may accumulate into the element at at. before is the number of accesses of the same
// call to this element so far.
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

// easy reports whether many calls together with a can be checked: each one fetches, which determines their order, or
// none does and all orders give the same value.
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

// commutes reports whether any order of calls with op gives exactly the same value. Sums of floating-point numbers do
// if nothing is rounded.
func (op Op) commutes(b *Basic) bool {
	return op != opReplace && op != opSwap && b.Kind != floating && b.Kind != cmplx
}

// accumulate records the call in its element.
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
		// Memory that the origin has accessed otherwise before belongs to it until the end of the phase.
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
