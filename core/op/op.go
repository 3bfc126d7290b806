// Package op owns the reductions: the predefined operations of MPI-5.0 6.9.2 and 6.9.4 with MPI_REPLACE and MPI_NO_OP,
// and those that applications make. It knows nothing of who reduces what with whom.
//
// Get finds an *Op by handle. Whoever reduces asks ForReduce once whether operation and datatype go
// together, then calls Combine on arrays of elements as often as it likes.
//
// The predefined operations are C's, which Kernel leads to, but for few elements of common types. A user's function
// runs through CallUser. Both hooks are set before the first use and not changed after.
package op

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Kernel, set by capi, does target op= origin for n elements of a predefined type (both handles predefined) in
// C; false if it has no such loop. Both slices hold n extents of the type.
var Kernel func(op, typ uintptr, origin, target []byte, n int) bool

// CallUser runs the function of an operation made by the application: MPI_User_function or, if large,
// MPI_User_function_c. in and inout are addresses of count elements of the datatype with that handle. Without it
// operations of applications are refused.
var CallUser func(function uintptr, large bool, in, inout uintptr, count int64, typ uintptr)

// Op is an operation. It does not change.
type Op struct {
	h           uintptr
	name        string
	commutative bool
	user        bool
	function    uintptr // of a user's
	large       bool
}

// Made, set by capi, returns the application's operation with a handle, nil if there is none. Without it no operation
// is the application's.
var Made func(h uintptr) *Op

const (
	first = abi.MPI_OP_NULL
	end   = 0x40
)

var predefined [end - first]*Op

func init() {
	for h, name := range map[uintptr]string{
		abi.MPI_SUM: "MPI_SUM", abi.MPI_MIN: "MPI_MIN", abi.MPI_MAX: "MPI_MAX", abi.MPI_PROD: "MPI_PROD",
		abi.MPI_BAND: "MPI_BAND",
		abi.MPI_BOR:  "MPI_BOR", abi.MPI_BXOR: "MPI_BXOR", abi.MPI_LAND: "MPI_LAND", abi.MPI_LOR: "MPI_LOR",
		abi.MPI_LXOR:   "MPI_LXOR",
		abi.MPI_MINLOC: "MPI_MINLOC", abi.MPI_MAXLOC: "MPI_MAXLOC", abi.MPI_REPLACE: "MPI_REPLACE",
		abi.MPI_NO_OP: "MPI_NO_OP",
	} {
		// MPI_REPLACE and MPI_NO_OP depend on the order; all others commute (rounding apart).
		predefined[h-first] = &Op{h: h, name: name, commutative: h != abi.MPI_REPLACE && h != abi.MPI_NO_OP}
	}
}

// Get returns the operation with handle h. MPI_ERR_OP: there is none; MPI_OP_NULL is none.
func Get(h uintptr) (*Op, error) {
	if h-first < uintptr(len(predefined)) {
		if o := predefined[h-first]; o != nil {
			return o, nil
		}
	} else if Made != nil {
		if o := Made(h); o != nil {
			return o, nil
		}
	}
	switch {
	case h == abi.MPI_OP_NULL:
		return nil, mpierr.New(abi.MPI_ERR_OP, "MPI_OP_NULL is not an operation")
	case handle.KindOf(h) == handle.Op:
		return nil, mpierr.New(abi.MPI_ERR_OP, "operation handle %#x was freed or never made", h)
	}
	return nil, mpierr.New(abi.MPI_ERR_OP, "%#x is not an operation handle", h)
}

// New returns an operation with a function of the application (MPI-5.0 6.9.5); large says that it takes an MPI_Count.
func New(h, function uintptr, large, commutative bool) *Op {
	return &Op{h: h, name: "a user's operation", commutative: commutative, user: true, function: function,
		large: large}
}

// Handle returns the handle; it stays the same number when the operation is freed, and reductions under way go on.
func (o *Op) Handle() uintptr { return o.h }

// Commutative says whether the operands may be exchanged (MPI-5.0 6.9.7).
func (o *Op) Commutative() bool { return o.commutative }

