package types

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// entry is one element of an explicit typemap, with which tests compare the flattened form.
type entry struct {
	disp int64
	b    *datatype.Basic
}

// model is a type as the standard defines it: the list of its entries, and its bounds, explicit or computed.
type model struct {
	entries []entry
	lb, ub  int64
	resized bool
}

func modelOf(b *datatype.Basic) model { return model{entries: []entry{{0, b}}, ub: b.Extent} }

// settle rounds the extent up to the alignment of the elements, unless the bounds are explicit.
func (m model) settle() model {
	if m.resized {
		return m
	}
	align := int64(1)
	for _, e := range m.entries {
		align = max(align, e.b.Align)
	}
	m.ub = m.lb + roundUp(m.ub-m.lb, align)
	return m
}

// place appends a copy of the type `old` at the displacement disp. The bounds of m grow to include the bounds of the
// copy, as the padding of a C struct member belongs to the struct. Explicit bounds override computed ones.
func (m *model) place(old model, disp int64) {
	if len(old.entries) == 0 && !old.resized {
		return
	}
	if len(m.entries) == 0 && !m.resized || old.resized && !m.resized {
		m.lb, m.ub = disp+old.lb, disp+old.ub
	}
	if old.resized == m.resized || old.resized {
		m.lb, m.ub = min(m.lb, disp+old.lb), max(m.ub, disp+old.ub)
	}
	m.resized = m.resized || old.resized
	for _, e := range old.entries {
		m.entries = append(m.entries, entry{disp + e.disp, e.b})
	}
}

// bytes returns the displacements of all bytes of `count` copies in typemap order. If the argument `elements` is true,
// it includes the gaps inside elements.
func (m model) bytes(count int64, elements bool) []int64 {
	var out []int64
	for k := int64(0); k < count; k++ {
		for _, e := range m.entries {
			for i := int64(0); i < e.b.Extent; i++ {
				gap := e.b.Class == datatype.Pair &&
					(i >= datatype.BasicOf(e.b.Value).Size && i < e.b.IndexAt ||
						i >= e.b.Extent-tail(e.b))
				if !gap || elements {
					out = append(out, k*(m.ub-m.lb)+e.disp+i)
				}
			}
		}
	}
	return out
}

var leaves = []uintptr{
	abi.MPI_INT, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_SHORT_INT, abi.MPI_DOUBLE_INT,
	abi.MPI_LONG_DOUBLE, abi.MPI_2INT,
	abi.MPI_C_DOUBLE_COMPLEX,
}

