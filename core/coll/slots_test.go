package coll

import (
	"bytes"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// nodes opens the shared memory of n processes n times in this process.
func nodes(t testing.TB, n int) []*shm.Node {
	f, err := shm.CreateControl(n)
	require.NoError(t, err)
	defer f.Close()
	out := make([]*shm.Node, n)
	for i := range out {
		fd, err := unix.Dup(int(f.Fd()))
		require.NoError(t, err)
		out[i], err = shm.Open(fd, i)
		require.NoError(t, err)
		t.Cleanup(out[i].Close)
	}
	return out
}

// members returns the slots of n members, each with a mapping of its own; member i is process n-1-i of the node.
func members(t testing.TB, n int) []*slots { return sizedMembers(t, n, smallSize, smallDepth) }

func sizedMembers(t testing.TB, n, slotSize, depth int) []*slots {
	nds := nodes(t, n)
	size := (slotsSize(n, slotSize, depth) + shm.PageSize - 1) / shm.PageSize * shm.PageSize
	off, err := nds[0].Reserve(size, 0)
	require.NoError(t, err)
	require.NoError(t, nds[0].Commit(off, size))
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(n - 1 - i)
	}
	out := make([]*slots, n)
	for i := range out {
		nd := nds[index[i]]
		b, err := nd.Map(off, size)
		require.NoError(t, err)
		t.Cleanup(func() { nd.Unmap(b) })
		out[i] = newSlots(nd, b[:slotsSize(n, slotSize, depth)], index, i, slotSize, depth)
	}
	return out
}

// inParallel runs f for each member in a goroutine of its own.
func inParallel(t testing.TB, ms []*slots, f func(m *slots) error) {
	t.Helper()
	errs := make([]error, len(ms))
	var wg sync.WaitGroup
	for i, m := range ms {
		wg.Add(1)
		go func() { defer wg.Done(); errs[i] = f(m) }()
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, "member %d", i)
	}
}

func equal(want, got []byte, text string, args ...any) error {
	if bytes.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("%s: wrong result", fmt.Sprintf(text, args...))
}

// A random sequence of collectives, the same on all members, with members that are late at random: it also shows that
// slots are not filled again too early.
func TestSlotsRandom(t *testing.T) {
	for n := 1; n <= 14; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ms := sizedMembers(t, (n+1)/2, []int{smallSize, largeSize}[n%2],
				[]int{smallDepth, largeDepth}[n%2])
			n := len(ms)
			inParallel(t, ms, func(m *slots) error {
				script, late := rand.New(rand.NewSource(int64(n))),
					rand.New(rand.NewSource(int64(m.me)))
				for k := 0; k < 200; k++ {
					if late.Intn(20) == 0 {
						time.Sleep(time.Duration(late.Intn(300)) * time.Microsecond)
					}
					kind := Kind(script.Intn(int(numKinds)))
					root := script.Intn(n)
					size := []int{0, 2, 8, 100, m.data, m.data + 2, 3*m.data - 100}[script.Intn(7)]
					if err := oneOfSlots(m, kind, k, root, size); err != nil {
						return fmt.Errorf("call %d, %v, root %d, %d bytes: %w", k, kind, root,
							size, err)
					}
				}
				return nil
			})
		})
	}
}

