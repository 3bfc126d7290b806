// MPI_Dims_create (MPI-5.0 8.5.2): chooses dimensions that are as close to each other as possible, in descending order.
// It minimizes the difference between the largest and the smallest dimension. Among solutions with the same difference,
// it makes the last dimension as large as possible, then the last but one, and so on, as MPICH does.
#include <stdbool.h>
#include <string.h>

#include "base/error_status.h"
#include "comm/z_calls.h"

// Upper bounds for numbers below 2^31. MAX_PRIMES: number of prime factors, counted with multiplicity. MAX_DIVISORS:
// number of divisors (2095133040 has the most).
enum { MAX_PRIMES = 30, MAX_DIVISORS = 1600 };

// A list of divisors in ascending order.
struct divisors {
	int n;
	uint32_t at[MAX_DIVISORS];
};

// Divides *n by p as often as possible and appends p to primes each time. Returns the new number of primes.
static inline int divide_out_prime(uint32_t *n, uint32_t p, uint32_t primes[], int found) {
	for (; *n % p == 0; *n /= p)
		primes[found++] = p;
	return found;
}

// Stores the prime factors of n in ascending order. Returns their number.
static int primes_of(uint32_t n, uint32_t primes[]) {
	int found = divide_out_prime(&n, 3, primes, divide_out_prime(&n, 2, primes, 0));
	for (uint32_t p = 5, step = 2; p * p <= n; p += step, step = 6 - step)
		found = divide_out_prime(&n, p, primes, found);
	if (n > 1)
		primes[found++] = n;
	return found;
}

// Adds the products of the divisors in d with prime, prime^2, ..., prime^times to d.
static void add_multiples(struct divisors *d, uint32_t prime, int times) {
	uint32_t old[MAX_DIVISORS], power = 1;
	int old_count = d->n;
	memcpy(old, d->at, (size_t)old_count * sizeof *old);
	for (int t = 0; t < times; t++) {
		power *= prime;
		int i = d->n - 1, j = old_count - 1, to = d->n + old_count - 1;
		for (; j >= 0; to--)
			d->at[to] = i >= 0 && d->at[i] > old[j] * power ? d->at[i--] : old[j--] * power;
		d->n += old_count;
	}
}

static void divisors_of(struct divisors *d, const uint32_t primes[], int found) {
	d->n = 1;
	d->at[0] = 1;
	for (int i = 0, times; i < found; i += times) {
		for (times = 1; i + times < found && primes[i + times] == primes[i];)
			times++;
		add_multiples(d, primes[i], times);
	}
}

// Returns x^k, or some number greater than n if x^k > n.
static uint64_t power_up_to(uint64_t x, int k, uint64_t n) {
	uint64_t p = 1;
	for (; k > 0 && p <= n; k--)
		p *= x;
	return p;
}

// Returns true if n is the product of k numbers between `low` and `high`. The list d must contain the divisors of n.
static bool has_product(const struct divisors *d, uint32_t n, int k, uint32_t low, uint32_t high) {
	if (k <= 1)
		return k == 0 ? n == 1 : low <= n && n <= high;
	if (power_up_to(low, k, n) > n || power_up_to(high, k, n) < n)
		return false;
	for (int i = 0; i < d->n && d->at[i] <= high; i++) // tries each divisor as the smallest factor
		if (d->at[i] >= low && n % d->at[i] == 0) {
			if (power_up_to(d->at[i], k, n) > n)
				break;
			if (has_product(d, n / d->at[i], k - 1, d->at[i], high))
				return true;
		}
	return false;
}

