// Package handle owns the mapping from the handles that applications hold to Go objects. It must not depend on the
// types of the objects.
//
// A handle is a positive 32-bit integer
//
//	bits 27..30 kind | bits 0..26 number
//
// and, because every kind is at least 1, never below 0x1000, where the ABI's predefined handles lie. The C handle,
// MPI_X_toint and Fortran's MPI_VAL are this same number.
//
// A stale handle must be detected when it is used, so a number must not be reused soon. Therefore numbers repeat as
// late as 27 bits allow. A table has S entries, where S is a power of two. Number n is in entry n mod S, so each time
// an entry is reused, its number increases by S. Free entries are reused in the order in which they became free. A
// table grows when half of its entries are live.
//
// So with L live handles, a number repeats after (S - L) * 2^27 / S new handles of its kind. This is 134,217,728 if no
// handle is live, and at least 67,108,864 with up to MaxLive/2 live handles. With more live handles, a number repeats
// after 2^27/S new handles for each free entry. A table shrinks after most of a large number of handles have been
// freed. It then combines pairs of entries, which may skip at most half of the numbers.
//
// C's tables of the handles that C creates follow this rule too (capi/base/table.h), but do not shrink. Windows have
// numbers on which all members agree; core/rma documents when those repeat.
package handle

import (
	"sync"

	"gompirma/core/trim"
)

// Kind is the kind of object of a handle, in the order of the ABI's predefined handles. MaxLive is the maximum number
// of live handles of one kind in a process. MaxWindows is the maximum for windows.
type Kind uint32

const (
	// Numbers is the number of different handle numbers of each kind.
	Numbers    = 1 << numberBits
	numberMask = Numbers - 1
	minEntries = 64 // minimum number of entries of a table
)

// Make returns the handle of a kind and a number.
func Make(kind Kind, number uint32) uintptr {
	return uintptr(kind)<<numberBits | uintptr(number&numberMask)
}

// Number returns the number in h.
func Number(h uintptr) uint32 { return uint32(h) & numberMask }

// KindOf returns the kind in h; 0 for a predefined handle or a number that no table has created.
func KindOf(h uintptr) Kind {
	if h>>31 != 0 {
		return 0
	}
	return Kind(h >> numberBits)
}

type entry[T any] struct {
	object *T // nil if the entry is free
	number uint32
	// In a free entry: the index of the next entry in the free list. In a live entry: the number that lastNumber
	// returns.
	next uint32
}

// lastNumber returns the number on which the entry's next number is based: the next number is lastNumber plus the
// number of entries. It is usually the latest number of the entry. After shrinkLocked it may be the latest number of
// the other entry that was combined into this one.
func (e *entry[T]) lastNumber() uint32 {
	if e.object != nil {
		return e.next
	}
	return e.number
}

// Table holds the live objects of one kind. NewTable creates a table; the zero value is not usable. A Table is safe for
// concurrent use.
type Table[T any] struct {
	kind    Kind
	maxLive int    // limit of live handles; MaxLive except in tests
	mask    uint32 // mask of numbers; numberMask except in tests

	reserved T // placeholder: the object of a handle that is only reserved

	mu          sync.RWMutex
	entries     []entry[T]
	first, last uint32 // indices of the first and the last entry of the free list
	free        int    // length of the free list
	watch       trim.Watch
}

// NewTable returns an empty table for handles of the given kind.
func NewTable[T any](kind Kind) *Table[T] {
	t := &Table[T]{kind: kind, maxLive: MaxLive, mask: numberMask}
	t.watch = trim.NewWatch(t.trim)
	return t
}

// MaxLive returns the limit of live handles.
func (t *Table[T]) MaxLive() int { return t.maxLive }

// Add stores the argument `object` and returns its handle. ok is false if the limit of live handles is reached.
func (t *Table[T]) Add(object *T) (h uintptr, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if 2*t.free <= len(t.entries) && len(t.entries) < t.maxLive {
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
	t.watch.Count(t.trimUnitsLocked())
	return Make(t.kind, e.number), true
}

// pushLocked appends an entry to the free list.
func (t *Table[T]) pushLocked(index uint32) {
	if t.free == 0 {
		t.first = index
	} else {
		t.entries[t.last].next = index
	}
	t.last = index
	t.free++
}

// growLocked doubles the table from S to 2S entries. An entry with last number n becomes two entries. One of them is
// entry n mod 2S; its last number is n, so its next number is n + 2S. The other entry gets the last number n - S, so
// its next number is n + S.
func (t *Table[T]) growLocked() {
	old, next, free := t.entries, t.first, t.free
	half := uint32(len(old))
	size := max(2*half, minEntries)
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
		at, n := e.number&(size-1), e.lastNumber()
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

// shrinkLocked halves the table. It returns false if two live entries would share an entry. The numbers of each new
// entry continue after the later of the last numbers of its two old entries.
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
		n := a.lastNumber()
		if later := b.lastNumber(); (later-n)&t.mask <= t.mask/2 {
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
	seen := make([]bool, half) // true if one of the two old entries has been found in the free list
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

// trim shrinks the table as far as possible, if most of a large number of objects have been freed.
func (t *Table[T]) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.watch.ShouldTrim(t.trimUnitsLocked()) {
		return
	}
	for len(t.entries) > minEntries && 8*(len(t.entries)-t.free) <= len(t.entries) && t.shrinkLocked() {
	}
}

// trimUnitsLocked returns the memory of the live objects for trim.Watch, in units of about 100 bytes: a datatype or
// communicator has 8 units, any other object has 2.
func (t *Table[T]) trimUnitsLocked() int {
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

// Reserve returns a handle for an object that Set stores later. Until then Get returns nil for it. ok is false if the
// limit of live handles is reached.
func (t *Table[T]) Reserve() (h uintptr, ok bool) { return t.Add(&t.reserved) }

// Set stores the object of a reserved handle.
func (t *Table[T]) Set(h uintptr, object *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.findLocked(h).object = object
}

// Get returns the object behind h, or nil if h is not a live handle of this table.
func (t *Table[T]) Get(h uintptr) *T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.findLocked(h); e != nil && e.object != &t.reserved {
		return e.object
	}
	return nil
}

// Remove removes the object of h and returns it, or nil if h is not a live handle of this table.
func (t *Table[T]) Remove(h uintptr) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.findLocked(h)
	if e == nil {
		return nil
	}
	object := e.object
	e.number = e.lastNumber()
	e.object = nil
	t.pushLocked(Number(h) & uint32(len(t.entries)-1))
	t.watch.Count(t.trimUnitsLocked())
	return object
}

// Len returns the number of live handles.
func (t *Table[T]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.entries) - t.free
}