// oneOfSlots does one collective with the inputs of seed and compares its result.
func oneOfSlots(m *slots, kind Kind, seed, root, size int) error {
	n := m.n
	own := input(seed, m.me, size)
	out := make([]byte, size)
	inPlace := seed%2 == 0
	if inPlace {
		out = own
	}
	blocks := make([][]byte, n)
	all := func(size func(i int) int) []byte {
		var want []byte
		for i := 0; i < n; i++ {
			want = append(want, input(seed, i, size(i))...)
		}
		return want
	}
	same := func(int) int { return size }
	switch kind {
	case KindBarrier:
		return m.barrier()
	case KindBcast:
		if err := m.bcast(own, root); err != nil {
			return err
		}
		return equal(input(seed, root, size), own, "bcast")
	case KindReduce:
		if err := m.reduce(compose, own, out, root); err != nil || m.me != root {
			return err
		}
		return equal(reduction(seed, 0, n, size), out, "reduce")
	case KindAllreduce:
		if err := m.allreduce(compose, own, out); err != nil {
			return err
		}
		return equal(reduction(seed, 0, n, size), out, "allreduce")
	case KindScan, KindExscan:
		upto := m.me
		if kind == KindScan {
			upto++
		}
		want := append([]byte(nil), out...)
		if upto > 0 {
			want = reduction(seed, 0, upto, size)
		}
		if err := m.scan(compose, own, out, kind); err != nil {
			return err
		}
		return equal(want, out, "scan")
	case KindReduceScatter, KindReduceScatterBlock:
		sizes, from := make([]int, n), 0
		for i := range sizes {
			sizes[i] = size / 2 / n * 2
			if kind == KindReduceScatter && i%2 == 1 {
				sizes[i] = sizes[i] / 4 * 2
			}
			if i < m.me {
				from += sizes[i]
			}
		}
		total := 0
		for _, s := range sizes {
			total += s
		}
		own = own[:total]
		out = make([]byte, sizes[m.me])
		if inPlace {
			out = own[:sizes[m.me]]
		}
		if err := m.reduceScatter(compose, own, sizes, out); err != nil {
			return err
		}
		return equal(reduction(seed, 0, n, size)[from:from+sizes[m.me]], out, "reduce_scatter")
	case KindGather:
		for i := range blocks {
			blocks[i] = make([]byte, size)
		}
		if err := m.gather(own, blocks, root); err != nil || m.me != root {
			return err
		}
		return equal(all(same), bytes.Join(blocks, nil), "gather")
	case KindScatter:
		for i := range blocks {
			blocks[i] = input(seed, i, size)
		}
		own = make([]byte, size)
		if err := m.scatter(blocks, own, root); err != nil {
			return err
		}
		return equal(input(seed, m.me, size), own, "scatter")
	case KindAllgather, KindAllgatherv:
		lengths := same
		if kind == KindAllgatherv {
			lengths = func(i int) int { return size * (i % 3) / 2 }
		}
		for i := range blocks {
			blocks[i] = make([]byte, lengths(i))
		}
		blocks[m.me] = input(seed, m.me, lengths(m.me))
		if err := m.allgather(blocks); err != nil {
			return err
		}
		return equal(all(lengths), bytes.Join(blocks, nil), "allgather")
	case KindAlltoall:
		in, want := make([][]byte, n), []byte{}
		for i := range in {
			in[i] = input(seed*100+m.me, i, size)
			blocks[i] = make([]byte, size)
			want = append(want, input(seed*100+i, m.me, size)...)
		}
		if inPlace {
			blocks = in
		}
		if err := m.alltoall(in, blocks); err != nil {
			return err
		}
		return equal(want, bytes.Join(blocks, nil), "alltoall")
	}
	return nil
}

// Members that sleep are woken: the last one comes when all others have given up polling.
func TestSlotsWake(t *testing.T) {
	ms := members(t, 3)
	for _, m := range ms {
		m.nd.Policy.Slice = time.Hour // without a wake-up nobody wakes
	}
	lost := time.AfterFunc(2*time.Minute, func() { panic("a wake-up was lost") })
	defer lost.Stop()
	inParallel(t, ms, func(m *slots) error {
		for k := 0; k < 6; k++ {
			if m.me == k%3 {
				time.Sleep(20 * time.Millisecond)
			}
			if err := m.barrier(); err != nil {
				return err
			}
		}
		// A root that is far ahead waits for room.
		for k := 0; k < 3*smallDepth; k++ {
			if m.me == 1 && k == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			if err := m.bcast(make([]byte, 8), 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSlotsMismatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		class int32
		other func(m *slots) error
	}{
		{"longer", abi.MPI_ERR_TRUNCATE, func(m *slots) error { return m.bcast(make([]byte, 9), 0) }},
		{"shorter", abi.MPI_ERR_COUNT, func(m *slots) error { return m.bcast(make([]byte, 7), 0) }},
		{"root", abi.MPI_ERR_ROOT, func(m *slots) error { return m.gather(make([]byte, 8), nil, 2) }},
		{"kind", abi.MPI_ERR_OTHER, func(m *slots) error { return m.reduce(compose, make([]byte, 8), nil, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms := members(t, 3)
			done := make(chan error, 2)
			go func() { done <- c.other(ms[0]) }()
			b := make([]byte, 8)
			var err error
			if c.name == "root" {
				go func() { done <- ms[2].gather(make([]byte, 8), nil, 1) }()
				err = ms[1].gather(b, [][]byte{make([]byte, 8), b, make([]byte, 8)}, 1)
			} else {
				done <- nil
				err = ms[1].bcast(b, 0)
			}
			require.NoError(t, <-done)
			require.NoError(t, <-done)
			require.Equal(t, c.class, mpierr.ClassOf(err), "%v", err)
		})
	}
}

func TestSlotsDeathEndsWait(t *testing.T) {
	ms := members(t, 2)
	done := make(chan error)
	go func() { done <- ms[0].barrier() }()
	time.Sleep(5 * time.Millisecond)
	ms[0].nd.MarkDead(ms[0].nd.Me)
	_ = ms[1]
	require.Equal(t, int32(abi.MPI_ERR_PROC_ABORTED), mpierr.ClassOf(<-done))
}

func BenchmarkAllreduce8(b *testing.B) {
	ms := members(b, 2)
	sum := &reducer{size: 8, f: func(in, inout []byte) error { *word64(inout, 0) += *word64(in, 0); return nil }}
	b.ResetTimer()
	inParallel(b, ms, func(m *slots) error {
		own, out := make([]byte, 8), make([]byte, 8)
		for i := 0; i < b.N; i++ {
			if err := m.allreduce(sum, own, out); err != nil {
				return err
			}
		}
		return nil
	})
}
