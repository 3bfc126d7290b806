// MPI_Dims_create (MPI-5.0 8.5.2): the numbers filled in are as near to each other as they can be, the larger ones
// first. The largest exceeds the smallest by as little as possible; where that does not decide, the last is as large as
// possible, then the one before it, and so on, as MPICH has it.
#include <stdbool.h>
#include <string.h>

#include "base/verdict.h"
#include "comm/z_calls.h"

// Of a number below 2^31: prime factors, and divisors (of 2095133040).
enum { MOST_PRIMES = 30, MOST_DIVISORS = 1600 };

// In ascending order.
struct divisors {
	int n;
	uint32_t at[MOST_DIVISORS];
};

// Takes a factor out of *n as often as it goes and returns the number of primes that are found then.
static inline int take_prime(uint32_t *n, uint32_t p, uint32_t primes[], int found) {
	for (; *n % p == 0; *n /= p)
		primes[found++] = p;
	return found;
}

// Stores the prime factors of n in ascending order and returns their number.
static int primes_of(uint32_t n, uint32_t primes[]) {
	int found = take_prime(&n, 3, primes, take_prime(&n, 2, primes, 0));
	for (uint32_t p = 5, step = 2; p * p <= n; p += step, step = 6 - step)
		found = take_prime(&n, p, primes, found);
	if (n > 1)
		primes[found++] = n;
	return found;
}

// Adds the products of all divisors and the powers of a prime that comes so many times.
static void multiply(struct divisors *d, uint32_t prime, int times) {
	uint32_t old[MOST_DIVISORS], power = 1;
	int had = d->n;
	memcpy(old, d->at, (size_t)had * sizeof *old);
	for (int t = 0; t < times; t++) {
		power *= prime;
		int i = d->n - 1, j = had - 1, to = d->n + had - 1;
		for (; j >= 0; to--)
			d->at[to] = i >= 0 && d->at[i] > old[j] * power ? d->at[i--] : old[j--] * power;
		d->n += had;
	}
}

static void divisors_of(struct divisors *d, const uint32_t primes[], int found) {
	d->n = 1;
	d->at[0] = 1;
	for (int i = 0, times; i < found; i += times) {
		for (times = 1; i + times < found && primes[i + times] == primes[i];)
			times++;
		multiply(d, primes[i], times);
	}
}

// Returns x to the k, or more than n if that is more.
static uint64_t power_up_to(uint64_t x, int k, uint64_t n) {
	uint64_t p = 1;
	for (; k > 0 && p <= n; k--)
		p *= x;
	return p;
}

// Returns true if n, whose divisors are among d, is the product of k numbers from low to high.
static bool has_product(const struct divisors *d, uint32_t n, int k, uint32_t low, uint32_t high) {
	if (k <= 1)
		return k == 0 ? n == 1 : low <= n && n <= high;
	if (power_up_to(low, k, n) > n || power_up_to(high, k, n) < n)
		return false;
	for (int i = 0; i < d->n && d->at[i] <= high; i++) // the smallest of them
		if (d->at[i] >= low && n % d->at[i] == 0) {
			if (power_up_to(d->at[i], k, n) > n)
				break;
			if (has_product(d, n / d->at[i], k - 1, d->at[i], high))
				return true;
		}
	return false;
}

// Stores k numbers, at least 2, in descending order whose product is n.
static void nearest(const struct divisors *d, uint32_t n, int k, uint32_t numbers[]) {
	uint32_t largest = n, smallest = 0; // n and 1 are found first, unless there is something better
	for (int i = 0; i < d->n; i++) {
		uint32_t x = d->at[i], spread = largest - smallest;
		if (power_up_to(x, k, n) < n)
			continue;
		// The smallest of the others is at most their geometric mean, so that from some x on nothing is better.
		if (x > spread && power_up_to(x - spread, k - 1, n) > n / x)
			break;
		for (int j = i; j >= 0 && x - d->at[j] <= spread; j--)
			if (has_product(d, n / x, k - 1, d->at[j], x)) {
				largest = x;
				smallest = d->at[j];
				break;
			}
	}
	uint32_t rest = n / largest, least = smallest;
	numbers[0] = largest;
	for (int last = k - 1, i = d->n - 1; last > 0; last--) { // from the last on
		for (i = d->n - 1; d->at[i] > largest || rest % d->at[i] != 0 || d->at[i] < least ||
				   !has_product(d, rest / d->at[i], last - 1, d->at[i], largest);)
			i--;
		numbers[last] = least = d->at[i];
		rest /= least;
	}
}

