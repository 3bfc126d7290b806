package types

import (
	"math/rand"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// randomNodes creates a type by random constructors. All kinds of nodes of a flattened type (capi/datatype/program.h)
// occur, also nested, and sometimes entries overlap.
func randomNodes(r *rand.Rand, depth int) *Type {
	leaves := []uintptr{abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_DOUBLE,
		abi.MPI_C_DOUBLE_COMPLEX, abi.MPI_SHORT_INT, abi.MPI_DOUBLE_INT}
	if depth == 0 {
		return must(datatype.Get(leaves[r.Intn(len(leaves))]))
	}
	old := randomNodes(r, depth-1)
	n := int64(1 + r.Intn(6))
	disps, lengths := make([]int64, n), make([]int64, n)
	at := int64(-4)
	for i := range disps {
		lengths[i] = int64(r.Intn(4))
		disps[i] = at
		at += lengths[i] + int64(r.Intn(3))
	}
	switch r.Intn(6) {
	case 0:
		return must(Contiguous(Small, n, old))
	case 1:
		return must(Vector(Small, n, int64(r.Intn(3)), int64(r.Intn(4)), old))
	case 2:
		return must(Indexed(Small, lengths, disps, old))
	case 3:
		if n > 1 && r.Intn(2) == 0 {
			disps[n-1] = disps[r.Intn(int(n)-1)]
		}
		return must(IndexedBlock(Small, 1, disps, old))
	case 4:
		other := randomNodes(r, depth-1)
		wide := old.Extent()*5 + 100
		return must(Struct(Small, []int64{2, 1}, []int64{0, wide},
			[]*Type{old, other}))
	default:
		f := kernels.PropsOf(old.Handle())
		return must(Resized(Small, old, f.TrueLB, f.TrueExtent+int64(r.Intn(20)-5)))
	}
}

// arena provides the memory of buffers whose addresses are passed to C. The method `reset` frees all these buffers.
type arena struct {
	bytes []byte
	used  int
}

func newArena(t testing.TB) *arena {
	b, err := unix.Mmap(-1, 0, 1<<24, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Munmap(b) })
	return &arena{bytes: b}
}

func (a *arena) reset() {
	clear(a.bytes[:a.used])
	a.used = 0
}

func (a *arena) take(n int64) []byte {
	b := a.bytes[a.used : a.used+int(n) : a.used+int(n)]
	a.used += (int(n) + 127) &^ 63
	return b
}

// spread returns the offset of every byte of the segments, so that lists with different segments can be compared.
func spread(segments [][2]int64) (bytes []int64) {
	for _, s := range segments {
		for k := int64(0); k < s[1]; k++ {
			bytes = append(bytes, s[0]+k)
		}
	}
	return bytes
}

