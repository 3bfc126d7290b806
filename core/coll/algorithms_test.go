package coll

import (
	"bytes"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// runAll builds and runs one schedule for each of n processes. It returns what build returned for each process.
func runAll(t *testing.T, n, eager int, build func(v view) []byte) [][]byte {
	t.Helper()
	box := newMailbox(eager)
	out := make([][]byte, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := newSchedule(box.end(i), i, n)
			out[i] = build(s.local)
			errs[i] = finish(s)
		}()
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, "process %d of %d", i, n)
	}
	require.Zero(t, box.left(), "messages that nobody took")
	return out
}

// input returns the contribution of process i.
func input(seed, i, size int) []byte {
	b := make([]byte, size)
	rand.New(rand.NewSource(int64(seed)*1000 + int64(i))).Read(b)
	return b
}

// compose is an operation that is associative but not commutative. An element of 2 bytes (a, b) represents the function
// x -> a*x+b over bytes; the operation composes two such functions.
var compose = &reducer{size: 2, f: func(in, inout []byte) error {
	if len(in) != len(inout) || len(in)%2 != 0 {
		return fmt.Errorf("combine of %d and %d bytes", len(in), len(inout))
	}
	for i := 0; i < len(in); i += 2 {
		a, b := in[i], in[i+1]
		inout[i], inout[i+1] = a*inout[i], a*inout[i+1]+b
	}
	return nil
}}

// reduction returns the expected result: the reduction of the inputs of ranks [lo, hi) from left to right.
func reduction(seed, lo, hi, size int) []byte {
	acc := input(seed, lo, size)
	for i := lo + 1; i < hi; i++ {
		next := input(seed, i, size)
		if err := compose.combine(acc, next); err != nil {
			panic(err)
		}
		acc = next
	}
	return acc
}

var processes = []int{1, 2, 3, 4, 5, 7}

// cases calls f for combinations of the number of processes, the size in bytes and the root. Alternately, messages up
// to 1024 bytes are eager, or none are (mailbox.eager).
func cases(t *testing.T, sizes []int, f func(t *testing.T, n, size, root, eager int)) {
	for _, n := range processes {
		for i, size := range sizes {
			for j, root := range []int{0, n / 2, n - 1} {
				eager := (i + j) % 2 << 10
				t.Run(fmt.Sprintf("%d/%d/%d/%d", n, size, root, eager),
					func(t *testing.T) { f(t, n, size, root, eager) })
			}
		}
	}
}

var sizes = []int{0, 10, 1024, 70002}

func TestBcast(t *testing.T) {
	cases(t, sizes, func(t *testing.T, n, size, root, eager int) {
		out := runAll(t, n, eager, func(v view) []byte {
			b := make([]byte, size)
			if v.rank == root {
				b = input(1, root, size)
			}
			v.bcast(b, root)
			return b
		})
		for i := range out {
			require.True(t, bytes.Equal(input(1, root, size), out[i]), "process %d", i)
		}
	})
}

func TestReduce(t *testing.T) {
	cases(t, sizes, func(t *testing.T, n, size, root, eager int) {
		out := runAll(t, n, eager, func(v view) []byte {
			own := input(2, v.rank, size)
			return v.reduce(compose, own, root)
		})
		for i := range out {
			if i == root {
				require.True(t, bytes.Equal(reduction(2, 0, n, size), out[i]))
			} else {
				require.Empty(t, out[i])
			}
		}
	})
}

// TestReduceCommutative checks reductions by a commutative operation, which may start at any rank.
func TestReduceCommutative(t *testing.T) {
	sum := &reducer{size: 1, commutative: true, f: func(in, inout []byte) error {
		for i := range in {
			inout[i] += in[i]
		}
		return nil
	}}
	cases(t, []int{1, 100, 50000}, func(t *testing.T, n, size, root, eager int) {
		want := make([]byte, size)
		for i := 0; i < n; i++ {
			require.NoError(t, sum.combine(input(3, i, size), want))
		}
		out := runAll(t, n, eager, func(v view) []byte { return v.reduce(sum, input(3, v.rank, size), root) })
		require.True(t, bytes.Equal(want, out[root]))
	})
}

