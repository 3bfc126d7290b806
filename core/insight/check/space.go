package check

import (
	"cmp"
	"slices"
)

// kind is the effect of an access.
type kind uint8

const (
	reads kind = iota
	writes
	updates // an accumulate, which is atomic for each element
)

// span is a range of bytes: low <= address < high.
type span struct{ low, high uint64 }

// access is one access of an operation, another call or the program to a rank's memory.
type access struct {
	site      *callSite
	win       *window // the window through which the access is made; else nil
	kind      kind
	op        uint64 // reduction operation of updates, such as MPI_SUM
	element   uint64 // handle of the predefined datatype of updates; 0 if there are several
	typed     []typedSpan
	byProgram bool // a load or store of the program
	atomic    bool // an atomic load or store of the program
	ordered   bool // updates of the same origin are ordered
	remote    bool // made by an operation on a window, at the target or to the origin's buffer
	async     bool // made for a request, which may be pending after the call returns
	strand    int  // strand that started the access, if it is remote or async
	group     *operation
	spans     []span // ascending and separated by gaps
	held      []heldLock
	file      *file     // the file, if the access is to bytes of a file
	completed timestamp // for a write to a file: completion of the call or its request; zero before that
	owner     int       // the rank that owns the memory
	clock     vector    // for an atomic store: a rank that sees the store is ordered after this clock
	// If set, this entry marks only the beginning of an update and is no access. A rank that sees the update is
	// ordered after this clock.
	updateClock      vector
	isDeferred       bool    // not in a space yet, because the owner of the memory is still unknown
	root             *access // the access that represents this one in the space; nil if this one is in the space
	representedCount int     // number of represented accesses that have not ended
	hasEnded         bool    // this access itself has ended
	isDropped        bool    // removed from its space, because the memory was freed
	isOver           bool    // this access and all accesses that it represents have ended; `end` is the timestamp
	end              timestamp
	secondEnd        *timestamp // end of the access by its own strand, if another strand had ended it before
}

// endedBefore reports whether end or secondEnd of the access precedes v.
func (a *access) endedBefore(v vector) bool {
	return a.isOver && (a.end.before(v) || a.secondEnd != nil && a.secondEnd.before(v))
}

// endAgain records that the strand that started an operation has ended its access after another strand had ended it.
func (a *access) endAgain(at timestamp) {
	if a.root != nil {
		a = a.root
	}
	if a.isOver && a.end.strand != at.strand {
		a.secondEnd = &at
	}
}

// repeats reports whether access a, by an operation or request, equals access x by an earlier operation or request that
// has not ended. Then any access that conflicts with a also conflicts with x, because x began earlier.
func (a *access) repeats(x *access) bool {
	if x.isOver || !(a.remote && x.remote || a.async && x.async) || a.strand != x.strand || x.updateClock != nil {
		return false
	}
	return a.site.rank == x.site.rank && a.site.address == x.site.address && a.kind == x.kind && a.op == x.op &&
		a.element == x.element && a.win == x.win && a.remote == x.remote && a.ordered == x.ordered &&
		slices.Equal(a.spans, x.spans) && slices.Equal(a.held, x.held) && slices.Equal(a.typed, x.typed)
}

// representBy makes x, which is in the space, also represent a, so that a need not be in the space. This saves memory:
// a program may have a million equal accesses that have not ended.
func (a *access) representBy(x *access) {
	a.root, a.spans, a.typed = x, x.spans, x.typed
	x.representedCount++
	x.group = a.group // a rank that is ordered after x is ordered after the latest group
}

// cannotConflict reports whether two accesses cannot conflict. This holds if both are by the same rank and neither is
// by an operation on a window, because their order then concerns only the program's own threads. Exception: x has not
// ended, and one of the two belongs to a request. MPI forbids such accesses until the request is complete.
func (a *access) cannotConflict(x *access) bool {
	return !a.remote && !x.remote && a.site.rank == x.site.rank && (x.isOver || !a.async && !x.async)
}

// abandon ends access a if another access represents a. It does not record when a ended, because only the end of the
// representing access counts.
func (a *access) abandon() {
	if a.root != nil && !a.hasEnded {
		a.hasEnded = true
		a.root.representedCount--
	}
}

func (a *access) low() uint64  { return a.spans[0].low }
func (a *access) high() uint64 { return a.spans[len(a.spans)-1].high }

// overlap returns the first range of bytes that both accesses touch.
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

