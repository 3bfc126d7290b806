package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Output is the output of a program. For each phase and each rank of the phase's window, it has the rank's memory, and
// the rank's result buffers concatenated in one slice.
type Output struct {
	Memory, Results [][][]byte
}

// Failure describes a difference between an output and what the standard permits.
type Failure struct {
	Phase int
	Text  string
}

func (f *Failure) Error() string { return fmt.Sprintf("phase %d: %s", f.Phase, f.Text) }

// event is one operation on an element into which several origins accumulate.
type event struct {
	origin                   int
	call                     *Action
	op                       Op
	operand, compare, result []byte // result: value that the call fetched; nil if it fetches none
}

// place is the position of an element: the rank of a member, and the offset in the member's memory.
type place struct{ rank, at int }

// history holds the operations on one element.
type history struct {
	basic  *Basic
	events [][]*event // by origin, in the origin's order; a repeated call has an event for each repetition
}

// checker compares one phase of an output with the model.
type checker struct {
	p      *Program
	ph     *Phase
	memory [][]byte // expected contents
	// owners[rank][at] is 1 + the number of the only origin that accumulates into the element at this position. It
	// is -1 if several origins do.
	owners    [][]int8
	histories map[place]*history
	// Padding that a call may have changed. The checker accepts any value there and continues with that value.
	padding []place
	// Undecided counts elements whose operations have too many possible orders to try all.
	Undecided int
}

// Check compares an output with the model. It returns nil if the standard permits the output. The result `undecided` is
// the number of elements that have too many possible orders to decide.
func Check(p *Program, out *Output) (failure *Failure, undecided int) {
	memory := make([][][]byte, len(p.Windows)) // by window
	for i, w := range p.Windows {
		for _, m := range w.Members {
			memory[i] = append(memory[i], bytes.Clone(m.Init))
		}
	}
	for i, ph := range p.Phases {
		c := &checker{p: p, ph: ph, memory: memory[ph.Win], histories: map[place]*history{}}
		f := c.phase(out.Memory[i], out.Results[i])
		undecided += c.Undecided
		if f != nil {
			return &Failure{i, f.Error()}, undecided
		}
	}
	return nil, undecided
}

func (c *checker) phase(memory, results [][]byte) error {
	c.findOwners()
	for rank, actions := range c.ph.Ranks {
		left := results[rank]
		for _, a := range actions {
			var got []byte
			if a.Result != nil {
				got, left = left[:a.Times*a.Result.Size], left[a.Times*a.Result.Size:]
			}
			if a.ID != 0 {
				if err := c.call(rank, a, got); err != nil {
					return err
				}
			}
		}
	}
	// If several final values are possible, the checker continues with the value that the output has.
	for at, h := range c.histories {
		found := memory[at.rank][at.at : at.at+h.basic.Extent]
		initial := c.memory[at.rank][at.at : at.at+h.basic.Extent]
		ok, decided := h.explain(initial, found)
		if !decided {
			c.Undecided++
		} else if !ok {
			return fmt.Errorf("no order of the calls explains the element at byte %d of rank %d, %x "+
				"before, %x behind:\n%v", at.at, at.rank, initial, found, h)
		}
		h.basic.copy(initial, found)
		c.loosen(at.rank, at.at, h.basic)
	}
	for _, p := range c.padding {
		c.memory[p.rank][p.at] = memory[p.rank][p.at]
	}
	for rank := range memory {
		if at := differ(c.memory[rank], memory[rank]); at >= 0 {
			return fmt.Errorf("memory of rank %d, byte %d: %s\n%s", rank, at,
				show(c.memory[rank], memory[rank], at), c.users(rank, at))
		}
	}
	return nil
}

// differ returns the first offset at which `want` and `got` differ, or -1 if they are equal.
func differ(want, got []byte) int {
	for i := range want {
		if want[i] != got[i] {
			return i
		}
	}
	return -1
}

func show(want, got []byte, at int) string {
	from, to := max(0, at-at%8), min(len(want), at-at%8+16)
	n := 0
	for i := range want {
		n += int(truth(want[i] != got[i]))
	}
	return fmt.Sprintf("bytes %d to %d are %x and should be %x; %d bytes are wrong", from, to, got[from:to],
		want[from:to], n)
}

// users returns a listing of the calls of the phase that access the byte at offset `at` of a rank's memory.
func (c *checker) users(rank, at int) string {
	var b strings.Builder
	for origin, actions := range c.ph.Ranks {
		for _, a := range actions {
			if a.ID == 0 || a.Target != rank {
				continue
			}
			touches := false
			a.TType.each(a.TCount, func(off int, basic *Basic) {
				touches = touches || a.At+off <= at && at < a.At+off+basic.Extent
			})
			if touches {
				fmt.Fprintf(&b, "    rank %d: %v\n", origin, a)
			}
		}
	}
	if b.Len() == 0 {
		return "    no call touches it"
	}
	return b.String()
}