// randomType creates a random type and its model. If the argument `leaf` is not 0, all elements are of that predefined
// type.
func randomType(t testing.TB, r *rand.Rand, depth int, leaf uintptr) (*Type, model) {
	if depth == 0 || r.Intn(10) == 0 {
		if leaf == 0 {
			leaf = leaves[r.Intn(len(leaves))]
		}
		return named(leaf), modelOf(datatype.BasicOf(leaf))
	}
	old, m := randomType(t, r, depth-1, leaf)
	extent := m.ub - m.lb
	var out model
	var n *Type
	var err error
	count, length := int64(r.Intn(5)), int64(r.Intn(4))
	if len(m.entries) > 200 {
		count, length = min(count, 2), min(length, 1)
	}
	unit := extent
	lengths, disps := make([]int64, count), make([]int64, count)
	for i := range disps {
		lengths[i], disps[i] = int64(r.Intn(4)), int64(r.Intn(9)-3)
		if r.Intn(2) == 0 && i > 0 {
			disps[i] = disps[i-1] + lengths[i-1]
		}
	}
	byBytes := r.Intn(2) == 0
	switch r.Intn(9) {
	case 8:
		n, out, err = randomArray(r, old, m)
	case 0:
		n, err = Contiguous(Small, count, old)
		for i := int64(0); i < count; i++ {
			out.place(m, i*extent)
		}
	case 1, 2:
		stride := int64(r.Intn(9) - 2)
		if byBytes {
			stride *= 4
			n, err = Hvector(Large, count, length, stride, old)
			unit = 1
		} else {
			n, err = Vector(Small, count, length, stride, old)
		}
		for i := int64(0); i < count; i++ {
			for j := int64(0); j < length; j++ {
				out.place(m, i*stride*unit+j*extent)
			}
		}
	case 3:
		if byBytes {
			n, err = Hindexed(Small, lengths, disps, old)
			unit = 1
		} else {
			n, err = Indexed(Large, lengths, disps, old)
		}
		for i := range disps {
			for j := int64(0); j < lengths[i]; j++ {
				out.place(m, disps[i]*unit+j*extent)
			}
		}
	case 4:
		if byBytes {
			n, err = HindexedBlock(Small, length, disps, old)
			unit = 1
		} else {
			n, err = IndexedBlock(Large, length, disps, old)
		}
		for i := range disps {
			for j := int64(0); j < length; j++ {
				out.place(m, disps[i]*unit+j*extent)
			}
		}
	case 5, 6:
		var types []*Type
		models := make([]model, count)
		for i := range disps {
			var ti *Type
			ti, models[i] = old, m
			if r.Intn(2) == 0 {
				ti, models[i] = randomType(t, r, depth-1, leaf)
			}
			types = append(types, ti)
			if disps[i] = int64(r.Intn(100) - 20); r.Intn(2) == 0 && i > 0 {
				disps[i] = disps[i-1] + lengths[i-1]*(models[i-1].ub-models[i-1].lb)
			}
			for j := int64(0); j < lengths[i]; j++ {
				out.place(models[i], disps[i]+j*(models[i].ub-models[i].lb))
			}
		}
		n, err = Struct(Small, lengths, disps, types)
	case 7:
		lb, e := int64(r.Intn(20)-10), int64(r.Intn(60)-5)
		if r.Intn(8) == 0 {
			n, err = Dup(Small, old)
			out = m
			break
		}
		n, err = Resized(Small, old, lb, e)
		out.place(m, 0)
		out.resized, out.lb, out.ub = true, lb, lb+e
	}
	require.NoError(t, err)
	return n, out.settle()
}

// randomArray creates a subarray or a distributed array. To build the model, it tests for every index of the whole
// array, in order, whether the index belongs to the part.
func randomArray(r *rand.Rand, old *Type, m model) (n *Type, out model, err error) {
	ndims := 1 + r.Intn(3)
	most := 5
	if len(m.entries) > 20 {
		ndims, most = 1, 3
	}
	order := int32(abi.MPI_ORDER_C)
	if r.Intn(2) == 0 {
		order = abi.MPI_ORDER_FORTRAN
	}
	sizes := make([]int64, ndims)
	whole := int64(1)
	for i := range sizes {
		sizes[i] = int64(1 + r.Intn(most))
		whole *= sizes[i]
	}
	var has func(dim int, i int64) bool
	if r.Intn(2) == 0 {
		subsizes, starts := make([]int64, ndims), make([]int64, ndims)
		for i := range sizes {
			subsizes[i] = 1 + r.Int63n(sizes[i])
			starts[i] = r.Int63n(sizes[i] - subsizes[i] + 1)
		}
		n, err = Subarray(Form(r.Intn(2) == 0), sizes, subsizes, starts, order, old)
		has = func(dim int, i int64) bool { return i >= starts[dim] && i < starts[dim]+subsizes[dim] }
	} else {
		distribs, dargs, psizes := make([]int32, ndims), make([]int32, ndims), make([]int32, ndims)
		size := int32(1)
		for i := range sizes {
			distribs[i] = abi.MPI_DISTRIBUTE_NONE + int32(r.Intn(3))
			psizes[i], dargs[i] = int32(1+r.Intn(3)), abi.MPI_DISTRIBUTE_DFLT_DARG
			switch {
			case distribs[i] == abi.MPI_DISTRIBUTE_NONE:
				psizes[i] = 1
			case r.Intn(2) == 0:
				if dargs[i] = int32(1 + r.Intn(3)); distribs[i] == abi.MPI_DISTRIBUTE_BLOCK {
					dargs[i] += int32(sizes[i]-1) / psizes[i]
				}
			}
			size *= psizes[i]
		}
		rank := int32(r.Intn(int(size)))
		n, err = Darray(Form(r.Intn(2) == 0), size, rank, sizes, distribs, dargs, psizes, order, old)
		coordinates := make([]int64, ndims)
		for i, at := ndims-1, int64(rank); i >= 0; i-- {
			coordinates[i], at = at%int64(psizes[i]), at/int64(psizes[i])
		}
		has = func(dim int, i int64) bool {
			block := int64(dargs[dim])
			switch {
			case distribs[dim] == abi.MPI_DISTRIBUTE_NONE:
				return true
			case dargs[dim] != abi.MPI_DISTRIBUTE_DFLT_DARG:
			case distribs[dim] == abi.MPI_DISTRIBUTE_CYCLIC:
				block = 1
			default:
				block = (sizes[dim] + int64(psizes[dim]) - 1) / int64(psizes[dim])
			}
			return i/block%int64(psizes[dim]) == coordinates[dim]
		}
	}
	for at := int64(0); at < whole; at++ {
		inside, rest := true, at
		for k := range sizes {
			dim := k // in Fortran's order, the first dimension varies fastest
			if order == abi.MPI_ORDER_C {
				dim = ndims - 1 - k
			}
			inside = inside && has(dim, rest%sizes[dim])
			rest /= sizes[dim]
		}
		if inside {
			out.place(m, at*(m.ub-m.lb))
		}
	}
	out.resized, out.lb, out.ub = true, 0, whole*(m.ub-m.lb)
	return n, out, err
}