// space holds the accesses to a rank's memory that later accesses may conflict with.
type space struct {
	pages  map[uint64][]*access // accesses to at most maxPages pages, by page
	large  []*access            // accesses to many pages
	latest map[lastKey]*access  // the latest ended access with each key
	count  int
}

const (
	pageBits = 12
	maxPages = 16
)

// lastKey identifies similar accesses. Of the ended accesses with the same key, the space keeps only the latest. The
// earlier ones are not needed, because any access that conflicts with an earlier one also conflicts with the latest.
type lastKey struct {
	// The strand that ended the access. An access of one strand cannot replace an earlier access of another strand,
	// because a future access may be ordered after only one of the two.
	strand    int
	address   uint64
	kind      kind
	op        uint64
	win       *window
	span      span
	spanCount int
	release   bool
}

func (a *access) key() lastKey {
	return lastKey{a.end.strand, a.site.address, a.kind, a.op, a.win, span{a.low(), a.high()}, len(a.spans),
		a.updateClock != nil}
}

func newSpace() *space { return &space{pages: map[uint64][]*access{}, latest: map[lastKey]*access{}} }

// each calls the function `use` once with each access that may touch the pages of a.
func (s *space) each(a *access, use func(*access)) {
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	for _, x := range s.large {
		use(x)
	}
	if last-first >= maxPages {
		for page, all := range s.pages {
			for _, x := range all {
				if x.low()>>pageBits == page { // visits x only once
					use(x)
				}
			}
		}
		return
	}
	for page := first; page <= last; page++ {
		for _, x := range s.pages[page] {
			if page == max(first, x.low()>>pageBits) { // visits x only once
				use(x)
			}
		}
	}
}

func (s *space) add(a *access) {
	s.count++
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	if last-first >= maxPages {
		s.large = append(s.large, a)
		return
	}
	for page := first; page <= last; page++ {
		s.pages[page] = append(s.pages[page], a)
	}
}

func removeIf(all []*access, gone func(*access) bool) []*access { return slices.DeleteFunc(all, gone) }

func (s *space) remove(a *access) {
	s.count--
	gone := func(x *access) bool { return x == a }
	first, last := a.low()>>pageBits, (a.high()-1)>>pageBits
	if last-first >= maxPages {
		s.large = removeIf(s.large, gone)
		return
	}
	for page := first; page <= last; page++ {
		if s.pages[page] = removeIf(s.pages[page], gone); len(s.pages[page]) == 0 {
			delete(s.pages, page)
		}
	}
}

// noteEnd records the end of an access, and removes the previous ended access with the same key.
func (s *space) noteEnd(a *access) {
	key := a.key()
	if old := s.latest[key]; old != nil && old != a && slices.Equal(old.spans, a.spans) &&
		slices.Equal(old.held, a.held) && old.element == a.element && slices.Equal(old.typed, a.typed) {
		s.remove(old)
	}
	s.latest[key] = a
}

// free removes the ended accesses to memory that is freed, except accesses through a window. Later users of the memory
// cannot conflict with the removed accesses, because the allocator reuses the memory only after the call that frees it.
func (s *space) free(memory span) {
	s.dropMatching(memory, func(a *access) bool { return a.isOver && a.win == nil })
}

// drop removes all accesses to memory that is no longer in use.
func (s *space) drop(memory span) { s.dropMatching(memory, func(*access) bool { return true }) }

func (s *space) dropMatching(memory span, is func(*access) bool) {
	var dropped []*access
	s.each(&access{spans: []span{memory}}, func(a *access) {
		if memory.low <= a.low() && a.high() <= memory.high && is(a) {
			dropped = append(dropped, a)
		}
	})
	for _, a := range dropped {
		s.remove(a)
		a.isDropped = true
		if key := a.key(); s.latest[key] == a {
			delete(s.latest, key)
		}
	}
}

// forget removes the accesses for which the function `gone` returns true, because they precede all future accesses.
func (s *space) forget(gone func(*access) bool) {
	s.large = removeIf(s.large, gone)
	s.count = len(s.large)
	for page, accesses := range s.pages {
		if accesses = removeIf(accesses, gone); len(accesses) == 0 {
			delete(s.pages, page)
		} else {
			s.pages[page] = accesses
		}
		for _, a := range accesses {
			if a.low()>>pageBits == page { // counts a only once
				s.count++
			}
		}
	}
	for key, a := range s.latest {
		if gone(a) {
			delete(s.latest, key)
		}
	}
}

// merged sorts spans and joins those that touch or overlap.
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