// TestCopyAgainstGo checks that C iterates over, packs, unpacks and copies random types like core/datatype/
func TestCopyAgainstGo(t *testing.T) {
	rounds := int64(4000)
	if testing.Short() {
		rounds = 500
	}
	a := newArena(t)
	for seed := int64(0); seed < rounds; seed++ {
		a.reset()
		r := rand.New(rand.NewSource(seed))
		st := Commit(randomNodes(r, r.Intn(4)))
		count := int64(r.Intn(4))
		l := layoutOf(st)
		lo, hi, ok := l.Bounds(count)
		require.True(t, ok)
		memory := a.take(hi - lo + 16)
		r.Read(memory)
		buf := pointerTo(uintptr(unsafe.Pointer(&memory[0])) - uintptr(lo))
		total, _ := l.Packed(count)
		want := make([]byte, total)
		require.Equal(t, total, Pack(want, uintptr(buf), count, st.Program(), 0))

		for _, elements := range []bool{false, true} {
			n := total
			if elements {
				if st.Elem() == nil {
					continue
				}
				n = count * st.Program()[datatype.HeadElements] * st.Elem().Extent
			}
			position := r.Int63n(n + 1)
			var bytes []int64
			for off, k := range Segments(st.Program(), count, elements, position) {
				bytes = append(bytes, spread([][2]int64{{off, k}})...)
			}
			for _, runs := range []bool{false, true} {
				got := spread(kernels.Walk(st.Handle(), count, elements, position,
					int64(1+r.Intn(60)), runs))
				require.Equal(t, bytes, got, "seed %d: bytes from %d", seed, position)
			}
		}

		got := make([]byte, total)
		for at := int64(0); at < total; {
			n := min(total-at, int64(1+r.Intn(100)))
			packed := datatype.Pack(got[at:at+n], uintptr(buf), count, st.Program(), at)
			require.Equal(t, n, packed, "seed %d", seed)
			at += n
		}
		require.Equal(t, want, got, "seed %d: packed", seed)

		// Copy to another type, whose size may differ.
		dt := Commit(randomNodes(r, r.Intn(4)))
		dcount := int64(r.Intn(5))
		dl := layoutOf(dt)
		dlo, dhi, _ := dl.Bounds(dcount)
		target, expected := a.take(dhi-dlo+16), make([]byte, dhi-dlo+16)
		dbuf := pointerTo(uintptr(unsafe.Pointer(&target[0])) - uintptr(dlo))
		room, _ := dl.Packed(dcount)
		n := min(room, total)
		p := dt.Program()
		Unpack(uintptr(unsafe.Pointer(&expected[0]))-uintptr(dlo), dcount, p, 0, want[:n])
		require.Equal(t, n, kernels.Copy(dbuf, dcount, dt.Handle(), buf, count, st.Handle()), "seed %d", seed)
		require.Equal(t, expected, target, "seed %d: copied", seed)
		clear(target)
		if k := n / 2; true {
			require.Equal(t, k, datatype.Unpack(uintptr(dbuf), dcount, p, 0, want[:k]), "seed %d", seed)
			require.Equal(t, n-k, datatype.Unpack(uintptr(dbuf), dcount, p, k, want[k:n]), "seed %d", seed)
		}
		require.Equal(t, expected, target, "seed %d: unpacked", seed)
		FreeAll()
		for _, typ := range []*Type{st, dt} {
			require.Equal(t, typ.Predefined(), kernels.IsCommitted(typ.Handle()))
		}
	}
}

// TestOverlaps checks that gompi_type_overlaps returns true if any byte of a type occurs twice, and false for types
// such as the columns of a matrix.
func TestOverlaps(t *testing.T) {
	seen := map[bool]int{}
	for seed := int64(0); seed < 3000; seed++ {
		r := rand.New(rand.NewSource(seed))
		typ := Commit(randomNodes(r, r.Intn(4)))
		for count := int64(0); count < 4; count++ {
			touched, twice := map[int64]bool{}, false
			for _, at := range spread(kernels.Walk(typ.Handle(), count, false, 0, 1<<40, false)) {
				twice = twice || touched[at]
				touched[at] = true
			}
			if twice {
				require.True(t, kernels.Overlaps(typ.Handle(), count),
					"seed %d: %d copies", seed, count)
			}
			seen[twice]++
		}
	}
	require.Greater(t, seen[true], 500)
	require.Greater(t, seen[false], 500)

	i := must(datatype.Get(abi.MPI_INT))
	columns := func(block, rows, stride, extent int64) *Type {
		return Commit(must(Resized(Small,
			must(Vector(Small, rows, block, stride, i)), 0, 4*extent)))
	}
	for _, c := range []struct {
		name  string
		typ   *Type
		count int64
		want  bool
	}{
		{"columns of a matrix", columns(1, 5, 8, 1), 8, false},
		{"one column too many", columns(1, 5, 8, 1), 9, true},
		{"columns backwards", columns(1, 5, 8, -1), 8, false},
		{"pairs of columns", columns(2, 5, 8, 2), 4, false},
		{"pairs of columns, one apart", columns(2, 5, 8, 1), 2, true},
		{"rows of a matrix", columns(3, 4, 3, 12), 5, false},
		{"rows that lie close", columns(3, 4, 3, 11), 2, true},
		{"halves of rows", columns(1, 3, 2, 6), 9, false},
		{"all at one place", columns(1, 3, 2, 0), 2, true},
		{"one at one place", columns(1, 3, 2, 0), 1, false},
		{"a stride of 0", columns(1, 3, 0, 1), 1, true},
		{"elements that overlap", columns(2, 1, 1, 1), 2, true},
	} {
		require.Equal(t, c.want, kernels.Overlaps(c.typ.Handle(), c.count), c.name)
	}
}

