package group

import (
	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func rankError(g *Group, i int, r int32) error {
	return mpierr.New(abi.MPI_ERR_RANK, "ranks[%d] is %d, which is not a rank of the group (size %d)", i, r,
		g.n)
}

// marks is a set of ranks of one group.
type marks []uint64

func newMarks(g *Group) marks { return make(marks, (g.n+63)/64) }

func (m marks) has(r int32) bool { return m[r/64]>>(r%64)&1 != 0 }
func (m marks) set(r int32)      { m[r/64] |= 1 << (r % 64) }

// checked returns the set of the given ranks. Errors: MPI_ERR_RANK if an element of `ranks` is not a rank of g or
// occurs twice.
func checked(g *Group, ranks []int32) (marks, error) {
	m := newMarks(g)
	for i, r := range ranks {
		if r < 0 || r >= g.n {
			return nil, rankError(g, i, r)
		}
		if m.has(r) {
			return nil, mpierr.New(abi.MPI_ERR_RANK, "ranks[%d] is %d, which occurs twice in ranks", i, r)
		}
		m.set(r)
	}
	return m, nil
}

// Include returns the group of the processes of g with the given ranks, in the order of the slice `ranks`
// (MPI_Group_incl). Errors: MPI_ERR_RANK if an element of `ranks` is not a rank of g or occurs twice.
func Include(g *Group, ranks []int32) (*Group, error) {
	if _, err := checked(g, ranks); err != nil {
		return nil, err
	}
	out := make([]int32, len(ranks))
	for i, r := range ranks {
		out[i] = g.World(int(r))
	}
	return Of(out).DerivedFrom(g), nil
}

// Triplet is a range of ranks: First, First+Stride, ... up to Last, and Last itself if the sequence contains it.
type Triplet struct{ First, Last, Stride int32 }

// expand returns the ranks of the ranges. Errors: MPI_ERR_ARG if a stride is 0; MPI_ERR_RANK if a rank is not a rank of
// g. It does not check for duplicates; checked does.
func expand(g *Group, ranges []Triplet) ([]int32, error) {
	var out []int32
	for i, t := range ranges {
		if t.Stride == 0 {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "ranges[%d] is (%d, %d, 0): the stride must not be 0",
				i, t.First, t.Last)
		}
		count := (int64(t.Last)-int64(t.First))/int64(t.Stride) + 1
		if (int64(t.Last)-int64(t.First))*sign(t.Stride) < 0 {
			count = 0
		}
		if t.First < 0 || t.First >= g.n {
			return nil, mpierr.New(abi.MPI_ERR_RANK,
				"ranges[%d] begins at %d, which is not a rank of the group (size %d)", i,
				t.First, g.n)
		}
		if end := int64(t.First) + max(count-1, 0)*int64(t.Stride); end < 0 || end >= int64(g.n) {
			return nil, mpierr.New(abi.MPI_ERR_RANK,
				"ranges[%d] is (%d, %d, %d) and ends at %d, which is not a rank of the group (size %d)",
				i, t.First, t.Last, t.Stride, end, g.n)
		}
		if int64(len(out))+count > int64(g.n) {
			return nil, mpierr.New(abi.MPI_ERR_RANK,
				"ranges[0] to ranges[%d] contain more ranks than the group (size %d): a rank occurs "+
					"twice", i,
				g.n)
		}
		for k := int64(0); k < count; k++ {
			out = append(out, t.First+int32(k)*t.Stride)
		}
	}
	return out, nil
}

func sign(x int32) int64 {
	if x < 0 {
		return -1
	}
	return 1
}

// RangeInclude does the same as Include for ranges of ranks (MPI_Group_range_incl). Errors: MPI_ERR_ARG if a stride is
// 0; MPI_ERR_RANK as for Include.
func RangeInclude(g *Group, ranges []Triplet) (*Group, error) {
	ranks, err := expand(g, ranges)
	if err != nil {
		return nil, err
	}
	return Include(g, ranks)
}

// Union returns the group of the members of `a`, followed by those members of `b` that are not in `a`.
func Union(a, b *Group) *Group {
	out := make([]int32, 0, a.n+b.n)
	for i := 0; i < int(a.n); i++ {
		out = append(out, a.World(i))
	}
	for i := 0; i < int(b.n); i++ {
		if w := b.World(i); a.Rank(w) == Undefined {
			out = append(out, w)
		}
	}
	return Of(out).DerivedFrom(a)
}
