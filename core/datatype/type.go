package datatype

import (
	"fmt"
	"math"
	"math/bits"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Type is a datatype, predefined or derived. It is immutable, except that the application may commit it.
type Type struct {
	h       uintptr
	basic   *Basic  // description of a predefined type, including unnamed types; else nil
	program []int64 // layout program of a derived type, in memory of C; else nil
}

// predefined holds the predefined types at handle - firstBasic.
var predefined [endBasic - firstBasic]*Type

// Handles finds derived types, which C constructs; capi sets it. If it is nil, only predefined types exist.
var Handles interface {
	// Find returns the program of a live type, or nil if no type has the handle. The result `unnamed` is true if
	// MPI_Type_create_f90_integer, _real or _complex returned the type. The program exists until the type is freed
	// and all references are released.
	Find(h uintptr) (program []int64, unnamed bool)
	// Retain and Release acquire and release a reference to the type with this program.
	Retain(program []int64)
	Release(program []int64)
}

// Pack is implemented in C; capi sets it before the first use. It packs the data of `count` copies of a type, at an
// address of the application, into `dst`. It begins at byte `position` of the packed form. It stops when `dst` is full
// or no data is left, and returns the number of bytes. Precondition: InMemory has returned nil.
var Pack func(dst []byte, address uintptr, count int64, program []int64, position int64) int64

// Unpack copies src to the data of count copies of a type, from byte `position` of the packed form on.
var Unpack func(address uintptr, count int64, program []int64, position int64, src []byte) int64

// New returns the type with a program. The argument `basic` is the description of a predefined type, nil for a derived
// type.
func New(h uintptr, basic *Basic, program []int64) *Type { return &Type{h, basic, program} }

// Get returns the type with handle h. Errors: MPI_ERR_TYPE if h is MPI_DATATYPE_NULL or not the handle of a type.
func Get(h uintptr) (*Type, error) {
	if h-firstBasic < uintptr(len(predefined)) {
		if t := predefined[h-firstBasic]; t != nil {
			return t, nil
		}
	} else if Handles != nil {
		if program, unnamed := Handles.Find(h); unnamed {
			return New(h, BasicOf(uintptr(program[HeadElem])), program), nil
		} else if program != nil {
			return New(h, nil, program), nil
		}
	}
	switch {
	case h == abi.MPI_DATATYPE_NULL:
		return nil, mpierr.New(abi.MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
	case handle.KindOf(h) == handle.Datatype:
		return nil, mpierr.New(abi.MPI_ERR_TYPE, "datatype %#x has been freed, or was never created", h)
	}
	return nil, mpierr.New(abi.MPI_ERR_TYPE, "%#x is not a datatype", h)
}

// GetCommitted returns the type with handle h if it may be used in communication. Errors: MPI_ERR_TYPE if h is not the
// handle of a type, or the type is not committed.
func GetCommitted(h uintptr) (*Type, error) {
	t, err := Get(h)
	if err == nil && t.program[HeadMagic] != Magic {
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
func (t *Type) Elem() *Basic { return BasicOf(uintptr(t.program[HeadElem])) }

// Predefined returns whether the library owns the type, so that the application must not free it.
func (t *Type) Predefined() bool { return t.basic != nil }

// Program returns the flattened form, which must not be changed.
func (t *Type) Program() []int64 { return t.program }

// Size returns the bytes of data (MPI-5.0 5.1.5).
func (t *Type) Size() int64 { return t.program[HeadSize] }

// Extent returns the distance between consecutive copies (MPI-5.0 5.1.7).
func (t *Type) Extent() int64 { return t.program[HeadExtent] }

// Segments returns the number of contiguous parts of one copy.
func (t *Type) Segments() int64 { return t.program[HeadSegments] }

// Contiguous returns whether count copies are count*Size bytes without a gap, beginning at Origin.
func (t *Type) Contiguous() bool { return t.program[HeadFlags]&FlagContiguous != 0 }

// Origin returns the displacement of the first byte in typemap order.
func (t *Type) Origin() int64 { return t.program[HeadOrigin] }

// Bounds returns the lowest byte and one past the highest byte that count copies touch, relative to the buffer's
// address; both are 0 if the copies have no bytes. It returns ok = false if a bound does not fit 64 bits or count is
// negative.
func (t *Type) Bounds(count int64) (lo, hi int64, ok bool) {
	if count <= 0 || t.Size() == 0 {
		return 0, 0, count >= 0
	}
	lo, hi = t.program[HeadTrueLB], t.program[HeadTrueUB]
	last, ok := multiply(count-1, t.Extent())
	from, to := lo+min(last, 0), hi+max(last, 0)
	return from, to, ok && from <= lo && to >= hi
}

// multiply returns the product of x >= 0 and y, and whether it fits 64 bits.
func multiply(x, y int64) (product int64, ok bool) {
	high, low := bits.Mul64(uint64(x), uint64(max(y, -y)))
	return x * y, high == 0 && low <= math.MaxInt64
}

// IsUnmapped returns whether data that begins lo bytes after an address lies in the first page of the address space.
// Such data is an error of the program. For example, the address is NULL or MPI_IN_PLACE, or it is MPI_BOTTOM and the
// displacements of the type are not addresses.
func IsUnmapped(address uintptr, lo int64) bool { return address+uintptr(lo) < 4096 }

// InMemory returns an error if the data of count >= 0 copies cannot lie in mapped memory. Pack and Unpack may be called
// for all other buffers. The argument `what` names the buffer in error messages. Errors: MPI_ERR_BUFFER if the data is
// in the first page or exceeds the address space; MPI_ERR_COUNT if the span of the copies does not fit 64 bits.
func (t *Type) InMemory(what string, address uintptr, count int64) error {
	lo, hi, fit := t.Bounds(count)
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

// Retain acquires a reference for an operation that uses t.
func (t *Type) Retain() {
	if t.basic == nil {
		Handles.Retain(t.program)
	}
}

// Release releases a reference.
func (t *Type) Release() {
	if t.basic == nil {
		Handles.Release(t.program)
	}
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