func TestAllreduceAndScan(t *testing.T) {
	cases(t, sizes, func(t *testing.T, n, size, root, eager int) {
		inPlace := root > 0
		run := func(seed int, f func(v view, own, out []byte)) [][]byte {
			return runAll(t, n, eager, func(v view) []byte {
				own := input(seed, v.rank, size)
				out := make([]byte, size)
				if inPlace {
					out = own
				}
				f(v, own, out)
				if !inPlace {
					v.finish(func() error {
						if !bytes.Equal(own, input(seed, v.rank, size)) {
							return fmt.Errorf("the send buffer was changed")
						}
						return nil
					})
				}
				return out
			})
		}
		for i, b := range run(4, func(v view, own, out []byte) { v.allreduce(compose, own, out) }) {
			require.True(t, bytes.Equal(reduction(4, 0, n, size), b), "process %d", i)
		}
		for i, b := range run(5, func(v view, own, out []byte) { v.scan(compose, own, out, KindScan) }) {
			require.True(t, bytes.Equal(reduction(5, 0, i+1, size), b), "scan, process %d", i)
		}
		for i, b := range run(6, func(v view, own, out []byte) { v.scan(compose, own, out, KindExscan) }) {
			if i > 0 {
				require.True(t, bytes.Equal(reduction(6, 0, i, size), b), "exscan, process %d", i)
			} else if inPlace {
				require.True(t, bytes.Equal(input(6, 0, size), b), "exscan touches nothing on rank 0")
			}
		}
	})
}

// uneven returns different block sizes for n processes, of 0 to about size bytes.
func uneven(n, size int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = size * (i % 3) / 2 * 2
	}
	return out
}

func TestReduceScatter(t *testing.T) {
	cases(t, []int{0, 2, 300, 20000}, func(t *testing.T, n, size, root, eager int) {
		counts := uneven(n, size)
		total := 0
		for _, c := range counts {
			total += c
		}
		out := runAll(t, n, eager, func(v view) []byte {
			own := input(7, v.rank, total)
			blocks, at := make([][]byte, n), 0
			for i, c := range counts {
				blocks[i] = own[at : at+c]
				at += c
			}
			return v.reduceScatter(compose, blocks, nil)
		})
		want, at := reduction(7, 0, n, total), 0
		for i, c := range counts {
			require.True(t, bytes.Equal(want[at:at+c], out[i]), "process %d", i)
			at += c
		}
	})
}

// TestReduceScatterCommutative checks reductions by a commutative operation, for which the last process accumulates
// into a block that it has received. It also checks that the result is in the requested buffer.
func TestReduceScatterCommutative(t *testing.T) {
	sum := &reducer{size: 1, commutative: true, f: func(in, inout []byte) error {
		for i := range in {
			inout[i] += in[i]
		}
		return nil
	}}
	cases(t, []int{2, 300, 20000}, func(t *testing.T, n, size, root, eager int) {
		for i, b := range runAll(t, n, eager, func(v view) []byte {
			blocks := make([][]byte, n)
			for i := range blocks {
				blocks[i] = input(v.rank, i, size)
			}
			to := make([]byte, size)
			v.copy(to, v.reduceScatter(sum, blocks, to))
			return to
		}) {
			want := make([]byte, size)
			for r := range n {
				for k, x := range input(r, i, size) {
					want[k] += x
				}
			}
			require.Equal(t, want, b, "process %d", i)
		}
	})
}

