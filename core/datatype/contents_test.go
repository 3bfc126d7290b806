package datatype

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// must returns t, and panics if err is not nil.
func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

func named(h uintptr) *Type { return predefined[h-firstBasic] }

// TestContents checks the results of MPI_Type_get_envelope and MPI_Type_get_contents for every constructor, in both
// forms.
func TestContents(t *testing.T) {
	i, d := named(abi.MPI_INT), named(abi.MPI_DOUBLE)
	l := []int64{2, 1}
	at := []int64{0, 8}
	create := func(f Form) map[string]*Type {
		return map[string]*Type{
			"contiguous":     must(Contiguous(f, 3, i)),
			"vector":         must(Vector(f, 3, 2, 4, i)),
			"hvector":        must(Hvector(f, 3, 2, 40, i)),
			"indexed":        must(Indexed(f, l, at, i)),
			"hindexed":       must(Hindexed(f, l, at, i)),
			"indexed_block":  must(IndexedBlock(f, 5, at, i)),
			"hindexed_block": must(HindexedBlock(f, 5, at, i)),
			"struct":         must(Struct(f, l, at, []*Type{i, d})),
			"subarray": must(Subarray(f, []int64{4, 5}, []int64{2, 3}, []int64{1, 0}, abi.MPI_ORDER_C,
				i)),
			"darray": must(Darray(f, 4, 2, []int64{10, 20},
				[]int32{abi.MPI_DISTRIBUTE_BLOCK, abi.MPI_DISTRIBUTE_CYCLIC},
				[]int32{abi.MPI_DISTRIBUTE_DFLT_DARG, 3},
				[]int32{2, 2}, abi.MPI_ORDER_FORTRAN, i)),
			"resized": must(Resized(f, i, -4, 16)),
		}
	}
	types := []*Type{i}
	want := map[string][2]Contents{ // results for the small and for the large form of the constructor
		"contiguous": {{Combiner: abi.MPI_COMBINER_CONTIGUOUS, Integers: []int32{3}, Types: types},
			{Combiner: abi.MPI_COMBINER_CONTIGUOUS, Counts: []int64{3}, Types: types}},
		"vector": {
			{Combiner: abi.MPI_COMBINER_VECTOR, Integers: []int32{3, 2, 4}, Types: types},
			{Combiner: abi.MPI_COMBINER_VECTOR, Counts: []int64{3, 2, 4}, Types: types},
		},
		"hvector": {
			{Combiner: abi.MPI_COMBINER_HVECTOR, Integers: []int32{3, 2}, Addresses: []int64{40},
				Types: types},
			{Combiner: abi.MPI_COMBINER_HVECTOR, Counts: []int64{3, 2, 40}, Types: types},
		},
		"indexed": {
			{Combiner: abi.MPI_COMBINER_INDEXED, Integers: []int32{2, 2, 1, 0, 8}, Types: types},
			{Combiner: abi.MPI_COMBINER_INDEXED, Counts: []int64{2, 2, 1, 0, 8}, Types: types},
		},
		"hindexed": {
			{Combiner: abi.MPI_COMBINER_HINDEXED, Integers: []int32{2, 2, 1}, Addresses: []int64{0, 8},
				Types: types},
			{Combiner: abi.MPI_COMBINER_HINDEXED, Counts: []int64{2, 2, 1, 0, 8}, Types: types},
		},
		"indexed_block": {
			{Combiner: abi.MPI_COMBINER_INDEXED_BLOCK, Integers: []int32{2, 5, 0, 8}, Types: types},
			{Combiner: abi.MPI_COMBINER_INDEXED_BLOCK, Counts: []int64{2, 5, 0, 8}, Types: types},
		},
		"hindexed_block": {
			{Combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, Integers: []int32{2, 5}, Addresses: []int64{0, 8},
				Types: types},
			{Combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, Counts: []int64{2, 5, 0, 8}, Types: types},
		},
		"struct": {
			{Combiner: abi.MPI_COMBINER_STRUCT, Integers: []int32{2, 2, 1}, Addresses: []int64{0, 8},
				Types: []*Type{i, d}},
			{Combiner: abi.MPI_COMBINER_STRUCT, Counts: []int64{2, 2, 1, 0, 8}, Types: []*Type{i, d}},
		},
		"subarray": {
			{Combiner: abi.MPI_COMBINER_SUBARRAY, Integers: []int32{2, 4, 5, 2, 3, 1, 0, abi.MPI_ORDER_C},
				Types: types},
			{Combiner: abi.MPI_COMBINER_SUBARRAY, Integers: []int32{2, abi.MPI_ORDER_C},
				Counts: []int64{4, 5, 2, 3, 1, 0}, Types: types},
		},
		"darray": {
			{Combiner: abi.MPI_COMBINER_DARRAY, Integers: []int32{4, 2, 2, 10, 20, 17, 18, 19, 3, 2, 2,
				abi.MPI_ORDER_FORTRAN}, Types: types},
			{Combiner: abi.MPI_COMBINER_DARRAY, Integers: []int32{4, 2, 2, 17, 18, 19, 3, 2, 2,
				abi.MPI_ORDER_FORTRAN}, Counts: []int64{10, 20}, Types: types},
		},
		"resized": {
			{Combiner: abi.MPI_COMBINER_RESIZED, Addresses: []int64{-4, 16}, Types: types},
			{Combiner: abi.MPI_COMBINER_RESIZED, Counts: []int64{-4, 16}, Types: types},
		},
	}
	for k, f := range []Form{Small, Large} {
		for name, typ := range create(f) {
			got, w := typ.Contents(), want[name][k]
			require.Equal(t, w.Combiner, got.Combiner, name)
			require.ElementsMatch(t, w.Integers, got.Integers, name)
			require.Equal(t, append([]int32{}, w.Integers...), append([]int32{}, got.Integers...), name)
			require.Equal(t, append([]int64{}, w.Addresses...), append([]int64{}, got.Addresses...), name)
			require.Equal(t, append([]int64{}, w.Counts...), append([]int64{}, got.Counts...), name)
			require.Equal(t, w.Types, got.Types, name)
			require.Equal(t, f == Large, typ.Large(), name)
			require.NoError(t, typ.CheckContents(int64(len(w.Integers)), int64(len(w.Addresses)),
				int64(len(w.Counts)), int64(len(w.Types))), name)
			require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(typ.CheckContents(99, 99, 99, 0)), name)
			again := must(typ.Recreate())
			require.NotEqual(t, typ.Handle(), again.Handle())
			require.Equal(t, typ.Contents(), again.Contents())
			require.Equal(t, typ.Program(), again.Program())
			require.NoError(t, again.Free())
			require.NoError(t, typ.Free())
		}
	}
	require.EqualValues(t, abi.MPI_COMBINER_NAMED, i.Contents().Combiner)
	require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(i.CheckContents(9, 9, 9, 9)))
	dup := must(Dup(Small, i))
	require.Equal(t, Contents{Combiner: abi.MPI_COMBINER_DUP, Types: types},
		Contents{Combiner: dup.Contents().Combiner, Types: dup.Contents().Types})
	require.False(t, dup.Large())
	require.Same(t, i, must(i.Recreate()))
	require.NoError(t, dup.Free())
}