func (c *checker) findOwners() {
	for _, m := range c.memory {
		c.owners = append(c.owners, make([]int8, len(m)))
	}
	for origin, actions := range c.ph.Ranks {
		for _, a := range actions {
			if !a.accumulates() || a.Target == procNull {
				continue
			}
			owners := c.owners[a.Target]
			a.TType.each(a.TCount, func(off int, b *Basic) {
				switch o := &owners[a.At+off]; *o {
				case 0, int8(1 + origin):
					*o = int8(1 + origin)
				default:
					*o = -1
				}
			})
		}
	}
}

// loose returns the bytes of a long double that do not carry its value. They may have arbitrary contents.
func (b *Basic) loose() []span {
	switch {
	case b == longDouble && x87:
		return []span{{10, 16}}
	case b.part == longDouble && x87 && b.Kind == cmplx:
		return []span{{10, 16}, {26, 32}}
	case b.part == longDouble && x87:
		return []span{{10, 16}}
	}
	return nil
}

func (c *checker) loosen(rank, at int, b *Basic) {
	for _, s := range b.loose() {
		for i := s.from; i < s.to; i++ {
			c.padding = append(c.padding, place{rank, at + i})
		}
	}
}

// offsets returns the offsets of all elements of one side of a call, in the buffer of that side.
func offsets(t *Type, count, pos int) []int {
	var all []int
	if t != nil {
		t.each(count, func(off int, _ *Basic) { all = append(all, pos+off) })
	}
	return all
}

// call applies the action `a` to the model's memory and compares the expected results with `got`, the result buffers of
// the output.
func (c *checker) call(rank int, a *Action, got []byte) error {
	for i := range a.Times {
		var want, found []byte
		if a.Result != nil {
			want = bytes.Repeat([]byte{resultFill}, a.Result.Size)
			found = got[i*a.Result.Size : (i+1)*a.Result.Size]
		}
		if a.Target != procNull {
			c.move(rank, a, i, want, found)
		}
		if at := differ(want, found); at >= 0 {
			return fmt.Errorf("result %d of rank %d's %v, byte %d: %s", i, rank, a, at-a.Result.Pos,
				show(want, found, at))
		}
	}
	return nil
}

// move applies repetition number `time` of the call `a` to the model's memory. It stores the results to `want`.
func (c *checker) move(rank int, a *Action, time int, want, got []byte) {
	memory := c.memory[a.Target]
	var from, to []int
	if a.Origin != nil {
		from = offsets(a.OType, a.OCount, a.Origin.Pos)
	}
	if a.Result != nil {
		to = offsets(a.RType, a.RCount, a.Result.Pos)
	}
	i := -1
	a.TType.each(a.TCount, func(off int, b *Basic) {
		i++
		at := a.At + off
		target := memory[at : at+b.Extent]
		var operand, compare []byte
		if a.Origin != nil && len(from) > 0 {
			operand = a.Origin.Data[from[i]:]
		}
		if a.Compare != nil {
			compare = a.Compare.Data[a.Compare.Pos:]
		}
		shared := a.accumulates() && c.owners[a.Target][at] < 0
		if want != nil {
			result := want[to[i] : to[i]+b.Extent]
			switch {
			case a.Verb == verbLoad:
				copy(result, target)
			case shared:
				b.copy(result, got[to[i]:])
			default:
				b.copy(result, target)
			}
			if a.Verb != verbLoad {
				for _, s := range b.loose() {
					copy(result[s.from:s.to], got[to[i]+s.from:])
				}
			}
		}
		switch a.Verb {
		case verbStore:
			copy(target, operand[:b.Extent])
		case verbPut:
			b.copy(target, operand)
			c.loosen(a.Target, at, b)
		case verbIncrement:
			b.reduce(opSum, target, operand, nil)
		case verbAccumulate, verbGetAccumulate, verbFetch, verbSwap:
			if !shared {
				b.reduce(a.Op, target, operand, compare)
				c.loosen(a.Target, at, b)
				return
			}
			h := c.history(place{a.Target, at}, b)
			events := &h.events[rank]
			if n := len(*events); time > 0 && want == nil {
				*events = append(*events, (*events)[n-1])
				return
			}
			e := &event{origin: rank, call: a, op: a.Op, operand: operand, compare: compare}
			if want != nil {
				e.result = got[to[i] : to[i]+b.Extent]
			}
			*events = append(*events, e)
		}
	})
}

func (c *checker) history(at place, b *Basic) *history {
	h := c.histories[at]
	if h == nil {
		h = &history{basic: b, events: make([][]*event, len(c.ph.Ranks))}
		c.histories[at] = h
	}
	return h
}

func (h *history) String() string {
	var b strings.Builder
	lines := 0
	for _, events := range h.events {
		for i, e := range events {
			if i > 0 && e == events[i-1] {
				continue
			}
			if lines++; lines > 200 {
				b.WriteString("    ...\n")
				return b.String()
			}
			n := h.basic.Extent
			fmt.Fprintf(&b, "    rank %d: #%d %s %s", e.origin, e.call.ID, e.call.Verb, e.op)
			if e.operand != nil {
				fmt.Fprintf(&b, " with %x", e.operand[:n])
			}
			if e.compare != nil {
				fmt.Fprintf(&b, " if %x", e.compare[:n])
			}
			if e.result != nil {
				fmt.Fprintf(&b, " fetched %x", e.result)
			} else if e.call.Times > 1 {
				fmt.Fprintf(&b, ", %d times", e.call.Times)
			}
			fmt.Fprintf(&b, "   (%s)\n", h.basic.Name)
		}
	}
	return b.String()
}

