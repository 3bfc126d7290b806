// Package handle maps the handles that applications hold to the Go objects behind them.
//
// A handle is a positive 32-bit integer
//
//	bits 27..30 kind | bits 20..26 generation | bits 0..19 index
//
// and, because every kind is at least 1, never below 0x1000, where the ABI's predefined handles lie. The C handle, MPI_X_toint and Fortran's
// MPI_VAL are this same number. The generation moves on each time an index is used again, so a stale handle is refused, not taken for its successor.
package handle

import "sync"

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
	indexBits = 20
	genBits   = 7
	kindShift = indexBits + genBits
	// MaxIndex is the number of live handles of one kind that a process can hold.
	MaxIndex  = 1 << indexBits
	indexMask = MaxIndex - 1
	genMask   = 1<<genBits - 1
)

// Make composes a handle.
func Make(kind Kind, gen, index uint32) uintptr {
	return uintptr(kind)<<kindShift | uintptr(gen&genMask)<<indexBits | uintptr(index&indexMask)
}

// Index returns the table index in h.
func Index(h uintptr) uint32 { return uint32(h) & indexMask }

// Gen returns the generation in h.
func Gen(h uintptr) uint32 { return uint32(h) >> indexBits & genMask }

// KindOf returns the kind in h; 0 for a predefined handle or a number that no table made.
func KindOf(h uintptr) Kind {
	if h>>31 != 0 {
		return 0
	}
	return Kind(h >> kindShift)
}

type entry[T any] struct {
	object *T // nil: free
	gen    uint32
}

// Table holds the live objects of one kind. The zero value is not ready: use NewTable. Safe for concurrent use.
type Table[T any] struct {
	kind Kind

	mu      sync.RWMutex
	entries []entry[T]
	free    []uint32 // indices to use again, oldest last
	live    int
}

// NewTable makes an empty table for handles of the given kind.
func NewTable[T any](kind Kind) *Table[T] { return &Table[T]{kind: kind} }

// Add stores object and returns its handle; ok is false when MaxIndex handles are live.
func (t *Table[T]) Add(object *T) (h uintptr, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var index uint32
	if n := len(t.free); n > 0 {
		index = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		if len(t.entries) == MaxIndex {
			return 0, false
		}
		index = uint32(len(t.entries))
		t.entries = append(t.entries, entry[T]{})
	}
	t.entries[index].object = object
	t.live++
	return Make(t.kind, t.entries[index].gen, index), true
}

// Get returns the object behind h, or nil if h is not a live handle of this table.
func (t *Table[T]) Get(h uintptr) *T {
	if KindOf(h) != t.kind {
		return nil
	}
	index := Index(h)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if int(index) >= len(t.entries) || t.entries[index].gen != Gen(h) {
		return nil
	}
	return t.entries[index].object
}

// Remove takes the object behind h out and returns it, or nil if h is not a live handle of this table.
func (t *Table[T]) Remove(h uintptr) *T {
	if KindOf(h) != t.kind {
		return nil
	}
	index := Index(h)
	t.mu.Lock()
	defer t.mu.Unlock()
	if int(index) >= len(t.entries) || t.entries[index].gen != Gen(h) || t.entries[index].object == nil {
		return nil
	}
	object := t.entries[index].object
	t.entries[index].object = nil
	t.entries[index].gen = (t.entries[index].gen + 1) & genMask
	t.free = append(t.free, index)
	t.live--
	return object
}

// Len returns the number of live handles.
func (t *Table[T]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.live
}
