package coll

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// runInter builds and runs one schedule for each process of the two groups of an intercommunicator. It returns the
// results of build, by group and process.
func runInter(t *testing.T, sizes [2]int, eager int, build func(group int, v view) []byte) [2][][]byte {
	t.Helper()
	across := newMailbox(eager)
	inside := [2]*mailbox{newMailbox(eager), newMailbox(eager)}
	var out [2][][]byte
	var errs [2][]error
	var wg sync.WaitGroup
	for g, n := range sizes {
		out[g], errs[g] = make([][]byte, n), make([]error, n)
		for i := range out[g] {
			wg.Add(1)
			go func() {
				defer wg.Done()
				s := newSchedule(inside[g].end(i), i, n)
				s.remote = view{s, across.across(g, i), -1, sizes[1-g]}
				out[g][i] = build(g, s.local)
				errs[g][i] = finish(s)
			}()
		}
	}
	wg.Wait()
	for g := range errs {
		for i, err := range errs[g] {
			require.NoError(t, err, "group %d, process %d", g, i)
		}
	}
	require.Zero(t, across.left()+inside[0].left()+inside[1].left(), "messages that nobody took")
	return out
}

func TestIntercommunicators(t *testing.T) {
	for _, sizes := range [][2]int{{1, 1}, {1, 3}, {2, 1}, {3, 4}, {5, 2}} {
		for _, size := range []int{0, 8, 3000, 70000} {
			for root := 0; root < sizes[0]; root += max(1, sizes[0]-1) { // rank in group 0
				t.Run(fmt.Sprintf("%v/%d/%d", sizes, size, root),
					func(t *testing.T) { interCase(t, sizes, size, root, size%16*64) })
			}
		}
	}
}

func interCase(t *testing.T, sizes [2]int, size, root, eager int) {
	where := func(g, rank int) rootSide {
		switch {
		case g == 1:
			return rootIsRemote
		case rank == root:
			return rootIsSelf
		}
		return rootInGroup
	}
	blocks := func(n int) [][]byte {
		out := make([][]byte, n)
		for i := range out {
			out[i] = make([]byte, size)
		}
		return out
	}
	inputs := func(seed, n int) []byte {
		var out []byte
		for i := 0; i < n; i++ {
			out = append(out, input(seed, i, size)...)
		}
		return out
	}

	runInter(t, sizes, eager, func(g int, v view) []byte { v.interBarrier(); return nil })

	got := runInter(t, sizes, eager, func(g int, v view) []byte {
		b := make([]byte, size)
		if where(g, v.rank) == rootIsSelf {
			b = input(1, 0, size)
		}
		v.interBcast(b, where(g, v.rank), root)
		return b
	})
	for i, b := range got[1] {
		require.True(t, bytes.Equal(input(1, 0, size), b), "bcast, process %d", i)
	}

	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		out := make([]byte, size)
		v.interReduce(compose, input(2, v.rank, size), out, where(g, v.rank), root)
		return out
	})
	require.True(t, bytes.Equal(reduction(2, 0, sizes[1], size), got[0][root]), "reduce")

	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		out := make([]byte, size)
		v.interAllreduce(compose, input(3+g, v.rank, size), out)
		return out
	})
	for g := range got {
		for i, b := range got[g] {
			require.True(t, bytes.Equal(reduction(3+1-g, 0, sizes[1-g], size), b),
				"allreduce, group %d, process %d", g, i)
		}
	}

	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		all := make([]byte, size*sizes[1])
		bs := blocks(sizes[1])
		v.interGather(input(5, v.rank, size), bs, where(g, v.rank), root)
		v.finish(func() error { copy(all, bytes.Join(bs, nil)); return nil })
		return all
	})
	require.True(t, bytes.Equal(inputs(5, sizes[1]), got[0][root]), "gather")

	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		bs := blocks(sizes[1])
		for i := range bs {
			bs[i] = input(6, i, size)
		}
		own := make([]byte, size)
		v.interScatter(bs, own, where(g, v.rank), root)
		return own
	})
	require.True(t, bytes.Equal(inputs(6, sizes[1]), bytes.Join(got[1], nil)), "scatter")

	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		all := make([]byte, size*sizes[1-g])
		bs := blocks(sizes[1-g])
		v.interAllgather(input(7+g, v.rank, size), bs)
		v.finish(func() error { copy(all, bytes.Join(bs, nil)); return nil })
		return all
	})
	for g := range got {
		for i, b := range got[g] {
			require.True(t, bytes.Equal(inputs(7+1-g, sizes[1-g]), b), "allgather, group %d, process %d", g,
				i)
		}
	}

	// Both groups contribute vectors of the same length. Each group divides the result into blocks for its own
	// members.
	total := size / 2 * 2
	got = runInter(t, sizes, eager, func(g int, v view) []byte {
		counts := make([]int, v.size)
		for i := range counts {
			counts[i] = total / 2 / v.size * 2
		}
		counts[0] += total - counts[0]*v.size
		out := make([]byte, counts[v.rank])
		v.interReduceScatter(compose, input(9+g, v.rank, total), counts, out)
		return out
	})
	for g := range got {
		require.True(t, bytes.Equal(reduction(9+1-g, 0, sizes[1-g], total), bytes.Join(got[g], nil)),
			"reduce_scatter, group %d", g)
	}
}
