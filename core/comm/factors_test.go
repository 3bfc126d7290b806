package comm

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// nearer returns whether a is to be preferred to b, by the words of nearest.
func nearer(a, b []int64) bool {
	if x, y := a[0]-a[len(a)-1], b[0]-b[len(b)-1]; x != y {
		return x < y
	}
	for i := range slices.Backward(a) {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// products calls do with all lists of k numbers in descending order whose product is n, behind those of head.
func products(n int64, k int, head []int64, do func([]int64)) {
	if k == 0 {
		if n == 1 {
			do(head)
		}
		return
	}
	for _, d := range divisors(n) {
		if len(head) == 0 || d <= head[len(head)-1] {
			products(n/d, k-1, append(head, d), do)
		}
	}
}

// TestNearest compares with all there is, for every small number and some larger ones.
func TestNearest(t *testing.T) {
	compare := func(n int64, k int) {
		var best []int64
		products(n, k, nil, func(p []int64) {
			if best == nil || nearer(p, best) {
				best = slices.Clone(p)
			}
		})
		require.Equal(t, best, nearest(n, k), "%d in %d", n, k)
	}
	for n := int64(1); n <= 1500; n++ {
		for k := 1; k <= 5; k++ {
			compare(n, k)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 300 {
		n := int64(1)
		for most := 1 + r.Int63n(1<<31-1); ; { // of small primes, so that there is a choice
			p := []int64{2, 2, 2, 3, 3, 5, 7, 11, 13}[r.Intn(9)]
			if n*p > most {
				break
			}
			n *= p
		}
		compare(n, 2)
		if n < 1<<20 {
			compare(n, 3)
		}
	}
}

// TestNearestOfMany: any number of numbers, of what has most divisors, most prime factors, and few large ones.
func TestNearestOfMany(t *testing.T) {
	for _, n := range []int64{2095133040, 2147483647, 1 << 30, 1<<31 - 1<<16, 1162261467, 1102701600,
		2 * 3 * 5 * 7 * 11 * 13 * 17 * 19 * 23, 46337 * 46327, 6469693230 / 29 * 8} {
		for k := 1; k <= 40; k++ {
			numbers := nearest(n, k)
			product := int64(1)
			for _, d := range numbers {
				product *= d
			}
			require.Equal(t, n, product)
			require.Len(t, numbers, k)
			require.True(t, slices.IsSortedFunc(numbers, func(a, b int64) int { return int(b - a) }),
				numbers)
		}
	}
}