// Returns the number whose k-th power has these prime factors; 0: there is none.
static uint32_t root_of(const uint32_t primes[], int found, int k) {
	uint32_t root = 1;
	for (int i = 0; i < found; i += k) {
		if (i + k > found || primes[i] != primes[i + k - 1])
			return 0;
		root *= primes[i];
	}
	return root;
}

// Two dimensions of few processes are tried out sooner than the primes are found.
enum { FEW_PROCESSES = 256 };

static int two_of(uint32_t n, uint32_t numbers[2]) {
	uint32_t best = 1;
	for (uint32_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			best = d;
	numbers[0] = n / best;
	numbers[1] = best;
	return 2;
}

int gompi_dims_create(int nnodes, int ndims, int dims[]) {
	static const char call[] = "MPI_Dims_create";
	struct gompi_verdict v;
	int rc = MPI_SUCCESS, left = nnodes, empty = 0;
	if (ndims < 0 || (ndims > 0 && dims == NULL))
		rc = gompi_error(&v, MPI_ERR_ARG, "%d dims at address %#llx", ndims,
				 (unsigned long long)(uintptr_t)dims);
	else if (nnodes <= 0)
		rc = gompi_error(&v, MPI_ERR_ARG, "nnodes is %d", nnodes);
	for (int i = 0; i < ndims && rc == MPI_SUCCESS; i++) {
		if (dims[i] < 0)
			rc = gompi_error(&v, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
		else if (dims[i] == 0)
			empty++;
		else if (left % dims[i] != 0)
			rc = gompi_error(&v, MPI_ERR_DIMS,
					 "the dimensions that are given do not divide %d processes: dims[%d] is %d",
					 nnodes, i, dims[i]);
		else
			left /= dims[i];
	}
	if (rc == MPI_SUCCESS && empty == 0 && left != 1)
		rc = gompi_error(&v, MPI_ERR_DIMS, "all dimensions are given, and their product is not %d", nnodes);
	if (rc != MPI_SUCCESS)
		return gompi_refuse(rc, call, v.text, GOMPI_ON_NONE, 0);
	if (empty == 0)
		return MPI_SUCCESS;
	uint32_t primes[MOST_PRIMES + 1], numbers[MOST_PRIMES + 1];
	const bool few = empty == 2 && left <= FEW_PROCESSES;
	int found = empty == 1 || few ? 0 : primes_of((uint32_t)left, primes), k = 1;
	if (empty == 1) {
		numbers[0] = (uint32_t)left;
	} else if (few) {
		k = two_of((uint32_t)left, numbers);
	} else if (found < empty) { // the last is 1, so the first is to be small: no factor is smaller than a prime
		for (k = 0; k < found; k++)
			numbers[k] = primes[found - 1 - k];
	} else if ((numbers[0] = root_of(primes, found, empty)) != 0) {
		for (; k < empty; k++)
			numbers[k] = numbers[0];
	} else {
		struct divisors d;
		divisors_of(&d, primes, found);
		nearest(&d, (uint32_t)left, k = empty, numbers);
	}
	for (int i = 0, next = 0; i < ndims; i++)
		if (dims[i] == 0) {
			dims[i] = next < k ? (int)numbers[next] : 1;
			next++;
		}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dims_create, gompi_dims_create)
