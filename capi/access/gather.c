// Selects the accesses to watched memory and stores them until the next MPI call. Each program location has a run:
// accesses at contiguous addresses or at one stride. So a loop over an array is one run.
//
// All state is per thread. The thread passes its accesses to libgompirma-insight.so before it calls MPI and before it
// synchronizes with another thread. If a thread ends without either, its latest accesses are lost.

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "access/access.h"

// Memory may become watched after it has been accessed: the earlier access may conflict with an operation that another
// thread starts later, without synchronization in between. So while there are several threads, accesses to memory that
// is not watched are also recorded. A thread records at most MAX_UNWATCHED_RUNS runs of such accesses until its next
// MPI call or synchronization.

enum { MAX_CLOSED_RUNS = 8192, MAX_UNWATCHED_RUNS = 1024 };

// Blocks of one size at one stride, read or written by one program location.
struct run {
	uintptr_t pc, low;
	int64_t block_bytes, stride, block_count;
	unsigned kind;
};

struct gather {
	bool may_have_runs; // accesses may have been recorded since the last drain
	int unwatched_runs; // number of runs that began in memory that was not watched
	size_t closed_count;
	struct gompi_access_site sites[GOMPI_ACCESS_SITES];
	struct run closed[MAX_CLOSED_RUNS];
};

// The sites of threads without a struct gather. Their generation 0 is never valid, so no access takes the fast path.
static struct gompi_access_site no_sites[GOMPI_ACCESS_SITES];
_Thread_local struct gompi_access_site *gompi_access_sites = no_sites;
static __attribute__((tls_model("initial-exec"))) _Thread_local struct gather *access_gather;
// True while the thread is inside a function of this file. If it is true on entry, a signal handler has interrupted
// such a function.
static __attribute__((tls_model("initial-exec"))) _Thread_local bool access_inside;

static bool has_gathered(void);
static size_t drain_gathered(uint64_t *words, size_t room);
static void forget_gathered(uintptr_t low, uintptr_t high);

__attribute__((visibility("default"))) struct gompi_access_runtime gompi_access_runtime = {.version =
												   GOMPI_ACCESS_VERSION,
											   .generation = 1,
											   .has_gathered = has_gathered,
											   .drain = drain_gathered,
											   .forget = forget_gathered};

// Returns true if a watched range overlaps [from, to), and stores the bounds of that range in *begin and *end.
// Otherwise stores the bounds of the gap between two watched ranges in which [from, to) lies.
static bool is_in_ranges(uintptr_t from, uintptr_t to, uintptr_t *begin, uintptr_t *end) {
	struct gompi_access_runtime *r = &gompi_access_runtime;
	for (;;) {
		// acquire: pairs with the increments of seq in publish_ranges (insight/watch.c)
		uint32_t change = gompi_load_acquire(&r->seq);
		uint32_t low = 0, high = gompi_load(&r->range_count), n = high;
		while (low < high) { // find the first range that ends after `from`
			uint32_t middle = (low + high) / 2;
			if (gompi_load(&r->high[middle]) > from)
				high = middle;
			else
				low = middle + 1;
		}
		bool overlaps = low < n && gompi_load(&r->low[low]) < to;
		if (overlaps) {
			*begin = gompi_load(&r->low[low]);
			*end = gompi_load(&r->high[low]);
		} else {
			*begin = low > 0 ? gompi_load(&r->high[low - 1]) : 0;
			*end = low < n ? gompi_load(&r->low[low]) : UINTPTR_MAX;
		}
		gompi_load_fence();
		if (!(change & 1) && gompi_load(&r->seq) == change)
			return overlaps;
		gompi_pause();
	}
}

bool gompi_access_is_watched(uintptr_t address, size_t size) {
	uintptr_t begin, end;
	return is_in_ranges(address, address + size, &begin, &end);
}

static pthread_key_t gather_key; // the key's destructor unmaps the thread's struct gather
static bool has_gather_key;

static void drop_gather(void *at) {
	access_inside = true;
	gompi_access_sites = no_sites; // destructors of other keys may still access memory
	access_gather = NULL;
	munmap(at, sizeof(struct gather));
	access_inside = false;
}

static void make_key(void) { has_gather_key = pthread_key_create(&gather_key, drop_gather) == 0; }