func TestFortranTypes(t *testing.T) {
	for _, c := range []struct {
		r    int32
		elem string
	}{{-1, "MPI_INTEGER1"}, {2, "MPI_INTEGER1"}, {3, "MPI_INTEGER2"}, {9, "MPI_INTEGER4"}, {18, "MPI_INTEGER8"},
		{38, "MPI_INTEGER16"}} {
		typ, err := F90Integer(c.r)
		require.NoError(t, err)
		require.Equal(t, c.elem, typ.Elem().Name)
		require.True(t, typ.Committed())
		again, err := F90Integer(c.r)
		require.NoError(t, err)
		require.Same(t, typ, again)
		require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(typ.Free()))
		require.Equal(t, []int32{c.r}, typ.Contents().Integers)
	}
	for _, c := range []struct {
		p, r          int32
		real, complex string
	}{
		{6, 37, "MPI_REAL4", "MPI_COMPLEX8"}, {7, abi.MPI_UNDEFINED, "MPI_REAL8", "MPI_COMPLEX16"},
		{abi.MPI_UNDEFINED, 308, "MPI_LONG_DOUBLE", "MPI_C_LONG_DOUBLE_COMPLEX"},
		{33, 10, "MPI_REAL16", "MPI_COMPLEX32"},
	} {
		re, err := F90Real(c.p, c.r)
		require.NoError(t, err)
		require.Equal(t, c.real, re.Elem().Name)
		require.Equal(t, []int32{c.p, c.r}, re.Contents().Integers)
		co, err := F90Complex(c.p, c.r)
		require.NoError(t, err)
		require.Equal(t, c.complex, co.Elem().Name)
		require.EqualValues(t, abi.MPI_COMBINER_F90_COMPLEX, co.Contents().Combiner)
	}
	_, err := F90Integer(39)
	require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(err))
	_, err = F90Real(34, abi.MPI_UNDEFINED)
	require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(err))
	_, err = F90Complex(abi.MPI_UNDEFINED, abi.MPI_UNDEFINED)
	require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(err))
}

// TestPredefinedSizes checks that pair types have the layout of C structs, and that all other types have the sizes that
// their names state.
func TestPredefinedSizes(t *testing.T) {
	for h, want := range map[uintptr][3]int64{ // size, extent, alignment
		abi.MPI_CHAR: {1, 1, 1}, abi.MPI_LONG_DOUBLE: {16, 16, 16}, abi.MPI_C_DOUBLE_COMPLEX: {16, 16, 8},
		abi.MPI_COMPLEX32: {32, 32, 16},
		abi.MPI_SHORT_INT: {6, 8, 4}, abi.MPI_DOUBLE_INT: {12, 16, 8}, abi.MPI_LONG_INT: {12, 16, 8},
		abi.MPI_LONG_DOUBLE_INT: {20, 32, 16},
		abi.MPI_FLOAT_INT:       {8, 8, 4}, abi.MPI_2DOUBLE_PRECISION: {16, 16, 8}, abi.MPI_WCHAR: {4, 4, 4},
		abi.MPI_AINT: {8, 8, 8}, abi.MPI_REAL2: {2, 2, 2}, TwoInteger8: {16, 16, 8},
	} {
		b := BasicOf(h)
		require.Equal(t, want, [3]int64{b.Size, b.Extent, b.Align}, b.Name)
	}
	count := 0
	Predefined(func(typ *Type) {
		count++
		require.NoError(t, validate(typ.Program()), typ)
		require.LessOrEqual(t, len(typ.Program()), 32, "%s does not fit its slot in C", typ)
		require.True(t, typ.Committed())
		require.EqualValues(t, 1, typ.elements)
		require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(typ.Free()))
	})
	require.Equal(t, 71, count)
	_, lb := named(abi.MPI_SHORT_INT).TrueExtent()
	require.EqualValues(t, 8, lb)
	for _, h := range []uintptr{0, abi.MPI_DATATYPE_NULL, 0x204, 0x2ff, 0x300, abi.MPI_SUM, 0x5fffffff,
		^uintptr(0)} {
		_, err := Get(h)
		require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(err), "%#x", h)
		require.Nil(t, BasicOf(h))
	}
}