// Stores k >= 2 numbers in descending order whose product is n.
static void choose_factors(const struct divisors *d, uint32_t n, int k, uint32_t numbers[]) {
	uint32_t largest = n, smallest = 0; // their difference, n, is larger than that of any solution
	for (int i = 0; i < d->n; i++) {
		uint32_t x = d->at[i], spread = largest - smallest;
		if (power_up_to(x, k, n) < n)
			continue;
		// x is the candidate for the largest number. The product of the other k - 1 numbers is n / x. Stops if
		// this product is too small for k - 1 numbers that are all at least x - spread. Every solution with x,
		// or with a larger candidate, then has a larger spread than the best solution so far.
		if (x > spread && power_up_to(x - spread, k - 1, n) > n / x)
			break;
		for (int j = i; j >= 0 && x - d->at[j] <= spread; j--)
			if (has_product(d, n / x, k - 1, d->at[j], x)) {
				largest = x;
				smallest = d->at[j];
				break;
			}
	}
	uint32_t remaining = n / largest, min_factor = smallest;
	numbers[0] = largest;
	for (int last = k - 1, i = d->n - 1; last > 0; last--) { // chooses the last number first
		for (i = d->n - 1; d->at[i] > largest || remaining % d->at[i] != 0 || d->at[i] < min_factor ||
				   !has_product(d, remaining / d->at[i], last - 1, d->at[i], largest);)
			i--;
		numbers[last] = min_factor = d->at[i];
		remaining /= min_factor;
	}
}

// Returns the number whose k-th power has these prime factors, or 0 if there is no such number.
static uint32_t root_of(const uint32_t primes[], int found, int k) {
	uint32_t root = 1;
	for (int i = 0; i < found; i += k) {
		if (i + k > found || primes[i] != primes[i + k - 1])
			return 0;
		root *= primes[i];
	}
	return root;
}

// For two dimensions and up to MAX_TRIAL_DIVISION processes, trial division is faster than factoring.
enum { MAX_TRIAL_DIVISION = 256 };

static int two_factors(uint32_t n, uint32_t numbers[2]) {
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
	struct gompi_error_status v;
	int rc = MPI_SUCCESS, left = nnodes, unset = 0;
	if (ndims < 0 || (ndims > 0 && dims == NULL))
		rc = gompi_set_error(
			&v, MPI_ERR_ARG,
			"ndims is %d and dims is %p; ndims must not be negative, and dims must not be NULL", ndims,
			(void *)dims);
	else if (nnodes <= 0)
		rc = gompi_set_error(&v, MPI_ERR_ARG, "nnodes is %d; it must be positive", nnodes);
	for (int i = 0; i < ndims && rc == MPI_SUCCESS; i++) {
		if (dims[i] < 0)
			rc = gompi_set_error(&v, MPI_ERR_DIMS, "dims[%d] is %d; it must not be negative", i, dims[i]);
		else if (dims[i] == 0)
			unset++;
		else if (left % dims[i] != 0)
			rc = gompi_set_error(&v, MPI_ERR_DIMS,
					     "nnodes is %d, but the product of the positive entries dims[0] to "
					     "dims[%d] is %lld; nnodes must be a multiple of this product",
					     nnodes, i, (long long)(nnodes / left) * dims[i]);
		else
			left /= dims[i];
	}
	if (rc == MPI_SUCCESS && unset == 0 && left != 1)
		rc = gompi_set_error(&v, MPI_ERR_DIMS,
				     "the product of all dims is %d, but nnodes is %d: make them equal, or set an "
				     "entry of dims to 0",
				     nnodes / left, nnodes);
	if (rc != MPI_SUCCESS)
		return gompi_return_error(rc, call, v.text, GOMPI_ON_NONE, 0);
	if (unset == 0)
		return MPI_SUCCESS;
	uint32_t primes[MAX_PRIMES + 1], numbers[MAX_PRIMES + 1];
	const bool trial = unset == 2 && left <= MAX_TRIAL_DIVISION;
	int found = unset == 1 || trial ? 0 : primes_of((uint32_t)left, primes), k = 1;
	if (unset == 1) {
		numbers[0] = (uint32_t)left;
	} else if (trial) {
		k = two_factors((uint32_t)left, numbers);
	} else if (found < unset) { // fewer primes than dimensions: one prime each keeps the largest dimension minimal
		for (k = 0; k < found; k++)
			numbers[k] = primes[found - 1 - k];
	} else if ((numbers[0] = root_of(primes, found, unset)) != 0) {
		for (; k < unset; k++)
			numbers[k] = numbers[0];
	} else {
		struct divisors d;
		divisors_of(&d, primes, found);
		choose_factors(&d, (uint32_t)left, k = unset, numbers);
	}
	for (int i = 0, next = 0; i < ndims; i++)
		if (dims[i] == 0) {
			dims[i] = next < k ? (int)numbers[next] : 1;
			next++;
		}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dims_create, gompi_dims_create);