// User says whether the application made the operation.
func (o *Op) User() bool { return o.user }

// Function returns the function of an operation of the application, and Large whether it takes an MPI_Count.
func (o *Op) Function() uintptr { return o.function }

// Large is said at Function.
func (o *Op) Large() bool { return o.large }

// String names the operation in a message.
func (o *Op) String() string { return o.name }

// ForReduce checks that a collective reduction or MPI_Reduce_local may use the operation on the type: a user's
// operation on any type, a predefined one on the predefined types that it is defined for. MPI_ERR_OP: they do not go
// together.
func (o *Op) ForReduce(t *datatype.Type) error {
	switch {
	case o.user:
		return nil
	case o.h == abi.MPI_REPLACE || o.h == abi.MPI_NO_OP:
		return mpierr.New(abi.MPI_ERR_OP, "%s is an operation of accumulates only", o)
	case !t.Predefined():
		return mpierr.New(abi.MPI_ERR_OP, "%s is predefined, so it needs a predefined datatype, not %s", o, t)
	}
	return o.defined(t.Elem())
}

// defined says whether a predefined operation may be used on a predefined type.
func (o *Op) defined(b *datatype.Basic) error {
	if Defined(o.h, b) {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_OP, "%s is not defined for %s", o, b.Name)
}

// Defined says whether the predefined operation with handle h may be used on a predefined type: where MPI defines it
// (MPI-5.0 6.9.2, 6.9.4, 12.3.4), on MPI_CHAR and MPI_CHARACTER as if they were MPI_SIGNED_CHAR, and the logical ones
// on MPI_AINT, MPI_COUNT and MPI_OFFSET too.
func Defined(h uintptr, b *datatype.Basic) bool {
	character := b.Class == datatype.Character
	integer := b.Class == datatype.Signed || b.Class == datatype.Unsigned || b.Class == datatype.Address ||
		character
	switch h {
	case abi.MPI_MIN, abi.MPI_MAX:
		return integer || b.Class == datatype.Floating
	case abi.MPI_SUM, abi.MPI_PROD:
		return integer || b.Class == datatype.Floating || b.Class == datatype.Complex
	case abi.MPI_BAND, abi.MPI_BOR, abi.MPI_BXOR:
		return integer || b.Class == datatype.Byte
	case abi.MPI_LAND, abi.MPI_LOR, abi.MPI_LXOR:
		return integer && b.Language == datatype.C || b.Class == datatype.Address || character ||
			b.Class == datatype.Logical
	case abi.MPI_MINLOC, abi.MPI_MAXLOC:
		return b.Class == datatype.Pair
	case abi.MPI_REPLACE, abi.MPI_NO_OP:
		return true
	}
	return false
}

// Combine does target[i] = target[i] op origin[i] for the n elements of type b, an extent apart, that both slices hold
// at least. The operation is a predefined one that is defined for b. The slices are the same or do not overlap. Gaps
// inside pair types are left alone. MPI_ERR_OP: there is no Kernel for it.
func (o *Op) Combine(b *datatype.Basic, origin, target []byte, n int) error {
	if n == 0 || n <= fewMost && few(o.h, b, origin, target, n) || Kernel != nil && Kernel(o.h, b.Handle, origin,
		target, n) {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_OP, "%s on %s needs the C library", o, b.Name)
}

// Call runs a user's operation on count elements of a type: target = origin op target, on addresses. MPI_ERR_OP: there
// is no CallUser.
func (o *Op) Call(t *datatype.Type, origin, target uintptr, count int64) error {
	if CallUser == nil {
		return mpierr.New(abi.MPI_ERR_OP, "%s needs the C library", o)
	}
	const most = 1<<31 - 1 // an int for functions without _c
	for !o.large && count > most {
		CallUser(o.function, false, origin, target, most, t.Handle())
		step := uintptr(most) * uintptr(t.Extent())
		origin, target, count = origin+step, target+step, count-most
	}
	CallUser(o.function, o.large, origin, target, count, t.Handle())
	return nil
}
