// Package handle maps the handles that applications hold to the Go objects behind them.
//
// A handle is a positive 32-bit integer
//
//	bits 27..30 kind | bits 0..26 number
//
// and, because every kind is at least 1, never below 0x1000, where the ABI's predefined handles lie. The C handle,
// MPI_X_toint and Fortran's MPI_VAL are this same number.
//
// A stale handle shall be refused, not taken for its successor, so numbers come again as late as 27 bits allow. A table
// has S entries, a power of two, and number n is in entry n mod S: an entry that is used again gets its last number
// plus S. Free entries are used in the order in which they became free, and a table grows when half of its entries are
// live. So a number comes again after (S - L) * 2^27 / S new handles of its kind while L are live: after 134,217,728 if
// none is, never before 67,108,864 up to half of the most that can be live; beyond that, 2^27/S for each free entry. A
// table from which most of many handles have gone shrinks, and may pass over numbers where two entries become one, half
// of all at most. C's tables of the handles that C makes have this rule, too (capi/base/table.h), and do not shrink.
// Windows have numbers that all members agree on; core/rma says when those come again.
package handle

import (
	"sync"

	"gompirma/core/trim"
)

// Kind says what a handle stands for.
type Kind uint32

// The kinds, in the order of the ABI's predefined handles.
const (
	Op Kind = 1 + iota
	Comm
	Group
	Win
	File
	Session
	Message
	Info
	Errhandler
	Request
	Datatype
)

const (
	numberBits = 27
	// Numbers is how many numbers there are in each kind.
	Numbers    = 1 << numberBits
	numberMask = Numbers - 1
	// MaxLive is how many handles of one kind a process can hold, MaxWindows how many of windows.
	MaxLive    = 1 << 24
	MaxWindows = 1<<20 - 1

	leastSize = 64 // entries of a table
)

// Make composes a handle.
func Make(kind Kind, number uint32) uintptr {
	return uintptr(kind)<<numberBits | uintptr(number&numberMask)
}

// Number returns the number in h.
func Number(h uintptr) uint32 { return uint32(h) & numberMask }

// KindOf returns the kind in h; 0 for a predefined handle or a number that no table made.
func KindOf(h uintptr) Kind {
	if h>>31 != 0 {
		return 0
	}
	return Kind(h >> numberBits)
}

type entry[T any] struct {
	object *T // nil: free
	number uint32
	// of a free entry: the one that became free after it; of another: the number after which the entry goes on
	next uint32
}

// goesOn returns the number after which the entry goes on.
func (e *entry[T]) goesOn() uint32 {
	if e.object != nil {
		return e.next
	}
	return e.number
}

// Table holds the live objects of one kind. The zero value is not ready: use NewTable. Safe for concurrent use.
type Table[T any] struct {
	kind Kind
	most int    // handles that can be live; all but tests have MaxLive
	mask uint32 // of numbers; all but tests have numberMask

	mu          sync.RWMutex
	entries     []entry[T]
	first, last uint32 // of the free entries
	free        int    // how many there are
	watch       trim.Watch
}

// NewTable makes an empty table for handles of the given kind.
func NewTable[T any](kind Kind) *Table[T] {
	t := &Table[T]{kind: kind, most: MaxLive, mask: numberMask}
	t.watch = trim.NewWatch(t.settle)
	return t
}

// Most returns how many handles can be live.
func (t *Table[T]) Most() int { return t.most }

// Add stores object and returns its handle; ok is false when as many handles are live as can be.
func (t *Table[T]) Add(object *T) (h uintptr, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if 2*t.free <= len(t.entries) && len(t.entries) < t.most {
		t.growLocked()
	}
	if t.free == 0 {
		return 0, false
	}
	e := &t.entries[t.first]
	t.first = e.next
	t.free--
	e.number = (e.number + uint32(len(t.entries))) & t.mask
	e.next = e.number
	e.object = object
	t.watch.Count(t.weightLocked())
	return Make(t.kind, e.number), true
}

