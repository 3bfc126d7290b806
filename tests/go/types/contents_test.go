package types

import (
	"testing"

	"github.com/stretchr/testify/require"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// must returns t, and panics if err is not nil.
func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

// named returns a predefined type.
func named(h uintptr) *Type { return must(datatype.Get(h)) }

// Contents holds the combiner of a type and the results of MPI_Type_get_contents.
type Contents struct {
	Combiner  int32
	Integers  []int32
	Addresses []int64
	Counts    []int64
	Types     []uintptr
}

func contentsOf(t *Type) Contents {
	c := Contents{Combiner: kernels.PropsOf(t.Handle()).Combiner}
	c.Integers, c.Addresses, c.Counts, c.Types = kernels.Contents(t.Handle())
	return c
}

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
	types := []uintptr{abi.MPI_INT}
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
				Types: []uintptr{abi.MPI_INT, abi.MPI_DOUBLE}},
			{Combiner: abi.MPI_COMBINER_STRUCT, Counts: []int64{2, 2, 1, 0, 8},
				Types: []uintptr{abi.MPI_INT, abi.MPI_DOUBLE}},
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
	for k, form := range []Form{Small, Large} {
		for name, typ := range create(form) {
			got, w := contentsOf(typ), want[name][k]
			require.Equal(t, w, got, name)
			f := kernels.PropsOf(typ.Handle())
			require.Equal(t, bool(form), f.Large, name)
			require.Equal(t, []int64{int64(len(w.Integers)), int64(len(w.Addresses)), int64(len(w.Counts)),
				int64(len(w.Types))}, []int64{f.Integers, f.Addresses, f.Counts, f.Types}, name)
			outer := must(Contiguous(Small, 2, typ))
			again := must(datatype.Get(contentsOf(outer).Types[0]))
			require.NotEqual(t, typ.Handle(), again.Handle())
			require.Equal(t, got, contentsOf(again))
			require.Equal(t, typ.Program(), again.Program())
			require.True(t, Free(again))
			require.True(t, Free(outer))
			require.True(t, Free(typ))
		}
	}
	require.EqualValues(t, abi.MPI_COMBINER_NAMED, kernels.PropsOf(i.Handle()).Combiner)
	dup := must(Dup(Small, i))
	require.Equal(t, Contents{Combiner: abi.MPI_COMBINER_DUP, Types: types}, contentsOf(dup))
	require.False(t, kernels.PropsOf(dup.Handle()).Large)
	require.True(t, Free(dup))
}

// TestFortranTypes checks which predefined type represents the types of MPI_Type_create_f90_integer and so on.
func TestFortranTypes(t *testing.T) {
	const integer, real = abi.MPI_COMBINER_F90_INTEGER, abi.MPI_COMBINER_F90_REAL
	const complex = abi.MPI_COMBINER_F90_COMPLEX
	for _, c := range []struct {
		combiner, p, r int32
		want           string
	}{
		{integer, 0, -1, "MPI_INTEGER1"}, {integer, 0, 2, "MPI_INTEGER1"}, {integer, 0, 3, "MPI_INTEGER2"},
		{integer, 0, 9, "MPI_INTEGER4"}, {integer, 0, 18, "MPI_INTEGER8"}, {integer, 0, 38, "MPI_INTEGER16"},
		{real, 6, 37, "MPI_REAL4"}, {complex, 6, 37, "MPI_COMPLEX8"},
		{real, 7, abi.MPI_UNDEFINED, "MPI_REAL8"}, {complex, 7, abi.MPI_UNDEFINED, "MPI_COMPLEX16"},
		{real, abi.MPI_UNDEFINED, 308, "MPI_LONG_DOUBLE"},
		{complex, abi.MPI_UNDEFINED, 308, "MPI_C_LONG_DOUBLE_COMPLEX"},
		{real, 33, 10, "MPI_REAL16"}, {complex, 33, 10, "MPI_COMPLEX32"},
	} {
		b, err := datatype.F90Kind(c.combiner, c.p, c.r)
		require.NoError(t, err)
		require.Equal(t, c.want, b.Name)
	}
	for _, c := range [][3]int32{{integer, 0, 39}, {real, 34, abi.MPI_UNDEFINED},
		{complex, abi.MPI_UNDEFINED, abi.MPI_UNDEFINED}} {
		_, err := datatype.F90Kind(c[0], c[1], c[2])
		require.EqualValues(t, abi.MPI_ERR_ARG, mpierr.ClassOf(err))
	}
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
		abi.MPI_AINT: {8, 8, 8}, abi.MPI_REAL2: {2, 2, 2}, datatype.TwoInteger8: {16, 16, 8},
	} {
		b := datatype.BasicOf(h)
		require.Equal(t, want, [3]int64{b.Size, b.Extent, b.Align}, b.Name)
	}
	count := 0
	datatype.Predefined(func(typ *Type) {
		count++
		require.NoError(t, validate(typ.Program()), typ)
		require.LessOrEqual(t, len(typ.Program()), 32, "%s does not fit its slot in C", typ)
		require.True(t, kernels.IsCommitted(typ.Handle()))
		require.EqualValues(t, 1, typ.Program()[datatype.HeadElements])
	})
	require.Equal(t, 71, count)
	require.EqualValues(t, 8, kernels.PropsOf(abi.MPI_SHORT_INT).TrueExtent)
	for _, h := range []uintptr{0, abi.MPI_DATATYPE_NULL, 0x204, 0x2ff, 0x300, abi.MPI_SUM, 0x5fffffff,
		^uintptr(0)} {
		_, err := datatype.Get(h)
		require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(err), "%#x", h)
		require.Nil(t, datatype.BasicOf(h))
	}
}
