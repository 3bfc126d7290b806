// Package op owns the reduction operations: the predefined ones of MPI-5.0 6.9.2 and 6.9.4 with MPI_REPLACE and
// MPI_NO_OP, and those that applications create. It must not depend on collectives or windows.
//
// Get returns an *Op by handle. A reduction calls ForReduce once to check operation and datatype, and then Combine on
// arrays of elements any number of times.
//
// The predefined operations are implemented in C and called through Kernel. CallUser calls a function of the user. Both
// variables are set before the first use and not changed afterwards.
package op

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Kernel, set by capi, executes target[i] = target[i] op origin[i] in C for n elements. Operation and datatype are
// predefined. Kernel returns false if C has no loop for them. Both slices hold n extents of the type.
var Kernel func(op, typ uintptr, origin, target []byte, n int) bool

// CallUser, set by capi, calls the function of an application's operation. The function is an MPI_User_function or, if
// `large` is true, an MPI_User_function_c. The arguments `in` and `inout` are the addresses of `count` elements of the
// datatype with handle `typ`. If CallUser is nil, the use of a user-defined operation is an error.
var CallUser func(function uintptr, large bool, in, inout uintptr, count int64, typ uintptr)

// Op is an operation. It is immutable.
type Op struct {
	h           uintptr
	name        string
	commutative bool
	user        bool
	function    uintptr // the user's function
	large       bool
}

// UserOp, set by capi, returns the application's operation with handle h, or nil if no operation has this handle. If
// UserOp is nil, only predefined operations exist.
var UserOp func(h uintptr) *Op

const (
	firstPredefined = abi.MPI_OP_NULL
	endPredefined   = 0x40
)

var predefined [endPredefined - firstPredefined]*Op

func init() {
	for h, name := range map[uintptr]string{
		abi.MPI_SUM: "MPI_SUM", abi.MPI_MIN: "MPI_MIN", abi.MPI_MAX: "MPI_MAX", abi.MPI_PROD: "MPI_PROD",
		abi.MPI_BAND: "MPI_BAND",
		abi.MPI_BOR:  "MPI_BOR", abi.MPI_BXOR: "MPI_BXOR", abi.MPI_LAND: "MPI_LAND", abi.MPI_LOR: "MPI_LOR",
		abi.MPI_LXOR:   "MPI_LXOR",
		abi.MPI_MINLOC: "MPI_MINLOC", abi.MPI_MAXLOC: "MPI_MAXLOC", abi.MPI_REPLACE: "MPI_REPLACE",
		abi.MPI_NO_OP: "MPI_NO_OP",
	} {
		// MPI_REPLACE and MPI_NO_OP depend on the order of the operands. All other predefined operations are
		// commutative.
		predefined[h-firstPredefined] = &Op{h: h, name: name, commutative: h != abi.MPI_REPLACE &&
			h != abi.MPI_NO_OP}
	}
}

// Get returns the operation with handle h. Errors: MPI_ERR_OP if h is MPI_OP_NULL or not the handle of an operation.
func Get(h uintptr) (*Op, error) {
	if h-firstPredefined < uintptr(len(predefined)) {
		if o := predefined[h-firstPredefined]; o != nil {
			return o, nil
		}
	} else if UserOp != nil {
		if o := UserOp(h); o != nil {
			return o, nil
		}
	}
	switch {
	case h == abi.MPI_OP_NULL:
		return nil, mpierr.New(abi.MPI_ERR_OP, "the operation is MPI_OP_NULL")
	case handle.KindOf(h) == handle.Op:
		return nil, mpierr.New(abi.MPI_ERR_OP, "operation %#x has been freed, or was never created", h)
	}
	return nil, mpierr.New(abi.MPI_ERR_OP, "%#x is not an operation", h)
}

// New returns an operation with a function of the application (MPI-5.0 6.9.5). The argument `large` is true if the
// function takes an MPI_Count.
func New(h, function uintptr, large, commutative bool) *Op {
	return &Op{h: h, name: "a user-defined operation", commutative: commutative, user: true, function: function,
		large: large}
}

// Handle returns the handle. It does not change when the application frees the operation, so reductions in progress can
// continue.
func (o *Op) Handle() uintptr { return o.h }

// Commutative returns whether the operation is commutative, so that a reduction may exchange its operands (MPI-5.0
// 6.9.7).
func (o *Op) Commutative() bool { return o.commutative }

// User returns whether the application created the operation.
func (o *Op) User() bool { return o.user }

// Function returns the function of an operation of the application.
func (o *Op) Function() uintptr { return o.function }

// Large returns whether the user's function takes an MPI_Count.
func (o *Op) Large() bool { return o.large }

// String returns the name of the operation for error messages.
func (o *Op) String() string { return o.name }

// ForReduce returns nil if a collective reduction or MPI_Reduce_local may use the operation on the type, and MPI_ERR_OP
// otherwise. An operation of the user may be used on any type. A predefined operation may be used on the predefined
// types for which it is defined.
func (o *Op) ForReduce(t *datatype.Type) error {
	switch {
	case o.user:
		return nil
	case o.h == abi.MPI_REPLACE || o.h == abi.MPI_NO_OP:
		return mpierr.New(abi.MPI_ERR_OP, "%s is only valid in RMA accumulate calls", o)
	case !t.Predefined():
		return mpierr.New(abi.MPI_ERR_OP, "%s is a predefined operation and needs a predefined datatype, "+
			"not %s", o, t)
	}
	return o.defined(t.Elem())
}

// defined returns nil if a predefined operation may be used on a predefined type, otherwise MPI_ERR_OP.
func (o *Op) defined(b *datatype.Basic) error {
	if Defined(o.h, b) {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_OP, "%s is not defined for %s", o, b.Name)
}

// Defined returns whether the predefined operation with handle h may be used on a predefined type. It may be used on
// the types for which MPI defines it (MPI-5.0 6.9.2, 6.9.4, 12.3.4). MPI_CHAR and MPI_CHARACTER are treated like
// MPI_SIGNED_CHAR. The logical operations may be used on MPI_AINT, MPI_COUNT and MPI_OFFSET too.
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

// Combine sets target[i] = target[i] op origin[i] for n elements of type b, which are one extent apart. Preconditions:
// both slices hold at least n extents, they are the same or do not overlap, and the operation is predefined and defined
// for b. Combine does not write gaps inside pair types. Errors: MPI_ERR_OP if Kernel does not support the operation on
// b.
func (o *Op) Combine(b *datatype.Basic, origin, target []byte, n int) error {
	if n == 0 || Kernel != nil && Kernel(o.h, b.Handle, origin, target, n) {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_OP, "internal error: no function in C computes %s on %s", o, b.Name)
}

// Call calls a user's operation on count elements of a type at two addresses: target = origin op target. Errors:
// MPI_ERR_OP if CallUser is nil.
func (o *Op) Call(t *datatype.Type, origin, target uintptr, count int64) error {
	if CallUser == nil {
		return mpierr.New(abi.MPI_ERR_OP,
			"internal error: the library cannot call the user-defined operation %s", o)
	}
	const most = 1<<31 - 1 // the functions without _c take an int
	for !o.large && count > most {
		CallUser(o.function, false, origin, target, most, t.Handle())
		step := uintptr(most) * uintptr(t.Extent())
		origin, target, count = origin+step, target+step, count-most
	}
	CallUser(o.function, o.large, origin, target, count, t.Handle())
	return nil
}