const mostStates = 300_000

// explain reports if there is an order of the events that gives every fetched result and the final value. The result
// `decided` is false if the search has given up.
func (h *history) explain(initial, final []byte) (ok, decided bool) {
	b := h.basic
	start := make([]byte, b.Extent)
	b.copy(start, initial) // leaves out padding, which is not part of the state
	if h.orderless(start) {
		value := bytes.Clone(start)
		for _, events := range h.events {
			for _, e := range events {
				b.reduce(e.op, value, e.operand, e.compare)
			}
		}
		return b.equal(value, final), true
	}
	s := &search{h: h, final: final, seen: map[string]bool{}, done: make([]int, len(h.events))}
	ok = s.from(start)
	return ok, ok || len(s.seen) < mostStates
}

// orderless reports whether all orders of the events give the same final value and no event fetches an intermediate
// value.
func (h *history) orderless(initial []byte) bool {
	first := h.first().op
	for _, events := range h.events {
		for i, e := range events {
			if i > 0 && e == events[i-1] {
				continue
			}
			if e.result != nil || e.op != first {
				return false
			}
		}
	}
	return first.commutes(h.basic) || first == opSum && h.exact(initial)
}

// exact reports whether the sums of all subsets of the operands are exact. That is true if all numbers are multiples of
// one power of two, and the sum of their absolute values fits into the mantissa.
func (h *history) exact(initial []byte) bool {
	parts, at := []*Basic{h.basic}, 0
	if h.basic.Kind == cmplx {
		parts = []*Basic{h.basic.part, h.basic.part}
	}
	for _, part := range parts {
		total, low, precision := new(big.Float).SetPrec(1000), 0, uint(0)
		first := true
		add := func(value []byte) {
			x := part.loadFloat(value[at:])
			precision = x.Prec()
			if x.Sign() == 0 {
				return
			}
			if unit := x.MantExp(nil) - int(x.MinPrec()); first || unit < low {
				low, first = unit, false
			}
			total.Add(total, x.Abs(x))
		}
		add(initial)
		for _, events := range h.events {
			for _, e := range events {
				add(e.operand)
			}
		}
		if total.MantExp(nil)-low > int(precision) {
			return false
		}
		at += part.Extent
	}
	return true
}

// search is a depth-first search for an order of a history's events.
type search struct {
	h     *history
	final []byte
	seen  map[string]bool // states from which no order leads to the final value
	done  []int           // number of events that the current order contains, by origin
}

// from reports if the events that are not in s.done can follow a state with this value, in some order. If they cannot,
// it leaves s.done unchanged.
func (s *search) from(value []byte) bool {
	b := s.h.basic
	// An event that fetched this value and does not change it can be the next event. This choice excludes no order
	// of the other events.
	before := slices.Clone(s.done)
	for o := 0; o < len(s.done); o++ {
		for s.done[o] < len(s.h.events[o]) {
			e := s.h.events[o][s.done[o]]
			if next := s.next(e, value); e.result == nil || next == nil || !bytes.Equal(next, value) {
				break
			}
			s.done[o]++
		}
	}
	if s.branch(value, b) {
		return true
	}
	copy(s.done, before)
	return false
}

// next returns the value after event e. It returns nil if e fetched a value other than the value before e.
func (s *search) next(e *event, value []byte) []byte {
	if e.result != nil && !s.h.basic.equal(value, e.result) {
		return nil
	}
	next := bytes.Clone(value)
	s.h.basic.reduce(e.op, next, e.operand, e.compare)
	return next
}

func (s *search) branch(value []byte, b *Basic) bool {
	key := make([]byte, 0, 64)
	finished := true
	for o, n := range s.done {
		key = binary.AppendUvarint(key, uint64(n))
		finished = finished && n == len(s.h.events[o])
	}
	if finished {
		return b.equal(value, s.final)
	}
	key = append(key, value...)
	if len(s.seen) >= mostStates || s.seen[string(key)] {
		return false
	}
	s.seen[string(key)] = true
	// Try fetching events first, because their results constrain the order most.
	for _, fetched := range []bool{true, false} {
		for o, events := range s.h.events {
			if s.done[o] == len(events) || (events[s.done[o]].result != nil) != fetched {
				continue
			}
			next := s.next(events[s.done[o]], value)
			if next == nil {
				continue
			}
			s.done[o]++
			if s.from(next) {
				return true
			}
			s.done[o]--
		}
	}
	return false
}

func (h *history) first() *event {
	for _, events := range h.events {
		if len(events) > 0 {
			return events[0]
		}
	}
	panic("an element without events")
}
