package types

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// shape returns the words of a program after the head.
func shape(t *Type) []int64 { return program(t)[datatype.HeadWords:] }

// TestNormalForms checks that types with the same bytes have the same short program, however they were constructed.
func TestNormalForms(t *testing.T) {
	i, c := named(abi.MPI_INT), named(abi.MPI_CHAR)
	dense := shape(must(Contiguous(Small, 12, i)))
	require.Equal(t, []int64{datatype.NodeBlock, 48}, dense)
	for name, typ := range map[string]*Type{
		"vector of one block":      must(Vector(Small, 1, 12, 77, i)),
		"vector without gaps":      must(Vector(Small, 4, 3, 3, i)),
		"contiguous of contiguous": must(Contiguous(Small, 4, must(Contiguous(Small, 3, i)))),
		"indexed in order":         must(Indexed(Small, []int64{4, 0, 8}, []int64{0, 99, 4}, i)),
		"indexed_block in order":   must(IndexedBlock(Small, 4, []int64{0, 4, 8}, i)),
		"struct of neighbours":     must(Struct(Small, []int64{6, 24}, []int64{0, 24}, []*Type{i, c})),
		"subarray that is all": must(Subarray(Small, []int64{3, 4}, []int64{3, 4}, []int64{0, 0},
			abi.MPI_ORDER_C, i)),
		"darray of one process": must(Darray(Small, 1, 0, []int64{12},
			[]int32{abi.MPI_DISTRIBUTE_CYCLIC}, []int32{abi.MPI_DISTRIBUTE_DFLT_DARG}, []int32{1},
			abi.MPI_ORDER_C, i)),
		"struct of three, halves merged": must(Struct(Small, []int64{1, 1}, []int64{0, 24},
			[]*Type{must(Contiguous(Small, 6, i)), must(Vector(Small, 2, 3, 3, i))})),
	} {
		require.Equal(t, dense, shape(typ), name)
	}
	strided := shape(must(Vector(Small, 4, 1, 2, i)))
	require.Equal(t, []int64{datatype.NodeBlock, 4, datatype.NodeLoop, 16, 4, 8, datatype.HeadWords}, strided)
	pair := must(Resized(Small, i, 0, 8))
	for name, typ := range map[string]*Type{
		"contiguous of resized": must(Contiguous(Small, 4, pair)),
		"hvector":               must(Hvector(Small, 4, 1, 8, i)),
		"vector of vector":      must(Hvector(Small, 2, 1, 16, must(Vector(Small, 2, 1, 2, i)))),
		"regular displacements": must(IndexedBlock(Small, 1, []int64{0, 2, 4, 6}, i)),
		"regular indexed":       must(Indexed(Small, []int64{1, 1, 1, 1}, []int64{0, 2, 4, 6}, i)),
		"struct of equal members": must(Struct(Small, []int64{1, 1, 1, 1}, []int64{0, 8, 16, 24},
			[]*Type{i, i, i, i})),
		"subarray of a column": must(Subarray(Small, []int64{4, 2}, []int64{4, 1}, []int64{0, 0},
			abi.MPI_ORDER_C, i)),
		"blocklengths of resized": must(Indexed(Small, []int64{1, 3}, []int64{0, 1}, pair)),
	} {
		require.Equal(t, strided, shape(typ), name)
		require.True(t, layoutOf(typ).Flag(datatype.FlagStrided), name)
	}
}

// TestOverlap checks which types have datatype.FlagOverlap, and that a transposed matrix does not have it.
func TestOverlap(t *testing.T) {
	i := named(abi.MPI_INT)
	column := must(Resized(Small, must(Vector(Small, 5, 1, 3, i)), 0, 4))
	for _, c := range []struct {
		name string
		t    *Type
		want int64
	}{
		{"transposed matrix", must(Contiguous(Small, 3, column)), 0},
		{"one column too many", must(Contiguous(Small, 4, column)), datatype.FlagOverlap},
		{"stride shorter than a block", must(Vector(Small, 3, 2, 1, i)), datatype.FlagOverlap},
		{"stride 0", must(Vector(Small, 3, 2, 0, i)), datatype.FlagOverlap},
		{"descending", must(Vector(Small, 3, 2, -2, i)), 0},
		{"same block twice", must(Indexed(Small, []int64{1, 2, 1}, []int64{5, 1, 2}, i)), datatype.FlagOverlap},
		{"blocks out of order", must(Indexed(Small, []int64{1, 2, 1}, []int64{5, 1, 3}, i)), 0},
		{"interleaved members", must(Struct(Small, []int64{1, 1}, []int64{0, 4},
			[]*Type{must(Vector(Small, 3, 1, 2, i)), must(Vector(Small, 4, 1, 3, i))})),
			datatype.FlagOverlap},
	} {
		require.Equal(t, c.want, program(c.t)[datatype.HeadFlags]&datatype.FlagOverlap, c.name)
	}
}

