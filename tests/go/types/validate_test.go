package types

import (
	"encoding/binary"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// samples returns programs with every kind of node.
func samples() map[string][]int64 {
	i, c := named(abi.MPI_INT), named(abi.MPI_CHAR)
	gap := must(Resized(Small, must(Indexed(Small, []int64{1, 2, 1}, []int64{0, 2, 9}, i)), 0, 50))
	return map[string][]int64{
		"block":  named(abi.MPI_DOUBLE).Program(),
		"pair":   program(must(Vector(Small, 2, 2, 5, named(abi.MPI_SHORT_INT)))),
		"loop":   program(must(Vector(Small, 3, 2, 4, i))),
		"list":   program(must(IndexedBlock(Small, 2, []int64{0, 5, 7, 13, 30}, gap))),
		"blocks": program(gap),
		"seq":    program(must(Struct(Small, []int64{3, 2, 9}, []int64{-7, 200, 500}, []*Type{gap, i, c}))),
		"empty":  program(must(Contiguous(Small, 0, i))),
	}
}

// TestValidateChangedWords changes single words of programs. validate must reject the result, or the result must be
// safe to interpret.
func TestValidateChangedWords(t *testing.T) {
	for name, prog := range samples() {
		require.NoError(t, validate(prog), name)
		require.EqualValues(t, abi.MPI_ERR_TYPE, mpierr.ClassOf(validate(nil)))
		for k := range prog {
			require.Error(t, validate(prog[:k]), "%s cut at %d", name, k)
			for _, v := range []int64{0, 1, -1, prog[k] + 1, prog[k] - 1, 1 << 40, 1<<63 - 1, -1 << 63,
				int64(len(prog)), datatype.HeadWords} {
				if v == prog[k] {
					continue
				}
				changed := slices.Clone(prog)
				changed[k] = v
				if validate(changed) != nil {
					continue
				}
				// The changed program describes a different, valid type. For example, an offset, the
				// type of the elements or a flag has changed.
				exercise(t, changed)
			}
		}
	}
}

// TestValidateWidth checks that a program is rejected if the distance of two entries does not fit 64 bits, although
// each displacement does.
func TestValidateWidth(t *testing.T) {
	const far = 1<<62 + 1
	prog := slices.Clone(program(must(Hindexed(Large, []int64{1, 2, 1}, []int64{0, -64, -256},
		named(abi.MPI_CHAR)))))
	require.NoError(t, validate(prog))
	require.EqualValues(t, datatype.NodeBlocks, prog[prog[datatype.HeadRoot]])
	prog[datatype.HeadWords+3+1], prog[datatype.HeadWords+3+2] = far, -far
	prog[datatype.HeadTrueLB], prog[datatype.HeadTrueUB] = -far, far+2
	require.ErrorContains(t, validate(prog), "do not fit 64 bits")
}

// exercise interprets a valid program, for as many copies as fit a small buffer.
func exercise(t *testing.T, prog []int64) {
	l := Layout{prog}
	for _, count := range []int64{0, 1, 2, 7, 1 << 40, 1<<63 - 1} {
		for _, elements := range []bool{false, true} {
			if elements && l.prog[datatype.HeadElem] == 0 {
				continue
			}
			bounds := l.Bounds
			if elements {
				bounds = l.elemBounds
			}
			lo, hi, ok := bounds(count)
			total := l.packed(count, elements)
			if !ok || total < 0 {
				continue
			}
			for _, pos := range []int64{0, total / 2, max(total-9, 0)} {
				pieces := 0
				for off, n := range Segments(prog, count, elements, pos) {
					require.GreaterOrEqual(t, off, lo)
					require.LessOrEqual(t, off+n, hi)
					pos += n
					if pieces++; pieces == 100 {
						break
					}
				}
				if pieces < 100 {
					require.Equal(t, total, pos)
				}
			}
		}
	}
}

// FuzzValidate checks that every valid program can be interpreted within its bounds.
func FuzzValidate(f *testing.F) {
	for _, prog := range samples() {
		f.Add(bytesOfWords(prog))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		prog := make([]int64, len(b)/8)
		for i := range prog {
			prog[i] = int64(binary.NativeEndian.Uint64(b[8*i:]))
		}
		if validate(prog) == nil {
			exercise(t, prog)
		}
	})
}

func bytesOfWords(words []int64) []byte {
	out := []byte{}
	for _, w := range words {
		out = binary.NativeEndian.AppendUint64(out, uint64(w))
	}
	return out
}

// TestValidateRandomChanges is a short fuzz test for every test run: it changes several words of the programs of random
// types.
func TestValidateRandomChanges(t *testing.T) {
	valid := 0
	for seed := int64(0); seed < 3000; seed++ {
		r := rand.New(rand.NewSource(seed))
		typ, _ := randomType(t, r, 3, 0)
		prog := slices.Clone(program(typ))
		for range 1 + r.Intn(2) {
			k := r.Intn(len(prog))
			switch r.Intn(4) {
			case 0:
				prog[k] = int64(r.Intn(len(prog) + 5))
			case 1:
				prog[k] += int64(r.Intn(9) - 4)
			case 2:
				prog[k] = r.Int63() >> r.Intn(60)
			default:
				prog[k] = prog[r.Intn(len(prog))]
			}
		}
		if validate(prog) == nil {
			valid++
			exercise(t, prog)
		}
	}
	require.Greater(t, valid, 30, "nothing that was changed is valid: this tests nothing")
}
