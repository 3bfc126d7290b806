package model

// What happens to the bytes of a window within one phase, so that the generator makes no calls that the standard leaves
// undefined (MPI-5.0 12.7): a byte belongs to one origin, or is only read, or belongs to an element into which
// everybody accumulates with the same type.

type use uint8

const (
	unused use = iota
	reading
	writing
	accumulating
	incrementing // by verbIncrement under exclusive locks
	touching     // by loads and stores of one rank
)

// cell is what is known of one byte.
type cell struct {
	use     use
	tainted bool  // the origin has changed it in this phase: others cannot know what they would read
	origin  int8  // several: more than one
	segment int16 // of the origin's last access
	element int32 // index in tracker.elements
}

const several = -1

// element is a value into which calls accumulate in this phase.
type element struct {
	base     int
	basic    *Basic
	origin   int  // several: more than one
	alone    bool // only its origin may go on
	ops      map[Op]bool
	calls    int
	fetching int // of them
}

// tracker has the cells of all members of a window.
type tracker struct {
	cells    [][]cell
	elements []element
	// segments[origin][target] counts the points at which origin's calls to target were complete there.
	segments [][]int
	mixed    bool // different operations may meet in one element
	most     int  // calls that may meet in one element
}

func newTracker(w *Window) *tracker {
	t := &tracker{most: 12}
	for _, m := range w.Members {
		t.cells = append(t.cells, make([]cell, len(m.Init)))
		t.segments = append(t.segments, make([]int, len(w.Members)))
	}
	return t
}

// ours says that only origin has used the cell, and that all it did is complete.
func (c *cell) ours(origin, segment int) bool {
	return int(c.origin) == origin && int(c.segment) < segment
}

// claim tries to add a call to what happens; false: it would conflict, and nothing has changed.
func (t *tracker) claim(origin int, a *Action) bool {
	if a.Target == procNull || a.TCount == 0 {
		return true
	}
	cells, segment := t.cells[a.Target], t.segments[origin][a.Target]
	ok := true
	var repeated map[int]int // how often the call has come to an element, if it may come more than once
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

// kind is the operation of an accumulate-type call.
func (a *Action) kind() Op {
	if a.Verb == verbIncrement {
		return verbIncrement
	}
	return a.Op
}

// mayAccumulate: before is how often the same call has come to the element at at.
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

// easy says that many calls together with a can be checked: every one fetches, which tells their order, or none does
// and all orders give the same.
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

// commutes says that any order of calls with op gives the same value, exactly. Sums of floating-point numbers do if
// nothing is rounded.
func (op Op) commutes(b *Basic) bool {
	return op != opReplace && op != opSwap && b.Kind != floating && b.Kind != cmplx
}

// accumulate notes the call in its element.
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
		// Memory that the origin has used in another way before is its own for the rest of the phase.
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
