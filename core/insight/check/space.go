package check

import (
	"cmp"
	"slices"
)

// kind is what an access does.
type kind uint8

const (
	reads kind = iota
	writes
	updates // an accumulate, which is atomic for each element
)

// span is bytes from low to before high.
type span struct{ low, high uint64 }

// access is what one operation or call does with bytes of a rank's memory.
type access struct {
	site    *site
	win     *window // whose memory it is, for accesses through a window; else nil
	kind    kind
	op      uint64 // of updates
	element uint64 // handle of the predefined datatype of updates, 0: there are several
	typed   []typed
	own     bool // by a load or store of the program
	atomic  bool // and that is atomic
	ordered bool // updates of one origin come in its order
	remote  bool // done by an operation on a window, be it at the target or with the origin's buffer
	async   bool // done by a request, which may not be complete when the call returns
	strand  int  // that has begun it, of remote and async ones
	group   *operation
	spans   []span // ascending, none touches the next
	held    []hold
	owner   int     // whose memory it is
	clock   vector  // of an atomic store of the program: what who sees it comes after
	release vector  // of no access, but of an update that begins: what who sees it comes after
	late    bool    // it is not in a space yet: whose memory it is will be known later
	root    *access // which stands for this one in the space; nil: it does itself
	others  int     // that it stands for and that have not ended
	ended   bool    // it has ended itself
	dropped bool    // its memory has been given back: it is in no space any longer
	over    bool    // all that it stands for have, at
	end     moment
	again   *moment // its own strand has ended it as well, after another had
}

// endedBefore reports whether what v is the time of comes after an end of the access.
func (a *access) endedBefore(v vector) bool {
	return a.over && (a.end.before(v) || a.again != nil && a.again.before(v))
}

// endsAgain notes that the strand of an operation has ended what another one had ended before.
func (a *access) endsAgain(at moment) {
	if a.root != nil {
		a = a.root
	}
	if a.over && a.end.strand != at.strand {
		a.again = &at
	}
}

// repeats reports whether an access of an operation or request is one that is under way once more. Whatever conflicts
// with the later one does with the earlier, which began before and has not ended.
func (a *access) repeats(x *access) bool {
	if x.over || !(a.remote && x.remote || a.async && x.async) || a.strand != x.strand || x.release != nil {
		return false
	}
	return a.site.rank == x.site.rank && a.site.address == x.site.address && a.kind == x.kind && a.op == x.op &&
		a.element == x.element && a.win == x.win && a.remote == x.remote && a.ordered == x.ordered &&
		slices.Equal(a.spans, x.spans) && slices.Equal(a.held, x.held) && slices.Equal(a.typed, x.typed)
}

// join has x, which is in the space, stand for a too: there may be a million of them.
func (a *access) join(x *access) {
	a.root, a.spans, a.typed = x, x.spans, x.typed
	x.others++
	x.group = a.group // who comes after it comes after what the latest comes after
}

// apart reports whether two accesses of one rank, of which none is an operation on a window, are no conflict. Only what
// an active request does is one with other accesses of its rank: one that has ended is no concern of MPI.
func (a *access) apart(x *access) bool {
	return !a.remote && !x.remote && a.site.rank == x.site.rank && (x.over || !a.async && !x.async)
}

// leave takes a back without an end, for whoever x stands for has the same.
func (a *access) leave() {
	if a.root != nil && !a.ended {
		a.ended = true
		a.root.others--
	}
}

func (a *access) low() uint64  { return a.spans[0].low }
func (a *access) high() uint64 { return a.spans[len(a.spans)-1].high }

// overlap returns the first bytes that both touch.
func overlap(a, b *access) (span, bool) {
	for i, k := 0, 0; i < len(a.spans) && k < len(b.spans); {
		x, y := a.spans[i], b.spans[k]
		if low, high := max(x.low, y.low), min(x.high, y.high); low < high {
			return span{low, high}, true
		}
		if x.high < y.high {
			i++
		} else {
			k++
		}
	}
	return span{}, false
}

// space holds the accesses to a rank's memory that others may still conflict with.
type space struct {
	pages map[uint64][]*access // by the pages that those of few touch
	large []*access            // the others
	last  map[lastKey]*access  // the latest of each place in the program that has ended
	count int
}