static struct gather *new_gather(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *at = mmap(NULL, sizeof(struct gather), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	pthread_once(&once, make_key);
	if (has_gather_key)
		pthread_setspecific(gather_key, at);
	return at;
}

static int by_site(const void *a, const void *b) {
	const struct run *x = a, *y = b;
#define COMPARE(field)            \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	COMPARE(kind); // atomic accesses come last
	COMPARE(pc);
	COMPARE(stride);
	COMPARE(block_count);
	COMPARE(low);
	COMPARE(block_bytes);
#undef COMPARE
	return 0;
}

static bool is_same_site(const struct run *x, const struct run *y) { return x->kind == y->kind && x->pc == y->pc; }

// Sorts runs and merges those that overlap or are adjacent. Returns the new number of runs.
static size_t join_runs(struct run *runs, size_t n) {
	qsort(runs, n, sizeof *runs, by_site);
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		struct run *x = &runs[i], *last = m > 0 ? &runs[m - 1] : NULL;
		if (last != NULL && is_same_site(last, x) && last->stride == x->stride &&
		    last->block_count == x->block_count) {
			int64_t ahead = x->low - last->low;
			bool fits = last->block_count == 1 || ahead + x->block_bytes <= last->stride;
			if (ahead <= last->block_bytes && fits) {
				if (ahead + x->block_bytes > last->block_bytes)
					last->block_bytes = ahead + x->block_bytes;
				continue;
			}
		}
		runs[m++] = *x;
	}
	// Merge blocks of one size at one stride, such as the rows of the interior of a matrix.
	n = m, m = 0;
	for (size_t i = 0; i < n; i++) {
		struct run *x = &runs[i], *last = m > 0 ? &runs[m - 1] : NULL;
		if (last != NULL && x->block_count == 1 && is_same_site(last, x) &&
		    last->block_bytes == x->block_bytes) {
			int64_t ahead = x->low - (last->low + last->stride * (last->block_count - 1));
			if (last->block_count == 1 || ahead == last->stride) {
				last->stride = ahead;
				last->block_count++;
				continue;
			}
		}
		runs[m++] = *x;
	}
	return m;
}

static void add_closed(struct gather *g, const struct gompi_access_site *s, uintptr_t low, int64_t size, int64_t stride,
		       int64_t count) {
	g->closed[g->closed_count++] = (struct run){s->key >> 2, low, size, stride, count, (unsigned)(s->key & 3)};
}

// Closes the run of a site: moves the run to the closed runs. Returns true if more than half of the closed runs are in
// use, so that they should be drained.
static bool close_run(struct gather *g, struct gompi_access_site *s) {
	int64_t stride = s->stride, size = s->size;
	if (stride == 0)
		return false;
	int64_t count = (int64_t)(s->next - s->low) / stride;
	uintptr_t low = stride < 0 ? s->low + stride * (count - 1) : s->low;
	s->stride = 0;
	s->generation = 0;
	if (stride == size || stride == -size) {
		add_closed(g, s, low, size * count, 0, 1);
	} else if (count == 2) { // the distance of only two blocks may be accidental, so they become two runs
		add_closed(g, s, s->low, size, 0, 1);
		add_closed(g, s, s->low + stride, size, 0, 1);
	} else {
		add_closed(g, s, low, size, stride < 0 ? -stride : stride, count);
	}
	if (g->closed_count < MAX_CLOSED_RUNS - 2)
		return false;
	g->closed_count = join_runs(g->closed, g->closed_count);
	return g->closed_count > MAX_CLOSED_RUNS / 2;
}

// Returns true if an access belongs to the run of a site, or extends it. The second access of a run determines its
// stride.
static bool extends_run(struct gompi_access_site *s, uintptr_t address, size_t size) {
	int64_t at = address - s->low, length = s->next - s->low;
	if (s->stride == 0 || size != s->size)
		return false;
	if (address == s->next) {
		s->next += s->stride;
		return true;
	}
	if (length == s->stride && s->stride == (int64_t)size && (at >= length || at <= -length)) { // the second access
		s->stride = at;
		s->next = address + at;
		return true;
	}
	if (s->stride == (int64_t)size)
		return at >= 0 && at + (int64_t)size <= length;
	return at % s->stride == 0 && at / s->stride >= 0 && at / s->stride < length / s->stride;
}

// Returns true if the process has several threads.
static bool has_threads(void) {
	gompi_a32 *several = gompi_load(&gompi_access_runtime.extra_threads);
	return several != NULL && gompi_load(several) > 0;
}

