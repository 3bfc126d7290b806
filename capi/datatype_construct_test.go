package main

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// randomRecipe returns random arguments for a random type constructor. They are usually valid.
func randomRecipe(r *rand.Rand, types []uintptr) kernels.Recipe {
	number := func(most int64) int64 {
		if r.Intn(400) == 0 {
			return 1 << 61
		}
		return r.Int63n(most)
	}
	list := func(n, lowest, most int64) []int64 {
		l := make([]int64, n)
		step, at := lowest+r.Int63n(most-lowest), r.Int63n(20)
		regular := r.Intn(3)
		for i := range l {
			l[i] = lowest + number(most-lowest)
			if regular == 1 {
				l[i] = at + int64(i)*step
			} else if regular == 2 {
				l[i] = step
			}
		}
		return l
	}
	x := kernels.Recipe{Large: r.Intn(2) == 0, N: r.Int63n(6), A: number(5), B: number(40) - 15}
	if r.Intn(8) == 0 {
		x.N = 10 + r.Int63n(30)
	}
	old := func() uintptr { return types[r.Intn(len(types))] }
	x.Types = []uintptr{old()}
	switch r.Intn(13) {
	case 0:
		x.Combiner, x.A, x.B = abi.MPI_COMBINER_CONTIGUOUS, 0, 0
	case 1:
		x.Combiner = abi.MPI_COMBINER_VECTOR
	case 2:
		x.Combiner = abi.MPI_COMBINER_HVECTOR
	case 3:
		x.Combiner, x.Lists = abi.MPI_COMBINER_INDEXED, [4][]int64{list(x.N, 0, 4), list(x.N, -10, 30)}
	case 4:
		x.Combiner, x.Lists = abi.MPI_COMBINER_HINDEXED, [4][]int64{list(x.N, 0, 4), list(x.N, -80, 300)}
	case 5:
		x.Combiner, x.Lists = abi.MPI_COMBINER_INDEXED_BLOCK, [4][]int64{nil, list(x.N, -10, 30)}
	case 6:
		x.Combiner, x.Lists = abi.MPI_COMBINER_HINDEXED_BLOCK, [4][]int64{nil, list(x.N, -80, 300)}
	case 7, 8:
		x.Combiner, x.Types = abi.MPI_COMBINER_STRUCT, nil
		x.Lists = [4][]int64{list(x.N, 0, 4), list(x.N, -80, 300)}
		for range x.N {
			x.Types = append(x.Types, old())
		}
		if r.Intn(2) == 0 { // the displacements that a C compiler would choose for a struct
			at := int64(0)
			for i := range x.Types {
				t, _ := datatype.Get(x.Types[i])
				x.Lists[1][i] = at - t.LB()
				at += x.Lists[0][i] * max(t.Extent(), 0)
			}
		}
	case 9:
		x.Combiner, x.Order = abi.MPI_COMBINER_SUBARRAY, abi.MPI_ORDER_C
		if r.Intn(2) == 0 {
			x.Order = abi.MPI_ORDER_FORTRAN
		}
		x.N = 1 + r.Int63n(4)
		for range x.N {
			size := 1 + r.Int63n(6)
			some := 1 + r.Int63n(size)
			x.Lists[0], x.Lists[1] = append(x.Lists[0], size), append(x.Lists[1], some)
			x.Lists[2] = append(x.Lists[2], r.Int63n(size-some+1))
		}
	case 10, 11:
		x.Combiner, x.Order = abi.MPI_COMBINER_DARRAY, abi.MPI_ORDER_C
		if r.Intn(2) == 0 {
			x.Order = abi.MPI_ORDER_FORTRAN
		}
		x.N, x.A = 1+r.Int63n(4), 1
		for i := range x.N {
			size, processes := 1+number(12), 1+r.Int63n(3)
			kind := abi.MPI_DISTRIBUTE_BLOCK + r.Int63n(2)
			argument := int64(abi.MPI_DISTRIBUTE_DFLT_DARG)
			if r.Intn(3) == 0 {
				argument = 1 + r.Int63n(4)
			}
			if r.Intn(4) == 0 {
				kind, processes = abi.MPI_DISTRIBUTE_NONE, 1
			}
			for j, v := range []int64{size, kind, argument, processes} {
				x.Lists[j] = append(x.Lists[j], v)
			}
			x.A *= x.Lists[3][i]
		}
		x.B = r.Int63n(x.A)
	default:
		x.Combiner, x.A, x.B = abi.MPI_COMBINER_RESIZED, number(20)-10, number(100)-20
		if r.Intn(3) == 0 {
			x.Combiner, x.Large = abi.MPI_COMBINER_DUP, false
		}
	}
	return x
}

// TestConstructMatchesC checks that C and Go construct the same type from the same arguments: with equal flattened
// programs and equal properties.
func TestConstructMatchesC(t *testing.T) {
	r := rand.New(rand.NewSource(22))
	named := []uintptr{abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_BYTE, abi.MPI_DOUBLE_INT,
		abi.MPI_2INT, abi.MPI_C_DOUBLE_COMPLEX}
	types := append([]uintptr{}, named...)
	const calls = 30000
	made := 0
	for range calls {
		if len(types) > 60 {
			for _, h := range types[len(named):] {
				typ, err := datatype.Get(h)
				require.NoError(t, err)
				require.NoError(t, typ.Free())
			}
			types = types[:len(named)]
		}
		x := randomRecipe(r, types)
		h := kernels.Construct(x)
		if h == 0 {
			continue
		}
		types = append(types, h)
		made++
		program, facts := kernels.Program(h)
		again, err := datatype.Get(h)
		require.NoError(t, err)
		what := fmt.Sprintf("%+v", x)
		want := again.Assemble(nil)
		want[datatype.HeadMagic] = program[datatype.HeadMagic]
		require.Equal(t, want, program, what)
		f := again.Facts()
		require.Equal(t, []int64{f.Size, f.LB, f.Extent, f.TrueLB, f.TrueExtent, f.Numbers, f.Unit, f.Integers,
			f.Addresses, f.Counts, f.Types, int64(f.Combiner), int64(f.Align), int64(f.Reversed)},
			facts[:14], what)
		require.Equal(t, []bool{f.Large, f.Resized}, []bool{facts[14] != 0, facts[15] != 0}, what)
	}
	require.Greater(t, made, calls/2)
}