// TestRandomTypes compares size, bounds, overlap, elements and the bytes of data with the explicit typemap.
func TestRandomTypes(t *testing.T) {
	rounds := 5000
	if testing.Short() {
		rounds = 1000
	}
	for seed := int64(0); seed < int64(rounds); seed++ {
		r := rand.New(rand.NewSource(seed))
		leaf := uintptr(0)
		if r.Intn(3) == 0 {
			leaf = leaves[r.Intn(len(leaves))]
		}
		typ, m := randomType(t, r, 1+r.Intn(4), leaf)
		checkAgainst(t, r, seed, typ, m)
		FreeAll()
	}
}

func checkAgainst(t *testing.T, r *rand.Rand, seed int64, typ *Type, m model) {
	l := layoutOf(typ)
	require.NoError(t, validate(l.prog), "seed %d", seed)
	one := m.bytes(1, false)
	require.EqualValues(t, len(one), typ.Size(), "seed %d: size", seed)
	require.EqualValues(t, len(one), l.Size(), "seed %d: size", seed)
	require.Equal(t, []int64{m.lb, m.ub - m.lb}, []int64{l.prog[datatype.HeadLB], l.prog[datatype.HeadExtent]},
		"seed %d: lb, extent", seed)
	require.Equal(t, []int64{m.lb, m.ub - m.lb}, []int64{kernels.PropsOf(typ.Handle()).LB, typ.Extent()},
		"seed %d: lb, extent", seed)
	require.EqualValues(t, len(m.entries), l.prog[datatype.HeadElements], "seed %d: elements", seed)

	touched := map[int64]int{}
	for _, b := range one {
		touched[b]++
	}
	if len(touched) < len(one) {
		require.True(t, l.Flag(datatype.FlagOverlap), "seed %d: overlap not seen", seed)
	}
	elem := uintptr(0)
	for i, e := range m.entries {
		if i == 0 {
			elem = e.b.Handle
		} else if elem != e.b.Handle {
			elem = 0
			break
		}
	}
	require.EqualValues(t, elem, l.prog[datatype.HeadElem], "seed %d: element type", seed)
	checkElements(t, r, seed, typ, m)

	count := int64(r.Intn(4))
	for _, elements := range []bool{false, true} {
		if elements && elem == 0 {
			continue
		}
		want := m.bytes(count, elements)
		lo, hi, ok := l.Bounds(count)
		if elements {
			lo, hi, ok = l.elemBounds(count)
		}
		require.True(t, ok)
		if len(want) == 0 {
			require.Equal(t, lo, hi)
		} else {
			require.Equal(t, []int64{slices.Min(want), slices.Max(want) + 1}, []int64{lo, hi},
				"seed %d: bounds", seed)
		}
		packed := l.packed(count, elements)
		require.EqualValues(t, len(want), packed, "seed %d", seed)
		for _, at := range []int64{0, r.Int63n(packed + 1), r.Int63n(packed + 1), r.Int63n(packed + 1)} {
			got := []int64{}
			for offset, n := range Segments(l.prog, count, elements, at) {
				require.Positive(t, n)
				for k := range n {
					got = append(got, offset+k)
				}
			}
			require.Equal(t, append([]int64{}, want[at:]...), got, "seed %d: bytes from %d", seed, at)
		}
		if !elements {
			checkCopies(t, r, seed, l, count, want, lo, hi)
		}
	}
}