// Records an access at its site. Returns true if the closed runs are nearly full.
static bool note_at_site(struct gather *g, uintptr_t address, size_t size, uintptr_t key) {
	uint32_t stamp = gompi_load(&gompi_access_runtime.generation);
	struct gompi_access_site *s = gompi_access_site(key);
	uintptr_t begin, end;
	bool is_watched = is_in_ranges(address, address + size, &begin, &end),
	     same = s->key == key && s->generation == stamp;
	if (same && (is_watched || address - s->checked_low < s->checked_bytes) && extends_run(s, address, size))
		return false;
	if (!is_watched && g->unwatched_runs < MAX_UNWATCHED_RUNS && has_threads()) {
		is_watched = true;
		g->unwatched_runs++;
	}
	bool is_nearly_full = close_run(g, s);
	bool is_oversized = size > UINT32_MAX; // too large for a site, so it gets a separate run
	*s = (struct gompi_access_site){.key = key,
					.generation = stamp,
					.checked_low = begin,
					.checked_bytes = end - begin >= size ? end - begin - size + 1 : 0};
	if (is_watched && is_oversized) {
		add_closed(g, s, address, size, 0, 1);
		s->checked_bytes = 0;
	} else if (is_watched) {
		s->low = address;
		s->size = size;
		s->stride = size;
		s->next = address + size;
	} else {
		s->next = UINTPTR_MAX;
	}
	g->may_have_runs |= is_watched;
	return is_nearly_full;
}

void gompi_access_record(uintptr_t address, size_t size, unsigned kind, void *pc) {
	struct gompi_access_runtime *all = &gompi_access_runtime;
	bool (*outside)(void) = gompi_load(&all->is_outside_mpi);
	if (access_inside || size == 0 || outside == NULL || !outside())
		return;
	access_inside = true;
	bool full = false;
	if (access_gather == NULL && (access_gather = new_gather()) != NULL)
		gompi_access_sites = access_gather->sites;
	if (access_gather != NULL)
		full = note_at_site(access_gather, address, size, gompi_access_key(pc, kind));
	access_inside = false;
	void (*pass_on)(void) = gompi_load(&all->flush);
	if (full && pass_on != NULL)
		pass_on();
}

static bool is_within(const struct run *r, uintptr_t low, uintptr_t high) {
	return low <= r->low && r->low + r->stride * (r->block_count - 1) + r->block_bytes <= high;
}

static void forget_gathered(uintptr_t low, uintptr_t high) {
	struct gather *g = access_gather;
	if (g != NULL && g->may_have_runs && !access_inside) {
		access_inside = true;
		bool full = false;
		for (int i = 0; i < GOMPI_ACCESS_SITES && !full; i++) {
			struct gompi_access_site *s = &g->sites[i];
			if (s->stride != 0 && low <= s->low && s->low < high)
				full = close_run(g, s);
		}
		size_t remaining = 0;
		for (size_t i = 0; i < g->closed_count; i++)
			if (!is_within(&g->closed[i], low, high))
				g->closed[remaining++] = g->closed[i];
		g->closed_count = remaining;
		access_inside = false;
	}
}

// Stores as many closed runs as fit into `room` 8-byte words in `words`, and removes them from the closed runs. Returns
// the number of words written.
static size_t write_groups(struct gather *g, uint64_t *words, size_t room) {
	enum { GROUP_HEAD_WORDS = 2, RUN_WORDS = 4 };
	size_t used = 0, i = 0;
	while (i < g->closed_count && used + GROUP_HEAD_WORDS + RUN_WORDS <= room) {
		size_t head = used, pieces = 0;
		const struct run *first = &g->closed[i];
		used += GROUP_HEAD_WORDS;
		for (; i < g->closed_count && is_same_site(first, &g->closed[i]) && used + RUN_WORDS <= room;
		     i++, pieces++) {
			const struct run *r = &g->closed[i];
			words[used++] = r->low;
			words[used++] = r->block_bytes;
			words[used++] = r->stride;
			words[used++] = r->block_count;
		}
		words[head] = first->pc;
		words[head + 1] = first->kind | pieces << 8;
	}
	for (size_t k = i; k < g->closed_count; k++)
		g->closed[k - i] = g->closed[k];
	g->closed_count -= i;
	return used;
}

static bool has_gathered(void) { return access_gather != NULL && access_gather->may_have_runs && !access_inside; }

static size_t drain_gathered(uint64_t *words, size_t room) {
	struct gather *g = access_gather;
	if (g == NULL || access_inside)
		return 0;
	access_inside = true;
	bool full = false;
	for (int i = 0; i < GOMPI_ACCESS_SITES && !full; i++)
		full = close_run(g, &g->sites[i]);
	g->closed_count = join_runs(g->closed, g->closed_count);
	size_t used = write_groups(g, words, room);
	g->may_have_runs = used > 0; // some runs may not have fit into `words`
	g->unwatched_runs = 0;
	access_inside = false;
	return used;
}