// pushLocked appends an entry to those that are free.
func (t *Table[T]) pushLocked(index uint32) {
	if t.free == 0 {
		t.first = index
	} else {
		t.entries[t.last].next = index
	}
	t.last = index
	t.free++
}

// growLocked doubles the table. Where an entry goes on after number n, that goes to one of two entries of the new
// table; the other gets n - S, the number before it, so that n + S comes next there, and n + 2S here.
func (t *Table[T]) growLocked() {
	old, next, free := t.entries, t.first, t.free
	half := uint32(len(old))
	size := max(2*half, leastSize)
	t.entries, t.free = make([]entry[T], size), 0
	if half == 0 {
		for i := range size {
			t.entries[i].number = (i - size) & t.mask
			t.pushLocked(i)
		}
		return
	}
	for i := range old {
		e := &old[i]
		at, n := e.number&(size-1), e.goesOn()
		t.entries[n&(size-1)].number = n
		t.entries[n&(size-1)^half].number = (n - half) & t.mask
		if e.object != nil {
			t.entries[at] = entry[T]{object: e.object, number: e.number, next: t.entries[at].number}
		}
		t.pushLocked(at ^ half)
	}
	for ; free > 0; free-- {
		t.pushLocked(old[next].number & (size - 1))
		next = old[next].next
	}
}

// shrinkLocked halves the table, unless two live entries would have one place. Of two entries the one that is to come
// goes on after the later number.
func (t *Table[T]) shrinkLocked() bool {
	old, next, free := t.entries, t.first, t.free
	half := uint32(len(old) / 2)
	for i := range half {
		if old[i].object != nil && old[i+half].object != nil {
			return false
		}
	}
	t.entries, t.free = make([]entry[T], half), 0
	for i := range half {
		a, b := &old[i], &old[i+half]
		n := a.goesOn()
		if later := b.goesOn(); (later-n)&t.mask <= t.mask/2 {
			n = later
		}
		e := &t.entries[i]
		e.number = n
		for _, live := range [...]*entry[T]{a, b} {
			if live.object != nil {
				*e = entry[T]{object: live.object, number: live.number, next: n}
			}
		}
	}
	seen := make([]bool, half) // one of the two is
	for ; free > 0; free-- {
		i := next & (half - 1)
		switch {
		case t.entries[i].object != nil:
		case seen[i]:
			t.pushLocked(i)
		default:
			seen[i] = true
		}
		next = old[next].next
	}
	return true
}

// settle makes the table smaller, as far as that is possible, when most of many objects have gone.
func (t *Table[T]) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.watch.Over(t.weightLocked()) {
		return
	}
	for len(t.entries) > leastSize && 8*(len(t.entries)-t.free) <= len(t.entries) && t.shrinkLocked() {
	}
}

// weightLocked returns how much memory there is, as trim counts it.
func (t *Table[T]) weightLocked() int {
	live := len(t.entries) - t.free
	switch t.kind {
	case Datatype, Comm:
		return 8 * live
	}
	return 2 * live
}

// findLocked returns the entry of a live handle, or nil.
func (t *Table[T]) findLocked(h uintptr) *entry[T] {
	if KindOf(h) != t.kind || len(t.entries) == 0 {
		return nil
	}
	e := &t.entries[Number(h)&uint32(len(t.entries)-1)]
	if e.number != Number(h) || e.object == nil {
		return nil
	}
	return e
}

// Get returns the object behind h, or nil if h is not a live handle of this table.
func (t *Table[T]) Get(h uintptr) *T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.findLocked(h); e != nil {
		return e.object
	}
	return nil
}

// Remove takes the object behind h out and returns it, or nil if h is not a live handle of this table.
func (t *Table[T]) Remove(h uintptr) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.findLocked(h)
	if e == nil {
		return nil
	}
	object := e.object
	e.number = e.goesOn()
	e.object = nil
	t.pushLocked(Number(h) & uint32(len(t.entries)-1))
	t.watch.Count(t.weightLocked())
	return object
}

// Len returns the number of live handles.
func (t *Table[T]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.entries) - t.free
}