// TestBounds checks lower and upper bounds, padding to the alignment, and that bounds of MPI_Type_create_resized
// persist.
func TestBounds(t *testing.T) {
	i, d, c := named(abi.MPI_INT), named(abi.MPI_DOUBLE), named(abi.MPI_CHAR)
	dense, padded := must(Hvector(Small, 2, 1, 5, i)),
		must(Struct(Small, []int64{1, 1}, []int64{0, 8}, []*Type{d, c}))
	for _, x := range []struct {
		name               string
		t                  *Type
		lb, extent         int64
		trueLB, trueExtent int64
	}{
		{"struct is padded", padded, 0, 16, 0, 9},
		{"a vector is padded", dense, 0, 12, 0, 9},
		{"a part's padding counts", must(Hvector(Small, 2, 1, 13, dense)), 0, 28, 0, 22},
		{"a structure's padding counts",
			must(Struct(Small, []int64{1, 1}, []int64{0, 13}, []*Type{padded, padded})), 0, 32, 0, 22},
		{"a pair's padding counts", must(Hvector(Small, 2, 1, 21, named(abi.MPI_LONG_DOUBLE_INT))), 0, 64, 0,
			41},
		{"an empty part does not count",
			must(Struct(Small, []int64{1, 1}, []int64{0, 50}, []*Type{i, must(Contiguous(Small, 0, d))})),
			0, 4, 0, 4},
		{"padding does not count in resized ones",
			must(Struct(Small, []int64{1, 1}, []int64{0, 13}, []*Type{must(Resized(Small, padded, 0, 9)),
				padded})), 0, 9, 0, 22},
		{"the example of the standard", must(Struct(Small, []int64{1, 1}, []int64{4, 12}, []*Type{d, c})), 4,
			16, 4, 9},
		{"resized wins over others", must(Struct(Small, []int64{1, 1}, []int64{-3, 100},
			[]*Type{must(Resized(Small, i, 0, 8)), i})), -3, 8, -3, 107},
		{"copies of resized", must(Vector(Small, 2, 1, 3, must(Resized(Small, i, -4, 12)))), -4, 48, 0, 40},
		{"nothing", must(Contiguous(Small, 0, d)), 0, 0, 0, 0},
		{"nothing resized", must(Resized(Small, must(Contiguous(Small, 0, d)), 3, 5)), 3, 5, 0, 0},
		{"negative stride", must(Vector(Small, 3, 1, -2, i)), -16, 20, -16, 20},
		{"negative extent", must(Contiguous(Small, 3, must(Resized(Small, i, 0, -8)))), -16, 8, -16, 20},
		{"subarray", must(Subarray(Small, []int64{4, 6}, []int64{2, 2}, []int64{1, 2}, abi.MPI_ORDER_FORTRAN,
			i)), 0, 96, 36, 24},
	} {
		f := kernels.PropsOf(x.t.Handle())
		require.Equal(t, []int64{x.lb, x.extent, x.trueLB, x.trueExtent},
			[]int64{f.LB, f.Extent, f.TrueLB, f.TrueExtent}, x.name)
	}
}

