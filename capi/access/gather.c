// Which accesses are of interest, and how they are kept until the next call of MPI: each place in the program has a run
// of memory that lies together or has one distance, so that a loop over an array is one piece.

#include <stdlib.h>
#include <sys/mman.h>

#include "access/access.h"

enum { GAPS = 16, RUNS = 256, CLOSED = 8192, PAGE_BITS = 12 };

// Parts of one size at one distance, read or written by one place.
struct run {
	uintptr_t place, low;
	int64_t size, stride, count;
	unsigned kind;
};

struct gather {
	atomic_flag busy; // guards all but next
	struct gather *next;
	size_t closed_count;
	struct run open[RUNS];
	struct run closed[CLOSED];
};

// What a thread knows of the ranges: memory between them, by the page that was accessed.
struct gap {
	uintptr_t low, size; // of addresses from which 16 bytes are in the gap
};
static _Thread_local struct {
	uint32_t change;
	bool inside; // in a function of this file: a signal has come
	struct gather *gather;
	struct gap gaps[GAPS];
} access_self __attribute__((tls_model("initial-exec")));

static _Atomic(struct gather *) gather_all; // of threads that have ended as well: there is one for each thread at a time
static size_t drain_gathered(uint64_t *words, size_t room);

__attribute__((visibility("default"))) struct gompi_access_runtime gompi_access_runtime = {
    .version = GOMPI_ACCESS_VERSION, .drain = drain_gathered};

// Returns true if one of the ranges has any of the bytes; else finds the gap that they are in.
static bool in_ranges(uintptr_t from, uintptr_t to, struct gap *gap) {
	struct gompi_access_runtime *r = &gompi_access_runtime;
	for (;;) {
		uint32_t change = gompi_load_acquire(&r->change); // pairs with the release of who changes the ranges
		uint32_t low = 0, high = gompi_load(&r->ranges), n = high;
		while (low < high) { // the first range that ends behind from
			uint32_t middle = (low + high) / 2;
			if (gompi_load(&r->high[middle]) > from)
				high = middle;
			else
				low = middle + 1;
		}
		bool is = low < n && gompi_load(&r->low[low]) < to;
		uintptr_t begin = low > 0 ? gompi_load(&r->high[low - 1]) : 0;
		uintptr_t end = low < n ? gompi_load(&r->low[low]) : UINTPTR_MAX;
		gompi_load_fence();
		if ((change & 1) || gompi_load(&r->change) != change) {
			gompi_pause();
			continue;
		}
		if (gap != NULL && !is)
			*gap = (struct gap){begin, end - begin > 16 ? end - begin - 16 : 0};
		return is;
	}
}

bool gompi_access_wanted(uintptr_t address, size_t size) {
	uint32_t change = gompi_load(&gompi_access_runtime.change);
	if (access_self.change != change) {
		access_self.change = change;
		for (int i = 0; i < GAPS; i++)
			access_self.gaps[i].size = 0;
	}
	if (size > 16)
		return in_ranges(address, address + size, NULL);
	struct gap *gap = &access_self.gaps[address >> PAGE_BITS & (GAPS - 1)];
	if (address - gap->low < gap->size)
		return false;
	return in_ranges(address, address + size, gap);
}

static void lock_gather(struct gather *g) {
	while (gompi_flag_take(&g->busy))
		gompi_pause();
}

static struct gather *new_gather(void) {
	void *at = mmap(NULL, sizeof(struct gather), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	struct gather *g = at, *first = gompi_load_acquire(&gather_all);
	do
		g->next = first;
	while (!gompi_change_acq_rel(&gather_all, &first, g)); // pairs with the acquire in drain_gathered
	return g;
}

static int by_place(const void *a, const void *b) {
	const struct run *x = a, *y = b;
#define COMPARE(field)              \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	COMPARE(kind); // atomic ones come last
	COMPARE(place);
	COMPARE(stride);
	COMPARE(count);
	COMPARE(low);
	COMPARE(size);
#undef COMPARE
	return 0;
}

static bool same_place(const struct run *x, const struct run *y) { return x->kind == y->kind && x->place == y->place; }

// Sorts runs, and joins those that lie together. Returns how many there are then.
static size_t join_runs(struct run *runs, size_t n) {
	qsort(runs, n, sizeof *runs, by_place);
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		struct run *x = &runs[i], *last = m > 0 ? &runs[m - 1] : NULL;
		if (last != NULL && same_place(last, x) && last->stride == x->stride && last->count == x->count) {
			int64_t ahead = x->low - last->low;
			bool fits = last->count == 1 || ahead + x->size <= last->stride;
			if (ahead <= last->size && fits) {
				if (ahead + x->size > last->size)
					last->size = ahead + x->size;
				continue;
			}
		}
		runs[m++] = *x;
	}
	// Parts of one size at one distance, such as the rows of a field without its border.
	n = m, m = 0;
	for (size_t i = 0; i < n; i++) {
		struct run *x = &runs[i], *last = m > 0 ? &runs[m - 1] : NULL;
		if (last != NULL && x->count == 1 && same_place(last, x) && last->size == x->size) {
			int64_t ahead = x->low - (last->low + last->stride * (last->count - 1));
			if (last->count == 1 || ahead == last->stride) {
				last->stride = ahead;
				last->count++;
				continue;
			}
		}
		runs[m++] = *x;
	}
	return m;
}

