package datatype

import (
	"fmt"
	"math"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Type is a datatype, predefined or derived.
type Type struct {
	h        uintptr
	number   uintptr // number in the table `derived`, which is the handle itself if Handles is nil
	basic    *Basic  // description of a predefined type, including unnamed types; else nil
	args     args    // arguments of its constructor
	elem     *Basic  // the predefined type that all elements have; nil if they differ or there are none
	elements int64   // number of elements of predefined types; a pair type counts as one
	numbers  int64   // number of basic elements; a pair type counts as two
	unit     int64   // bytes of each element that `numbers` counts; 0 if their sizes differ or there are none
	external int64   // bytes in external32
	reversed int32   // value of Facts.Reversed
	sig      signature
	lb, ub   int64
	align    int32 // the largest alignment of an element, 1 without elements
	resized  bool  // lb and ub were set explicitly
	bytes    placed
	// The layout of the elements, if elem is set. It includes the gaps inside elements; if there are none, it has
	// the same node as `bytes`.
	elems placed

	committed atomic.Bool
	// Number of references: one for the application's handle, one for each type constructed from this type, and one
	// for each operation that uses it.
	refs atomic.Int64
	prog atomic.Pointer[[]int64] // the program; nil if it has not been assembled yet
}

// predefined holds the predefined types at handle - firstBasic.
var predefined [endBasic - firstBasic]*Type

// Handles creates the handles of derived types; capi sets it. This package identifies a derived type by its number in
// the table `derived`, and Handles maps handles to these numbers. If Handles is nil, as in tests, the number itself is
// the handle.
var Handles interface {
	// Add assigns a handle to a type. ok is false if there is no memory, or the limit of live handles is reached.
	Add(t *Type, number uintptr) (h uintptr, ok bool)
	// Find returns the number of a live type, 0 if no type has the handle.
	Find(h uintptr) uintptr
	// Remove frees a handle.
	Remove(h uintptr)
	// Commit marks the live type with this handle as committed. Committed returns whether the handle is that of a
	// live committed type.
	Commit(h uintptr)
	Committed(h uintptr) bool
}

// derived holds the derived types by number. MPI_Type_free removes a type from the table even if operations still use
// it.
var derived = handle.NewTable[Type](handle.Datatype)

// Live returns the number of derived types whose handles are not freed.
func Live() int { return derived.Len() }

func newBasic(b *Basic) *Type {
	t := &Type{
		h: b.Handle, basic: b, args: args{combiner: abi.MPI_COMBINER_NAMED}, elem: b, elements: 1, numbers: 1,
		external: b.external(), reversed: b.reversed(), align: int32(b.Align), ub: b.Extent,
	}
	t.unit = b.Size
	if b.Class == Pair {
		t.numbers, t.unit = 2, BasicOf(b.Value).Size
		if 2*t.unit != b.Size {
			t.unit = 0
		}
	}
	var build builder
	t.elems = placed{0, block(b.Extent)}
	t.bytes = t.elems
	if b.Size != b.Extent {
		v, i := BasicOf(b.Value), BasicOf(b.Index)
		t.bytes = build.concat([]placed{{0, block(v.Size)}, {b.IndexAt, block(i.Size)}})
	}
	t.sig = signature{{t, 1}}
	t.refs.Store(1)
	t.committed.Store(true)
	return t
}

// Get returns the type with handle h. Errors: MPI_ERR_TYPE if h is MPI_DATATYPE_NULL or not the handle of a type.
func Get(h uintptr) (*Type, error) {
	if h-firstBasic < uintptr(len(predefined)) {
		if t := predefined[h-firstBasic]; t != nil {
			return t, nil
		}
	} else if t := lookup(h); t != nil {
		return t, nil
	}
	switch {
	case h == abi.MPI_DATATYPE_NULL:
		return nil, mpierr.New(abi.MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
	case handle.KindOf(h) == handle.Datatype:
		return nil, mpierr.New(abi.MPI_ERR_TYPE, "datatype %#x has been freed, or was never created", h)
	}
	return nil, mpierr.New(abi.MPI_ERR_TYPE, "%#x is not a datatype", h)
}

func lookup(h uintptr) *Type {
	if Handles != nil {
		h = Handles.Find(h)
	}
	return derived.Get(h)
}

// AssignHandle stores handle h in t, which was constructed with the form HandleByCaller. It adds t to the table
// `derived` and returns its number there. The result ok is false if the table is full.
func AssignHandle(t *Type, h uintptr) (number uintptr, ok bool) {
	t.h = h
	t.number, ok = derived.Add(t)
	return t.number, ok
}

// ByNumber returns the type with a number, nil if no type has it.
func ByNumber(number uintptr) *Type { return derived.Get(number) }

// RemoveNumber removes the type with a number.
func RemoveNumber(number uintptr) { derived.Remove(number) }

// GetCommitted returns the type with handle h if it may be used in communication. Errors: MPI_ERR_TYPE if h is not the
// handle of a type, or the type is not committed.
func GetCommitted(h uintptr) (*Type, error) {
	t, err := Get(h)
	if err == nil && !t.Committed() {
		return nil, mpierr.New(abi.MPI_ERR_TYPE, "datatype %s is not committed: call MPI_Type_commit first", t)
	}
	return t, err
}

// GetFor does the same as GetCommitted for a call with `count` elements. If `count` is 0, it accepts MPI_DATATYPE_NULL,
// which some programs pass if they have no data.
func GetFor(h uintptr, count int64) (*Type, error) {
	if count == 0 && h == abi.MPI_DATATYPE_NULL {
		h = abi.MPI_BYTE
	}
	return GetCommitted(h)
}

// Handle returns the handle. It does not change when the type is freed.
func (t *Type) Handle() uintptr { return t.h }

// Basic returns the description of a predefined type, nil for a derived type. An unnamed type has the description of
// the named type with the same representation.
func (t *Type) Basic() *Basic { return t.basic }

// Elem returns the predefined type that all elements have, nil if they have different types or the type is empty.
func (t *Type) Elem() *Basic { return t.elem }

// Size returns the bytes of data (MPI-5.0 5.1.5).
func (t *Type) Size() int64 {
	if t.basic != nil {
		return t.basic.Size
	}
	if t.bytes.n == nil {
		return 0
	}
	return t.bytes.n.size
}

// LB returns the lower bound (MPI-5.0 5.1.7).
func (t *Type) LB() int64 { return t.lb }

// Extent returns the distance between consecutive copies (MPI-5.0 5.1.7).
func (t *Type) Extent() int64 { return t.ub - t.lb }

// TrueExtent returns the displacement of the lowest byte of data, and the distance from this byte to one past the
// highest byte (MPI-5.0 5.1.8).
func (t *Type) TrueExtent() (lb, extent int64) {
	if t.bytes.n == nil {
		return 0, 0
	}
	return t.bytes.disp + t.bytes.n.lo, t.bytes.n.hi - t.bytes.n.lo
}

// Committed returns whether the type may be used in communication.
func (t *Type) Committed() bool {
	if t.committedByHandles() {
		return Handles.Committed(t.h)
	}
	return t.committed.Load()
}

// committedByHandles returns true if Handles stores the committed state of the type, and false if the type itself
// stores it.
func (t *Type) committedByHandles() bool { return Handles != nil && t.basic == nil && t.h != 0 }

// Commit makes the type usable in communication (MPI-5.0 5.1.9). Committing twice is allowed.
func (t *Type) Commit() {
	if t.committedByHandles() {
		Handles.Commit(t.h)
		return
	}
	t.committed.Store(true)
}

// Program returns the flattened form, which must not be changed. The first call creates it, so only types that are used
// in messages have one.
func (t *Type) Program() []int64 {
	if p := t.prog.Load(); p != nil {
		return *p
	}
	p := t.Assemble(nil)
	t.prog.CompareAndSwap(nil, &p)
	return *t.prog.Load()
}

// Assemble creates the flattened form for a caller that stores it. It uses the slice `room` if that is large enough.
func (t *Type) Assemble(room []int64) []int64 {
	h := head{elements: t.elements, lb: t.lb, extent: t.ub - t.lb, bytes: t.bytes, elems: t.elems}
	if t.elem != nil {
		h.elem, h.elemSize = t.elem.Handle, t.elem.Extent
	}
	return assemble(h, room)
}

// Layout returns the description of the type by its program.
func (t *Type) Layout() Layout { return Layout{t.Program()} }

// IsUnmapped returns whether data that begins lo bytes after an address lies in the first page of the address space.
// Such data is an error of the program. For example, the address is NULL or MPI_IN_PLACE, or it is MPI_BOTTOM and the
// displacements of the type are not addresses.
func IsUnmapped(address uintptr, lo int64) bool { return address+uintptr(lo) < 4096 }

// InMemory returns an error if the data of count >= 0 copies cannot lie in mapped memory. Pack and Unpack may be called
// for all other buffers. The argument `what` names the buffer in error messages. Errors: MPI_ERR_BUFFER if the data is
// in the first page or exceeds the address space; MPI_ERR_COUNT if the span of the copies does not fit 64 bits.
func (t *Type) InMemory(what string, address uintptr, count int64) error {
	lo, hi, fit := t.Layout().Bounds(count)
	switch {
	case !fit:
		return mpierr.New(abi.MPI_ERR_COUNT, "%d elements of datatype %s exceed the address space", count, t)
	case lo == hi:
		return nil
	case IsUnmapped(address, lo):
		return mpierr.New(abi.MPI_ERR_BUFFER, "the %s buffer at %#x is not valid memory: its %d bytes of "+
			"data, from offset %+d, begin below address 4096", what, address, count*t.Size(), lo)
	}
	first, length := address+uintptr(lo), uint64(hi)-uint64(lo)
	if length > math.MaxInt64 || uint64(first)+length < uint64(first) {
		return mpierr.New(abi.MPI_ERR_BUFFER,
			"the %s buffer at %#x has data from offset %+d to %+d, which exceeds the address "+
				"space", what, address,
			lo, hi)
	}
	return nil
}

// FitsAddressSpace returns whether 2n bytes from an address on certainly lie between the first page and the end of the
// address space. Most buffers pass this simple test; only for the others, callers must read the layout of the type.
func FitsAddressSpace(address uintptr, n int64) bool { return address-4096 < 1<<62 && n < 1<<61 }

// Retain acquires a reference for an operation or a type that uses t.
func (t *Type) Retain() *Type {
	if t.basic == nil {
		t.refs.Add(1)
	}
	return t
}

// Release releases a reference.
func (t *Type) Release() {
	if t.basic != nil || t.refs.Add(-1) != 0 {
		return
	}
	for _, old := range t.args.types {
		old.Release()
	}
}

// Free frees the handle. Operations and types that use the type continue (MPI-5.0 5.1.9). Errors: MPI_ERR_TYPE if t is
// predefined or already freed.
func (t *Type) Free() error {
	if t.Predefined() {
		return mpierr.New(abi.MPI_ERR_TYPE, "datatype %s is predefined and cannot be freed", t)
	}
	if derived.Remove(t.number) != t {
		return mpierr.New(abi.MPI_ERR_TYPE, "datatype %#x has been freed, or was never created", t.h)
	}
	if Handles != nil {
		Handles.Remove(t.h)
	}
	t.Release()
	return nil
}

// Predefined returns whether the library owns the type, so that the application must not free it. It is a named type,
// or a type that MPI_Type_create_f90_... or MPI_Type_get_value_index returned.
func (t *Type) Predefined() bool {
	switch t.args.combiner {
	case abi.MPI_COMBINER_NAMED, abi.MPI_COMBINER_F90_REAL, abi.MPI_COMBINER_F90_COMPLEX,
		abi.MPI_COMBINER_F90_INTEGER, abi.MPI_COMBINER_VALUE_INDEX:
		return true
	}
	return false
}

// Named returns the name of a type, "" if it has none (MPI-5.0 7.8). capi sets it, since capi stores the names that the
// application sets.
var Named = func(h uintptr) string {
	if b := BasicOf(h); b != nil {
		return b.Name
	}
	return ""
}

// String returns a description of the type for messages.
func (t *Type) String() string {
	if n := Named(t.h); n != "" {
		return n
	}
	return fmt.Sprintf("%#x (%d bytes, extent %d)", t.h, t.Size(), t.Extent())
}