func TestRefusedArguments(t *testing.T) {
	i := named(abi.MPI_INT)
	one := []int64{1}
	class := func(_ *Type, err error) int32 { return mpierr.ClassOf(err) }
	none, cyclic := int32(abi.MPI_DISTRIBUTE_NONE), int32(abi.MPI_DISTRIBUTE_CYCLIC)
	darray := func(size, rank int32, distrib, darg, psize, order int32) int32 {
		return class(Darray(Small, size, rank, []int64{10}, []int32{distrib}, []int32{darg}, []int32{psize},
			order, i))
	}
	big := int64(math.MaxInt64)
	for name, got := range map[string][2]int32{
		"contiguous count":    {class(Contiguous(Small, -1, i)), abi.MPI_ERR_COUNT},
		"vector count":        {class(Vector(Small, -1, 1, 1, i)), abi.MPI_ERR_COUNT},
		"vector blocklength":  {class(Vector(Small, 1, -1, 1, i)), abi.MPI_ERR_ARG},
		"indexed blocklength": {class(Indexed(Small, []int64{-1}, one, i)), abi.MPI_ERR_ARG},
		"block blocklength":   {class(IndexedBlock(Small, -1, one, i)), abi.MPI_ERR_ARG},
		"struct blocklength":  {class(Struct(Small, []int64{-1}, one, []*Type{i})), abi.MPI_ERR_ARG},
		"subarray dimensions": {class(Subarray(Small, nil, nil, nil, abi.MPI_ORDER_C, i)),
			abi.MPI_ERR_DIMS},
		"subarray order": {class(Subarray(Small, one, one, []int64{0}, 3, i)), abi.MPI_ERR_ARG},
		"subarray size": {class(Subarray(Small, []int64{0}, one, []int64{0}, abi.MPI_ORDER_C, i)),
			abi.MPI_ERR_ARG},
		"subarray subsize": {class(Subarray(Small, one, []int64{2}, []int64{0}, abi.MPI_ORDER_C, i)),
			abi.MPI_ERR_ARG},
		"subarray start": {class(Subarray(Small, one, one, []int64{1}, abi.MPI_ORDER_C, i)),
			abi.MPI_ERR_ARG},
		"darray rank":            {darray(2, 2, cyclic, 1, 2, abi.MPI_ORDER_C), abi.MPI_ERR_RANK},
		"darray grid":            {darray(3, 2, cyclic, 1, 2, abi.MPI_ORDER_C), abi.MPI_ERR_DIMS},
		"darray distribution":    {darray(1, 0, 77, 1, 1, abi.MPI_ORDER_C), abi.MPI_ERR_ARG},
		"darray argument":        {darray(2, 0, cyclic, 0, 2, abi.MPI_ORDER_C), abi.MPI_ERR_ARG},
		"darray not distributed": {darray(2, 0, none, 0, 2, abi.MPI_ORDER_C), abi.MPI_ERR_ARG},
		"darray blocks too small": {darray(2, 0, abi.MPI_DISTRIBUTE_BLOCK, 4, 2, abi.MPI_ORDER_C),
			abi.MPI_ERR_ARG},
		"size":           {class(Contiguous(Large, big/2, i)), abi.MPI_ERR_VALUE_TOO_LARGE},
		"size of a size": {class(Vector(Large, 1<<40, 1<<40, 1<<40, i)), abi.MPI_ERR_VALUE_TOO_LARGE},
		"stride":         {class(Vector(Large, 3, 1, big/4, i)), abi.MPI_ERR_VALUE_TOO_LARGE},
		"displacement": {class(Indexed(Large, one, []int64{big / 2}, i)),
			abi.MPI_ERR_VALUE_TOO_LARGE},
		"displacement in bytes": {class(Hindexed(Large, one, []int64{big - 1}, i)),
			abi.MPI_ERR_VALUE_TOO_LARGE},
		"extent of a struct": {class(Struct(Large, []int64{1, 1}, []int64{-big, big - 8}, []*Type{i, i})),
			abi.MPI_ERR_VALUE_TOO_LARGE},
		"extent": {class(Resized(Large, i, big, big)), abi.MPI_ERR_VALUE_TOO_LARGE},
		"array": {class(Subarray(Large, []int64{big, big}, one2, one2, abi.MPI_ORDER_C, i)),
			abi.MPI_ERR_VALUE_TOO_LARGE},
	} {
		require.Equal(t, got[1], got[0], name)
	}
	require.NotNil(t, must(Vector(Large, 1, 1, big, i)), "a stride that is not used")
	require.NotNil(t, must(Indexed(Large, []int64{0, 1}, []int64{big, 0}, i)), "a displacement that is not used")
}

var one2 = []int64{1, 1}

