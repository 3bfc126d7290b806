package comm

import "slices"

// nearest returns k numbers, in descending order, whose product is n and of which the first exceeds the last by as
// little as possible; where that does not decide, the last is as large as possible, then the one before it, and so on,
// as MPICH has it.
func nearest(n int64, k int) []int64 {
	// the last is 1, so the first is to be small: no factor is smaller than a prime
	if primes := primesOf(n); len(primes) < k {
		ones := slices.Repeat([]int64{1}, k-len(primes))
		return append(primes, ones...)
	}
	f := factors{divisors: divisors(n), can: map[window]bool{}}
	largest, smallest := n, int64(0) // n and 1 are found first, unless there is something better
	for _, d := range f.divisors {
		// The smallest of the others is at most their geometric mean, so that from some d on nothing is better.
		if power(d-(largest-smallest), k-1) > n/d {
			break
		}
		for _, m := range slices.Backward(f.divisors) {
			if d-m > largest-smallest {
				break
			}
			if m <= d && f.fit(window{n / d, k - 1, m, d}) {
				largest, smallest = d, m
				break
			}
		}
	}
	numbers := []int64{largest}
	for rest, least := n/largest, smallest; len(numbers) < k; { // the others from the last on
		for _, d := range slices.Backward(f.divisors) {
			if d >= least && d <= largest && rest%d == 0 &&
				f.fit(window{rest / d, k - 1 - len(numbers), d, largest}) {
				numbers, rest, least = slices.Insert(numbers, 1, d), rest/d, d
				break
			}
		}
	}
	return numbers
}

// window asks for k numbers from low to high whose product is n.
type window struct {
	n         int64
	k         int
	low, high int64
}

// factors finds products of the divisors of a number, which are in ascending order.
type factors struct {
	divisors []int64
	can      map[window]bool
}

// fit returns whether there are such numbers.
func (f *factors) fit(w window) bool {
	switch {
	case w.k == 0:
		return w.n == 1
	case w.k == 1:
		return w.low <= w.n && w.n <= w.high
	case power(w.low, w.k) > w.n || power(w.high, w.k) < w.n:
		return false
	}
	if r, ok := f.can[w]; ok {
		return r
	}
	r := false
	for _, d := range f.divisors { // the largest of them
		if d > w.high || r {
			break
		}
		if d >= w.low && w.n%d == 0 {
			r = f.fit(window{w.n / d, w.k - 1, w.low, d})
		}
	}
	f.can[w] = r
	return r
}

// power returns x to the k, at most 2 to the 62.
func power(x int64, k int) int64 {
	const most = 1 << 62
	p := int64(1)
	for ; k > 0 && x > 1; k-- {
		if p > most/x {
			return most
		}
		p *= x
	}
	if x < 1 && k > 0 {
		return 0
	}
	return p
}

// primesOf returns the prime factors of n in descending order.
func primesOf(n int64) []int64 {
	var primes []int64
	for p := int64(2); p*p <= n; p++ {
		for n%p == 0 {
			primes, n = append(primes, p), n/p
		}
	}
	if n > 1 {
		primes = append(primes, n)
	}
	slices.Reverse(primes)
	return primes
}

// divisors returns the divisors of n in ascending order.
func divisors(n int64) []int64 {
	var low, high []int64
	for d := int64(1); d*d <= n; d++ {
		if n%d == 0 {
			low = append(low, d)
			if d*d != n {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