// TestTypeTable checks that gompi_type_get finds predefined and committed types, and no uncommitted or freed types.
func TestTypeTable(t *testing.T) {
	datatype.Predefined(func(typ *Type) { require.True(t, kernels.IsCommitted(typ.Handle()), typ) })
	typ := must(Vector(Small, 3, 1, 2, must(datatype.Get(abi.MPI_INT))))
	require.False(t, kernels.IsCommitted(typ.Handle()), "gompi_type_get found an uncommitted type")
	Commit(typ)
	require.True(t, kernels.IsCommitted(typ.Handle()))
	h := typ.Handle()
	require.True(t, Free(must(datatype.Get(h))))
	for range 200 { // reuses the table entry of typ
		again := Commit(must(Contiguous(Small, 3, must(datatype.Get(abi.MPI_INT)))))
		require.True(t, kernels.IsCommitted(again.Handle()))
		require.False(t, kernels.IsCommitted(typ.Handle()), "gompi_type_get found a freed type")
		require.True(t, Free(again))
	}
	// C must find all live types while its table grows and afterwards.
	var live, freed []*Type
	for i := range 3000 {
		live = append(live, Commit(must(Contiguous(Small, int64(1+i),
			must(datatype.Get(abi.MPI_INT))))))
		if i%3 == 0 {
			gone := live[i/3]
			freed = append(freed, gone)
			require.True(t, Free(gone))
		}
	}
	for _, typ := range freed {
		require.False(t, kernels.IsCommitted(typ.Handle()))
	}
	for _, typ := range live[len(freed):] {
		require.True(t, kernels.IsCommitted(typ.Handle()))
		require.True(t, Free(typ))
	}
}

func BenchmarkCopy(b *testing.B) {
	double := must(datatype.Get(abi.MPI_DOUBLE))
	vector := must(Vector(Small, 1024, 1, 2, double))
	gaps := make([]int64, 1024)
	for i := range gaps {
		gaps[i] = int64(2*i + i/7)
	}
	list := must(IndexedBlock(Small, 1, gaps, double))
	dense := must(Contiguous(Small, 1024, double))
	cube := must(Subarray(Small, []int64{16, 16, 16}, []int64{8, 8, 16}, []int64{2, 3, 0},
		abi.MPI_ORDER_C, double))
	column := must(Subarray(Small, []int64{16, 16, 16}, []int64{16, 16, 4}, []int64{0, 0, 1},
		abi.MPI_ORDER_C, double))
	src, dst := make([]float64, 1<<16), make([]float64, 1<<16)
	for _, x := range []*Type{vector, list, dense, cube, column} {
		Commit(x)
	}
	for _, c := range []struct {
		name string
		d, s *Type
	}{
		{"vector-vector", vector, vector}, {"dense-vector", dense, vector}, {"vector-dense", vector, dense},
		{"dense-list", dense, list}, {"list-list", list, list},
		{"cube-dense", cube, dense}, {"column-dense", column, dense},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				kernels.Copy(unsafe.Pointer(&dst[0]), 1, c.d.Handle(), unsafe.Pointer(&src[0]), 1,
					c.s.Handle())
			}
		})
	}
}