// TestLifetime checks that the handle of a freed type is invalid at once. The type itself must live as long as an
// operation or another type uses it.
func TestLifetime(t *testing.T) {
	inner := must(Vector(Small, 2, 1, 2, named(abi.MPI_INT)))
	outer := must(Contiguous(Small, 2, inner))
	_, err := datatype.GetCommitted(inner.Handle())
	require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(err))
	Commit(inner)
	got, err := datatype.GetCommitted(inner.Handle())
	require.NoError(t, err)
	require.Equal(t, inner, got)
	require.EqualValues(t, 2, kernels.References(inner.Handle()), "the handle and the outer type")

	inner.Retain()
	require.True(t, Free(inner))
	_, err = datatype.Get(inner.Handle())
	require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(err))
	require.False(t, Free(inner))
	require.EqualValues(t, 8, inner.Size(), "an operation uses the type")
	inner.Release()
	_, _, _, types := kernels.Contents(outer.Handle())
	again, err := datatype.Get(types[0])
	require.NoError(t, err)
	require.Equal(t, inner.Program()[1:], again.Program()[1:])
	require.True(t, Free(again))
	require.True(t, Free(outer))

	dup := must(Dup(Small, named(abi.MPI_INT)))
	require.True(t, kernels.IsCommitted(dup.Handle()))
	require.True(t, Free(dup))
}

// TestLargeTypes checks that a type with constant strides takes the same time and memory for any size. It also checks
// that a type with irregular strides is created and committed in less than a second.
func TestLargeTypes(t *testing.T) {
	d := named(abi.MPI_DOUBLE)
	row := must(Vector(Large, 1e3, 2, 3, d))
	huge := Commit(must(Vector(Large, 1e9, 1, 2, row)))
	require.EqualValues(t, 16e12, huge.Size())
	require.Less(t, len(huge.Program()), 40)
	for off, n := range Segments(huge.Program(), 3, false, 2*huge.Size()+16000*123456789+24) {
		require.Equal(t, []int64{2*huge.Extent() + 2*row.Extent()*123456789 + 32, 8},
			[]int64{off, n})
		break
	}

	const blocks = 1_000_000
	disps, lengths := make([]int64, blocks), make([]int64, blocks)
	for i := range disps {
		disps[i], lengths[i] = int64(i*7+i%3), int64(1+i%2)
	}
	gap := must(Resized(Small, d, 0, 16))
	for name, make := range map[string]func() (*Type, error){
		"indexed":           func() (*Type, error) { return Indexed(Small, lengths, disps, d) },
		"indexed_block":     func() (*Type, error) { return IndexedBlock(Small, 2, disps, d) },
		"indexed with gaps": func() (*Type, error) { return Indexed(Small, lengths, disps, gap) },
		"indexed backwards": func() (*Type, error) { return Indexed(Small, lengths, backwards(disps), d) },
	} {
		start := cpuTime()
		typ := Commit(must(make()))
		took := cpuTime() - start
		require.NoError(t, validate(typ.Program()))
		t.Logf("%s: %v, %d words, checked in %v", name, took, len(typ.Program()), cpuTime()-start-took)
		if !raceEnabled {
			require.Less(t, took, time.Second, name)
		}
		require.True(t, Free(typ))
	}
}

// cpuTime returns the CPU time of this process, so that a busy machine does not fail the test.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func backwards(x []int64) []int64 {
	out := make([]int64, len(x))
	for i := range x {
		out[len(x)-1-i] = x[i]
	}
	return out
}

// TestDeepTypes checks that programs of deeply nested structures have a small depth. It tests inner structures that are
// the larger part of the enclosing structure, and inner structures that are the smaller part.
func TestDeepTypes(t *testing.T) {
	c := named(abi.MPI_CHAR)
	deep, wide := c, must(Vector(Small, 10, 1, 2, c))
	for k := 0; k < 300; k++ {
		deep = must(Struct(Small, []int64{1, 1, 1}, []int64{0, deep.Extent() + 1, deep.Extent() + 30},
			[]*Type{deep, c, wide}))
		deep = must(Resized(Small, deep, 0, deep.Extent()+5))
	}
	require.NoError(t, validate(program(deep)))
	require.Less(t, layoutOf(deep).prog[datatype.HeadDepth], int64(10))
	twice := must(Struct(Small, []int64{1, 1}, []int64{0, 3}, []*Type{c, named(abi.MPI_SHORT)}))
	for k := 0; k < 40; k++ {
		twice = must(Struct(Small, []int64{1, 1, 1}, []int64{0, twice.Extent() + 1, twice.Extent() + 2},
			[]*Type{twice, c, twice}))
	}
	require.NoError(t, validate(program(twice)))
	require.Less(t, len(program(twice)), 10000, "what is there twice is written once")
	require.LessOrEqual(t, layoutOf(twice).prog[datatype.HeadDepth], int64(datatype.MaxDepth))
}
