package boot

import (
	"hash/fnv"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// oneOfMany is the Client of one process of a large simulated job. It generates the values of the other processes with
// the functions that these processes would use, and counts the messages to the launcher.
type oneOfMany struct {
	Client
	rank, n    int
	value      func(rank int) string
	puts, gets int
	bytes      int
	own        map[string]string
	blocks     map[int]string // joined values of each block, by the block's first rank
}

func (o *oneOfMany) Rank() int                { return o.rank }
func (o *oneOfMany) Size() int                { return o.n }
func (o *oneOfMany) Fence() error             { return nil }
func (o *oneOfMany) Control() (Control, bool) { return Control{}, false }

func (o *oneOfMany) Put(key, value string) error {
	o.puts++
	o.bytes += len(value)
	o.own[key] = value
	return nil
}

func (o *oneOfMany) Get(rank int, key string) (string, error) {
	o.gets++
	v, mine := o.own[key]
	if !mine {
		if v = o.value(rank); strings.Contains(key, ".b") {
			v = o.blocks[rank]
		}
	}
	o.bytes += len(v)
	return v, nil
}

// prepare generates the joined values that other processes would publish. It runs before the measurement, because these
// values are not part of this process's memory in a real job.
func (o *oneOfMany) prepare() {
	block := int(math.Ceil(math.Sqrt(float64(o.n))))
	o.own, o.blocks = map[string]string{}, map[int]string{}
	for first := 0; first < o.n; first += block {
		values := make([]string, min(block, o.n-first))
		for i := range values {
			values[i] = o.value(first + i)
		}
		o.blocks[first] = joinValues(values)
	}
}

// TestScale measures the cost for one process of the boot of a large job, without the launcher's time. docs/SCALING.md
// has the results.
func TestScale(t *testing.T) {
	const count = 1000 // number of nodes
	sizes := []int{1000, 10000}
	if !testing.Short() {
		sizes = append(sizes, 100000)
	}
	for _, n := range sizes {
		for _, rank := range []int{0, n - 1} {
			host := func(r int) string { return "node" + strconv.Itoa(r*count/n) }
			node := func(r int) string {
				sum := fnv.New128a()
				sum.Write([]byte(host(r)))
				return string(sum.Sum(nil)) + host(r)
			}
			kept := costs(t, "nodes", rank, n, node, func(c Client) (any, error) {
				return nodes(c, host(rank), host(rank))
			})
			require.Equal(t, count, kept.(*NodeMap).NodeCount)
			require.Len(t, kept.(*NodeMap).Local, n/count)
			address := strings.Repeat("a", 28) // length of an IPv6 address
			always := func(int) string { return address }
			costs(t, "addresses", rank, n, always, func(c Client) (any, error) {
				return AllGather(c, "address", address)
			})
		}
	}
}

// costs runs a step of the boot in one of n processes, with generated values, and returns its result.
func costs(t *testing.T, name string, rank, n int, value func(int) string, do func(c Client) (any, error)) any {
	o := &oneOfMany{rank: rank, n: n, value: value}
	o.prepare()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	kept, err := do(o)
	took := float64(time.Since(start).Microseconds()) / 1000
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	require.LessOrEqual(t, o.puts, 2)
	require.LessOrEqual(t, o.gets, 2*int(math.Ceil(math.Sqrt(float64(n)))))
	require.Less(t, held, int64(n)*64, "memory that stays")
	t.Logf("%6d processes, rank %6d, %-9s: %d put, %3d fetched, %7d bytes, %6.2f ms, %4d KiB stay", n, rank, name,
		o.puts, o.gets, o.bytes, took, held>>10)
	runtime.KeepAlive(o)
	return kept
}