func TestGatherScatter(t *testing.T) {
	cases(t, sizes, func(t *testing.T, n, size, root, eager int) {
		for _, equal := range []bool{true, false} {
			counts := uneven(n, size)
			if equal {
				for i := range counts {
					counts[i] = size
				}
			}
			blocks := func(fill bool) [][]byte {
				out := make([][]byte, n)
				for i, c := range counts {
					out[i] = make([]byte, c)
					if fill {
						out[i] = input(8, i, c)
					}
				}
				return out
			}
			var want []byte
			for _, b := range blocks(true) {
				want = append(want, b...)
			}
			got := runAll(t, n, eager, func(v view) []byte {
				if v.rank != root {
					v.gather(input(8, v.rank, counts[v.rank]), nil, root, route(equal))
					return nil
				}
				bs, all := blocks(false), make([]byte, len(want))
				v.gather(input(8, v.rank, counts[v.rank]), bs, root, route(equal))
				v.finish(func() error { copy(all, bytes.Join(bs, nil)); return nil })
				return all
			})
			require.True(t, bytes.Equal(want, got[root]), "gather")
			got = runAll(t, n, eager, func(v view) []byte {
				own := make([]byte, counts[v.rank])
				var bs [][]byte
				if v.rank == root {
					bs = blocks(true)
				}
				v.scatter(bs, own, root, route(equal))
				return own
			})
			for i := range got {
				require.True(t, bytes.Equal(input(8, i, counts[i]), got[i]), "scatter, process %d", i)
			}
			got = runAll(t, n, eager, func(v view) []byte {
				bs, all := blocks(false), make([]byte, len(want))
				bs[v.rank] = input(8, v.rank, counts[v.rank])
				v.allgather(bs, blockSizes(equal))
				v.finish(func() error { copy(all, bytes.Join(bs, nil)); return nil })
				return all
			})
			for i := range got {
				require.True(t, bytes.Equal(want, got[i]), "allgather, process %d", i)
			}
		}
	})
}

func TestAlltoall(t *testing.T) {
	block := func(from, to, size int) []byte { return input(9, from*100+to, size*((from+to)%3)) }
	for _, n := range append(processes, maxInFlight+5) {
		for _, size := range []int{0, 1, 700, 3000} {
			got := runAll(t, n, 1<<10, func(v view) []byte {
				in, out := make([][]byte, n), make([][]byte, n)
				total := 0
				for i := range in {
					in[i] = block(v.rank, i, size)
					out[i] = make([]byte, len(block(i, v.rank, size)))
					total += len(out[i])
				}
				all := make([]byte, total)
				v.alltoall(in, out)
				join := func() error { copy(all, bytes.Join(out, nil)); return nil }
				v.finish(join)
				return all
			})
			for i := range got {
				var want []byte
				for j := 0; j < n; j++ {
					want = append(want, block(j, i, size)...)
				}
				require.True(t, bytes.Equal(want, got[i]), "process %d of %d", i, n)
			}
		}
	}
}

func TestBarrierWaitsForAll(t *testing.T) {
	for _, n := range processes {
		var mu sync.Mutex
		arrived := 0
		runAll(t, n, 1<<10, func(v view) []byte {
			v.do(func() error { mu.Lock(); arrived++; mu.Unlock(); return nil })
			v.barrier()
			v.do(func() error {
				mu.Lock()
				defer mu.Unlock()
				if arrived != n {
					return fmt.Errorf("%d of %d have arrived", arrived, n)
				}
				return nil
			})
			return nil
		})
	}
}

// TestAllgatherIntervals checks the result for blocks of different lengths, including empty blocks, and that there are
// ceil(log2 n) rounds.
func TestAllgatherIntervals(t *testing.T) {
	for _, n := range append(processes, 8, 13) {
		sizes := make([]int, n)
		want := []byte{}
		for i := range sizes {
			sizes[i] = i * 7 % 4 * 100
			want = append(want, input(3, i, sizes[i])...)
		}
		got := runAll(t, n, n%2<<10, func(v view) []byte {
			whole := make([]byte, len(want))
			blocks := splitSizes(whole, sizes)
			copy(blocks[v.rank], input(3, v.rank, sizes[v.rank]))
			v.allgatherIntervals(blocks, whole)
			rounds := 0
			for _, s := range v.steps {
				if s.kind == stepWait {
					rounds++
				}
			}
			require.LessOrEqual(t, 1<<rounds, max(2*n-2, 1))
			return whole
		})
		for i, b := range got {
			require.Equal(t, want, b, "process %d of %d", i, n)
		}
	}
}