// checkElements compares MPI_Get_elements, MPI_Status_set_elements and external32 with the typemap.
func checkElements(t *testing.T, r *rand.Rand, seed int64, typ *Type, m model) {
	var ends []int64 // end offset in bytes of each basic element, in the packed form of two copies of the type
	at, external := int64(0), int64(0)
	for range 2 {
		for _, e := range m.entries {
			external += e.b.External()
			if e.b.Class == datatype.Pair {
				ends = append(ends, at+datatype.BasicOf(e.b.Value).Size)
			}
			at += e.b.Size
			ends = append(ends, at)
		}
	}
	f := kernels.PropsOf(typ.Handle())
	require.Equal(t, external, 2*f.External, "seed %d: external32", seed)
	if f.BasicBytes != 0 {
		require.Equal(t, f.Size, f.BasicCount*f.BasicBytes, "seed %d: a unit of %d bytes", seed, f.BasicBytes)
		for k, end := range ends {
			require.Equal(t, int64(k+1)*f.BasicBytes, end, "seed %d: a unit of %d bytes", seed,
				f.BasicBytes)
		}
	}
	for range 4 {
		k := r.Intn(len(ends) + 1)
		bytes := int64(0)
		if k > 0 {
			bytes = ends[k-1]
		}
		require.EqualValues(t, k, kernels.ElementsIn(typ.Handle(), bytes),
			"seed %d: elements in %d bytes", seed, bytes)
		require.Equal(t, bytes, kernels.BytesOf(typ.Handle(), int64(k)),
			"seed %d: bytes of %d elements", seed, k)
		if k > 0 && !slices.Contains(ends, bytes-1) && bytes > 1 {
			require.EqualValues(t, abi.MPI_UNDEFINED, kernels.ElementsIn(typ.Handle(), bytes-1),
				"seed %d: %d bytes", seed, bytes-1)
		}
	}
}

// checkCopies packs and unpacks data in segments of random size, and compares the result with the displacements in
// `want`.
func checkCopies(t *testing.T, r *rand.Rand, seed int64, l Layout, count int64, want []int64, lo, hi int64) {
	mem := make([]byte, hi-lo)
	r.Read(mem)
	expect := make([]byte, len(want))
	for i, b := range want {
		expect[i] = mem[b-lo]
	}
	got := make([]byte, len(want))
	for at := 0; at < len(got); {
		n := min(len(got)-at, 1+r.Intn(40))
		require.EqualValues(t, n, datatype.Pack(got[at:at+n], addressOf(mem, lo), count, l.prog, int64(at)),
			"seed %d", seed)
		at += n
	}
	require.Equal(t, expect, got, "seed %d: packed", seed)

	filled, back := make([]byte, hi-lo), make([]byte, hi-lo)
	r.Read(got)
	for i, b := range want {
		back[b-lo] = got[i]
	}
	for at := 0; at < len(got); {
		n := min(len(got)-at, 1+r.Intn(40))
		require.EqualValues(t, n, datatype.Unpack(addressOf(filled, lo), count, l.prog, int64(at),
			got[at:at+n]),
			"seed %d", seed)
		at += n
	}
	require.Equal(t, back, filled, "seed %d: unpacked", seed)
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
