package group

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// random returns a random group, and its members as a list. The members are processes from 0 to universe-1, with
// constant or varying distances.
func random(rnd *rand.Rand, universe int) (*Group, []int32) {
	var members []int32
	switch rnd.Intn(4) {
	case 0:
		perm := rnd.Perm(universe)
		for _, p := range perm[:rnd.Intn(universe+1)] {
			members = append(members, int32(p))
		}
	case 1:
		for w := rnd.Intn(universe); w < universe; w += 1 + rnd.Intn(2) {
			members = append(members, int32(w))
		}
	default:
		stride := 1 + rnd.Intn(3)
		for w := rnd.Intn(universe); w < universe; w += stride {
			members = append(members, int32(w))
		}
		if rnd.Intn(2) == 0 {
			slices.Reverse(members)
		}
	}
	return Of(slices.Clone(members)), members
}

func TestOperationsAgainstLists(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	for round := 0; round < 3000; round++ {
		universe := 1 + rnd.Intn(40)
		a, la := random(rnd, universe)
		b, lb := random(rnd, universe)
		require.ElementsMatch(t, la, a.Members())
		require.Equal(t, len(la), a.Size())
		for w := int32(-3); w < int32(universe)+3; w++ {
			want := slices.Index(la, w)
			if want < 0 {
				want = Undefined
			}
			require.Equal(t, want, a.Rank(w), "%v %d", la, w)
		}
		union := slices.Clone(la)
		for _, w := range lb {
			if !slices.Contains(la, w) {
				union = append(union, w)
			}
		}
		equal(t, union, Union(a, b))
	}
}

func equal(t *testing.T, want []int32, g *Group) {
	t.Helper()
	if len(want) == 0 {
		require.Zero(t, g.Size())
		return
	}
	require.Equal(t, want, g.Members())
}

func TestInclude(t *testing.T) {
	g := Range(10, 6, 2) // 10 12 14 16 18 20
	for _, c := range []struct {
		name  string
		ranks []int32
		incl  []int32
		class int32
	}{
		{"none", nil, nil, 0},
		{"some", []int32{5, 0, 3}, []int32{20, 10, 16}, 0},
		{"all", []int32{0, 1, 2, 3, 4, 5}, []int32{10, 12, 14, 16, 18, 20}, 0},
		{"too large", []int32{0, 6}, nil, abi.MPI_ERR_RANK},
		{"negative", []int32{-1}, nil, abi.MPI_ERR_RANK},
		{"twice", []int32{2, 3, 2}, nil, abi.MPI_ERR_RANK},
		{"proc null", []int32{abi.MPI_PROC_NULL}, nil, abi.MPI_ERR_RANK},
	} {
		in, err := Include(g, c.ranks)
		require.Equal(t, c.class, mpierr.ClassOf(err), c.name)
		if c.class == 0 {
			equal(t, c.incl, in)
		}
	}
}

func TestRanges(t *testing.T) {
	g := Range(0, 10, 1)
	for _, c := range []struct {
		name   string
		ranges []Triplet
		incl   []int32
		class  int32
	}{
		{"up", []Triplet{{1, 7, 3}}, []int32{1, 4, 7}, 0},
		{"last not met", []Triplet{{1, 6, 3}}, []int32{1, 4}, 0},
		{"down", []Triplet{{9, 6, -2}, {0, 0, 1}}, []int32{9, 7, 0}, 0},
		{"single, last beyond", []Triplet{{8, 11, 4}}, []int32{8}, 0},
		{"empty", []Triplet{{3, 1, 1}}, nil, 0},
		{"empty with a wide stride", []Triplet{{3, 1, 10}}, nil, 0},
		{"stride 0", []Triplet{{3, 3, 0}}, nil, abi.MPI_ERR_ARG},
		{"twice", []Triplet{{0, 4, 2}, {4, 4, 1}}, nil, abi.MPI_ERR_RANK},
		{"beyond", []Triplet{{0, 10, 2}}, nil, abi.MPI_ERR_RANK},
		{"huge", []Triplet{{0, 1<<31 - 1, 1}}, nil, abi.MPI_ERR_RANK},
		{"negative", []Triplet{{-1, 3, 1}}, nil, abi.MPI_ERR_RANK},
	} {
		in, err := RangeInclude(g, c.ranges)
		require.Equal(t, c.class, mpierr.ClassOf(err), c.name)
		if c.class == 0 {
			equal(t, c.incl, in)
		}
	}
}

func TestRegularGroupsKeepNoList(t *testing.T) {
	require.Nil(t, Of([]int32{4, 6, 8, 10}).list)
	require.Nil(t, Of([]int32{7, 6, 5}).list)
	require.NotNil(t, Of([]int32{1, 2, 4}).list)
	require.Same(t, Empty, Of(nil))
}
