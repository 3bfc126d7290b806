package op

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

func TestDefined(t *testing.T) {
	class := func(op, typ uintptr) int32 {
		o, err := Get(op)
		require.NoError(t, err)
		d, err := datatype.Get(typ)
		require.NoError(t, err)
		return mpierr.ClassOf(o.ForReduce(d))
	}
	for _, ok := range [][2]uintptr{
		{abi.MPI_SUM, abi.MPI_AINT}, {abi.MPI_MAX, abi.MPI_INTEGER8}, {abi.MPI_BOR, abi.MPI_INTEGER},
		{abi.MPI_LAND, abi.MPI_LOGICAL},
		{abi.MPI_PROD, abi.MPI_C_LONG_DOUBLE_COMPLEX}, {abi.MPI_MINLOC, abi.MPI_SHORT_INT},
		{abi.MPI_BAND, abi.MPI_BYTE}, {abi.MPI_SUM, abi.MPI_REAL2},
		{abi.MPI_SUM, abi.MPI_CHAR}, {abi.MPI_LAND, abi.MPI_CHARACTER}, {abi.MPI_BOR, abi.MPI_CHARACTER},
		{abi.MPI_LAND, abi.MPI_AINT}, {abi.MPI_LOR, abi.MPI_COUNT}, {abi.MPI_LXOR, abi.MPI_OFFSET},
	} {
		require.EqualValues(t, abi.MPI_SUCCESS, class(ok[0], ok[1]), "%#x", ok)
	}
	for _, bad := range [][2]uintptr{
		{abi.MPI_SUM, abi.MPI_WCHAR}, {abi.MPI_SUM, abi.MPI_BYTE}, {abi.MPI_SUM, abi.MPI_C_BOOL},
		{abi.MPI_MAX, abi.MPI_COMPLEX}, {abi.MPI_BAND, abi.MPI_DOUBLE},
		{abi.MPI_LAND, abi.MPI_INTEGER}, {abi.MPI_LAND, abi.MPI_DOUBLE}, {abi.MPI_LOR, abi.MPI_REAL8},
		{abi.MPI_MINLOC, abi.MPI_INT}, {abi.MPI_SUM, abi.MPI_2INT},
		{abi.MPI_SUM, abi.MPI_PACKED}, {abi.MPI_REPLACE, abi.MPI_INT}, {abi.MPI_NO_OP, abi.MPI_INT},
	} {
		require.EqualValues(t, abi.MPI_ERR_OP, class(bad[0], bad[1]), "%#x", bad)
	}
}

// TestForReduceOfDerivedTypes checks that predefined operations accept only predefined types, and that a user's
// operation accepts any type.
func TestForReduceOfDerivedTypes(t *testing.T) {
	sum, _ := Get(abi.MPI_SUM)
	head := make([]int64, datatype.HeadWords)
	head[datatype.HeadElem] = abi.MPI_INT
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(sum.ForReduce(datatype.New(0x1000, nil, head))))
	mixed := datatype.New(0x1000, nil, make([]int64, datatype.HeadWords))
	require.NoError(t, New(1, 1, false, true).ForReduce(mixed))
}

func TestHandles(t *testing.T) {
	for _, h := range []uintptr{0, abi.MPI_OP_NULL, 0x3f, abi.MPI_INT, 0x08000000, ^uintptr(0)} {
		_, err := Get(h)
		require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(err), "%#x", h)
	}
	o := New(0x08000001, 0x1234, true, false)
	UserOp = func(h uintptr) *Op { return map[uintptr]*Op{o.Handle(): o}[h] }
	defer func() { UserOp = nil }()
	got, err := Get(o.Handle())
	require.NoError(t, err)
	require.Same(t, o, got)
	require.False(t, o.Commutative())
	_, err = Get(o.Handle() + 1)
	require.EqualValues(t, abi.MPI_ERR_OP, mpierr.ClassOf(err))
	max, _ := Get(abi.MPI_MAX)
	require.True(t, max.Commutative())
}

// TestUserCountBeyondInt checks that an MPI_User_function, whose count is an int, gets at most 2^31-1 elements in each
// call.
func TestUserCountBeyondInt(t *testing.T) {
	type call struct {
		in    uintptr
		count int64
	}
	var calls []call
	CallUser = func(_ uintptr, _ bool, in, _ uintptr, count int64,
		_ uintptr) {
		calls = append(calls, call{in, count})
	}
	defer func() { CallUser = nil }()
	integer, _ := datatype.Get(abi.MPI_INT)
	for _, large := range []bool{false, true} {
		require.NoError(t, New(1, 1, large, true).Call(integer, 16, 32, 1<<32))
	}
	const most = 1<<31 - 1
	require.Equal(t, []call{{16, most}, {16 + 4*most, most}, {16 + 8*most, 2}, {16, 1 << 32}}, calls)
}