const (
	pageBits  = 12
	mostPages = 16
)

// lastKey names accesses of which only the latest counts once they have ended: whatever conflicts with one that has
// ended before conflicts with it.
type lastKey struct {
	strand  int // in which it ended: what conflicts with an access may come after an earlier one of another strand
	address uint64
	what    kind
	op      uint64
	win     *window
	span    span
	spans   int
	release bool
}

func (a *access) key() lastKey {
	return lastKey{a.end.strand, a.site.address, a.kind, a.op, a.win, span{a.low(), a.high()}, len(a.spans),
		a.release != nil}
}

func newSpace() *space { return &space{pages: map[uint64][]*access{}, last: map[lastKey]*access{}} }

// each calls use with the accesses that may touch what a touches.
func (s *space) each(a *access, use func(*access)) {
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	for _, x := range s.large {
		use(x)
	}
	if last-first >= mostPages {
		for page, all := range s.pages {
			for _, x := range all {
				if x.low()>>pageBits == page { // once
					use(x)
				}
			}
		}
		return
	}
	for page := first; page <= last; page++ {
		for _, x := range s.pages[page] {
			if page == max(first, x.low()>>pageBits) { // once
				use(x)
			}
		}
	}
}

func (s *space) add(a *access) {
	s.count++
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	if last-first >= mostPages {
		s.large = append(s.large, a)
		return
	}
	for page := first; page <= last; page++ {
		s.pages[page] = append(s.pages[page], a)
	}
}

func without(all []*access, gone func(*access) bool) []*access { return slices.DeleteFunc(all, gone) }

// remove takes an access away.
func (s *space) remove(a *access) {
	s.count--
	gone := func(x *access) bool { return x == a }
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	if last-first >= mostPages {
		s.large = without(s.large, gone)
		return
	}
	for page := first; page <= last; page++ {
		if s.pages[page] = without(s.pages[page], gone); len(s.pages[page]) == 0 {
			delete(s.pages, page)
		}
	}
}

// ended notes that an access has ended: an earlier one of the same place in the program does not count any longer.
func (s *space) ended(a *access) {
	key := a.key()
	if old := s.last[key]; old != nil && old != a && slices.Equal(old.spans, a.spans) &&
		slices.Equal(old.held, a.held) && old.element == a.element && slices.Equal(old.typed, a.typed) {
		s.remove(old)
	}
	s.last[key] = a
}

// free takes away what has been done with memory that is given back, but for what has been done with it as a window's:
// who gets it next is ordered behind that by who gives it.
func (s *space) free(memory span) {
	s.dropThose(memory, func(a *access) bool { return a.over && a.win == nil })
}

// drop takes away all that has been done with memory that nobody uses any longer.
func (s *space) drop(memory span) { s.dropThose(memory, func(*access) bool { return true }) }

func (s *space) dropThose(memory span, is func(*access) bool) {
	var gone []*access
	s.each(&access{spans: []span{memory}}, func(a *access) {
		if memory.low <= a.low() && a.high() <= memory.high && is(a) {
			gone = append(gone, a)
		}
	})
	for _, a := range gone {
		s.remove(a)
		a.dropped = true
		if key := a.key(); s.last[key] == a {
			delete(s.last, key)
		}
	}
}

// forget takes away what is ordered before all that can follow: every rank comes after it.
func (s *space) forget(all vector) {
	gone := func(a *access) bool { return a.endedBefore(all) }
	s.large = without(s.large, gone)
	s.count = len(s.large)
	for page, accesses := range s.pages {
		if accesses = without(accesses, gone); len(accesses) == 0 {
			delete(s.pages, page)
		} else {
			s.pages[page] = accesses
			s.count += len(accesses)
		}
	}
	for key, a := range s.last {
		if gone(a) {
			delete(s.last, key)
		}
	}
}

// merged sorts spans and joins those that touch.
func merged(spans []span) []span {
	if !slices.IsSortedFunc(spans, func(a, b span) int { return cmp.Compare(a.low, b.low) }) {
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	}
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.low <= out[n-1].high {
			out[n-1].high = max(out[n-1].high, s.high)
		} else if s.low < s.high {
			out = append(out, s)
		}
	}
	return out
}