// Ends a run. Returns true if there is no room for more.
static bool close_run(struct gather *g, struct run *r) {
	if (r->count == 2) { // no distance yet
		r->count = 1;
		struct run second = *r;
		second.low += r->stride;
		r->stride = second.stride = 0;
		g->closed[g->closed_count++] = second;
	} else if (r->stride < 0) {
		r->low += r->stride * (r->count - 1);
		r->stride = -r->stride;
	}
	g->closed[g->closed_count++] = *r;
	r->count = 0;
	if (g->closed_count < CLOSED - 2)
		return false;
	// A run that was found in the order of their places is not joined with one at a distance again.
	g->closed_count = join_runs(g->closed, g->closed_count);
	return g->closed_count > CLOSED / 2;
}

// Adds an access to the run of its place, if it goes on there.
static bool extend_run(struct run *r, uintptr_t address, int64_t size) {
	int64_t at = address - r->low;
	if (r->count == 1) {
		if (at >= 0 && at + size <= r->size)
			return true;
		if (at == r->size) {
			r->size += size;
			return true;
		}
		if (at == -size) {
			r->low = address;
			r->size += size;
			return true;
		}
		if (size != r->size)
			return false;
		r->stride = at;
		r->count = 2;
		return at >= size || at <= -size;
	}
	if (size != r->size)
		return false;
	if (at == r->stride * r->count) {
		r->count++;
		return true;
	}
	return at % r->stride == 0 && at / r->stride >= 0 && at / r->stride < r->count;
}

void gompi_access_gather(uintptr_t address, size_t size, unsigned kind, void *place) {
	struct gompi_access_runtime *all = &gompi_access_runtime;
	bool (*outside)(void) = gompi_load(&all->outside);
	if (access_self.inside || size == 0 || outside == NULL || !outside())
		return;
	access_self.inside = true;
	struct gather *g = access_self.gather;
	if (g == NULL)
		g = access_self.gather = new_gather();
	bool full = false;
	if (g != NULL) {
		lock_gather(g);
		struct run *r = &g->open[((uintptr_t)place * 2 + (kind & 1)) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
		bool known = r->count > 0 && r->place == (uintptr_t)place && r->kind == kind;
		struct run before = *r;
		if (!known || !extend_run(r, address, size)) {
			if (before.count > 0) {
				*r = before;
				full = close_run(g, r);
			}
			*r = (struct run){(uintptr_t)place, address, size, 0, 1, kind};
		}
		if (gompi_load(&all->pending) == 0)
			gompi_store(&all->pending, 1);
		gompi_flag_give(&g->busy);
	}
	access_self.inside = false;
	void (*pass_on)(void) = gompi_load(&all->pass_on);
	if (full && pass_on != NULL)
		pass_on();
}

// Writes the closed runs of a gather, as many as there is room for, from the last place on.
static size_t write_groups(struct gather *g, uint64_t *words, size_t room) {
	enum { HEAD = 2, PIECE = 4 };
	size_t used = 0, i = 0;
	while (i < g->closed_count && used + HEAD + PIECE <= room) {
		size_t head = used, pieces = 0;
		const struct run *first = &g->closed[i];
		used += HEAD;
		for (; i < g->closed_count && same_place(first, &g->closed[i]) && used + PIECE <= room; i++, pieces++) {
			const struct run *r = &g->closed[i];
			words[used++] = r->low;
			words[used++] = r->size;
			words[used++] = r->stride;
			words[used++] = r->count;
		}
		words[head] = first->place;
		words[head + 1] = first->kind | pieces << 8;
	}
	for (size_t k = i; k < g->closed_count; k++)
		g->closed[k - i] = g->closed[k];
	g->closed_count -= i;
	return used;
}

static size_t drain_gathered(uint64_t *words, size_t room) {
	if (access_self.inside)
		return 0;
	access_self.inside = true;
	gompi_store(&gompi_access_runtime.pending, 0);
	size_t used = 0;
	// Acquire: pairs with the change in new_gather.
	for (struct gather *g = gompi_load_acquire(&gather_all); g != NULL && used == 0; g = g->next) {
		lock_gather(g);
		bool full = false;
		for (int i = 0; i < RUNS && !full; i++)
			if (g->open[i].count > 0)
				full = close_run(g, &g->open[i]);
		g->closed_count = join_runs(g->closed, g->closed_count);
		used = write_groups(g, words, room);
		gompi_flag_give(&g->busy);
	}
	if (used > 0)
		gompi_store(&gompi_access_runtime.pending, 1); // there may be more
	access_self.inside = false;
	return used;
}
