// Selects the accesses of interest and stores them until the next MPI call. Each program location has a run: memory
// that is contiguous or has one stride. So a loop over an array is one run.
//
// All state belongs to its thread. The thread passes it on before it calls MPI and before it synchronizes with another
// thread. If a thread ends without either, the accesses since then are lost.

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "access/access.h"

// Memory that is not yet of interest may become so: an access to it may conflict with an operation that another thread
// starts later, with no synchronization in between. So while there are several threads, such accesses are recorded too,
// but at most MOST_OTHER runs per thread, until its next MPI call or synchronization.

enum { CLOSED = 8192, MOST_OTHER = 1024 };

// Blocks of one size at one stride, read or written by one program location.
struct run {
	uintptr_t place, low;
	int64_t size, stride, count;
	unsigned kind;
};

struct gather {
	bool pending; // there may be recorded accesses
	int other;    // number of runs that began in memory not of interest
	size_t closed_count;
	struct gompi_access_spot spots[GOMPI_ACCESS_SPOTS];
	struct run closed[CLOSED];
};

static struct gompi_access_spot no_spots[GOMPI_ACCESS_SPOTS]; // their stamp 0 is never valid
_Thread_local struct gompi_access_spot *gompi_access_spots = no_spots;
static __attribute__((tls_model("initial-exec"))) _Thread_local struct gather *access_gather;
// The thread is inside a function of this file. If it is set on entry, a signal handler has interrupted one.
static __attribute__((tls_model("initial-exec"))) _Thread_local bool access_inside;

static bool have_gathered(void);
static size_t drain_gathered(uint64_t *words, size_t room);
static void forget_gathered(uintptr_t low, uintptr_t high);

__attribute__((visibility("default"))) struct gompi_access_runtime gompi_access_runtime = {.version =
												   GOMPI_ACCESS_VERSION,
											   .stamp = 1,
											   .gathered = have_gathered,
											   .drain = drain_gathered,
											   .forget = forget_gathered};

// Returns true if a range of interest overlaps [from, to). Stores the bounds of that range, or of the gap between two
// ranges.
static bool in_ranges(uintptr_t from, uintptr_t to, uintptr_t *begin, uintptr_t *end) {
	struct gompi_access_runtime *r = &gompi_access_runtime;
	for (;;) {
		// Pairs with the release in insight/access.c, which changes the ranges.
		uint32_t change = gompi_load_acquire(&r->change);
		uint32_t low = 0, high = gompi_load(&r->ranges), n = high;
		while (low < high) { // find the first range that ends after from
			uint32_t middle = (low + high) / 2;
			if (gompi_load(&r->high[middle]) > from)
				high = middle;
			else
				low = middle + 1;
		}
		bool is = low < n && gompi_load(&r->low[low]) < to;
		if (is) {
			*begin = gompi_load(&r->low[low]);
			*end = gompi_load(&r->high[low]);
		} else {
			*begin = low > 0 ? gompi_load(&r->high[low - 1]) : 0;
			*end = low < n ? gompi_load(&r->low[low]) : UINTPTR_MAX;
		}
		gompi_load_fence();
		if (!(change & 1) && gompi_load(&r->change) == change)
			return is;
		gompi_pause();
	}
}

bool gompi_access_wanted(uintptr_t address, size_t size) {
	uintptr_t begin, end;
	return in_ranges(address, address + size, &begin, &end);
}

static pthread_key_t gather_key; // its destructor unmaps a thread's gather
static bool gather_ends;

static void drop_gather(void *at) {
	access_inside = true;
	gompi_access_spots = no_spots; // destructors of other keys may still access memory
	access_gather = NULL;
	munmap(at, sizeof(struct gather));
	access_inside = false;
}

static void make_key(void) { gather_ends = pthread_key_create(&gather_key, drop_gather) == 0; }

static struct gather *new_gather(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *at = mmap(NULL, sizeof(struct gather), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	pthread_once(&once, make_key);
	if (gather_ends)
		pthread_setspecific(gather_key, at);
	return at;
}

static int by_place(const void *a, const void *b) {
	const struct run *x = a, *y = b;
#define COMPARE(field)            \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	COMPARE(kind); // atomic accesses come last
	COMPARE(place);
	COMPARE(stride);
	COMPARE(count);
	COMPARE(low);
	COMPARE(size);
#undef COMPARE
	return 0;
}

static bool same_place(const struct run *x, const struct run *y) { return x->kind == y->kind && x->place == y->place; }

// Sorts runs and merges those that overlap or touch. Returns the new number of runs.
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
	// Merge blocks of one size at one stride, such as the rows of a field without its border.
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

static void add_closed(struct gather *g, const struct gompi_access_spot *s, uintptr_t low, int64_t size, int64_t stride,
		       int64_t count) {
	g->closed[g->closed_count++] = (struct run){s->key >> 2, low, size, stride, count, (unsigned)(s->key & 3)};
}

// Closes the run of a spot: moves it to the closed runs. Returns true if these are nearly full.
static bool close_spot(struct gather *g, struct gompi_access_spot *s) {
	int64_t stride = s->stride, size = s->size;
	if (stride == 0)
		return false;
	int64_t count = (int64_t)(s->next - s->low) / stride;
	uintptr_t low = stride < 0 ? s->low + stride * (count - 1) : s->low;
	s->stride = 0;
	s->stamp = 0;
	if (stride == size || stride == -size) {
		add_closed(g, s, low, size * count, 0, 1);
	} else if (count == 2) { // two blocks do not prove a stride
		add_closed(g, s, s->low, size, 0, 1);
		add_closed(g, s, s->low + stride, size, 0, 1);
	} else {
		add_closed(g, s, low, size, stride < 0 ? -stride : stride, count);
	}
	if (g->closed_count < CLOSED - 2)
		return false;
	g->closed_count = join_runs(g->closed, g->closed_count);
	return g->closed_count > CLOSED / 2;
}

// Returns true if an access belongs to the run of a spot, or extends it. The second access of a run may set another
// stride.
static bool goes_on(struct gompi_access_spot *s, uintptr_t address, size_t size) {
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
static bool has_several(void) {
	gompi_a32 *several = gompi_load(&gompi_access_runtime.several);
	return several != NULL && gompi_load(several) > 0;
}

// Records an access in its spot. Returns true if the closed runs are nearly full.
static bool note_in(struct gather *g, uintptr_t address, size_t size, uintptr_t key) {
	uint32_t stamp = gompi_load(&gompi_access_runtime.stamp);
	struct gompi_access_spot *s = gompi_access_spot(key);
	uintptr_t begin, end;
	bool wanted = in_ranges(address, address + size, &begin, &end), same = s->key == key && s->stamp == stamp;
	if (same && (wanted || address - s->floor < s->span) && goes_on(s, address, size))
		return false;
	if (!wanted && g->other < MOST_OTHER && has_several()) {
		wanted = true;
		g->other++;
	}
	bool full = close_spot(g, s);
	bool odd = size > UINT32_MAX; // too large for a spot, so it gets a run of its own
	*s = (struct gompi_access_spot){
		.key = key, .stamp = stamp, .floor = begin, .span = end - begin >= size ? end - begin - size + 1 : 0};
	if (wanted && odd) {
		add_closed(g, s, address, size, 0, 1);
		s->span = 0;
	} else if (wanted) {
		s->low = address;
		s->size = size;
		s->stride = size;
		s->next = address + size;
	} else {
		s->next = UINTPTR_MAX;
	}
	g->pending |= wanted;
	return full;
}

void gompi_access_note(uintptr_t address, size_t size, unsigned kind, void *place) {
	struct gompi_access_runtime *all = &gompi_access_runtime;
	bool (*outside)(void) = gompi_load(&all->outside);
	if (access_inside || size == 0 || outside == NULL || !outside())
		return;
	access_inside = true;
	bool full = false;
	if (access_gather == NULL && (access_gather = new_gather()) != NULL)
		gompi_access_spots = access_gather->spots;
	if (access_gather != NULL)
		full = note_in(access_gather, address, size, gompi_access_key(place, kind));
	access_inside = false;
	void (*pass_on)(void) = gompi_load(&all->pass_on);
	if (full && pass_on != NULL)
		pass_on();
}

static bool is_within(const struct run *r, uintptr_t low, uintptr_t high) {
	return low <= r->low && r->low + r->stride * (r->count - 1) + r->size <= high;
}

static void forget_gathered(uintptr_t low, uintptr_t high) {
	struct gather *g = access_gather;
	if (g != NULL && g->pending && !access_inside) {
		access_inside = true;
		bool full = false;
		for (int i = 0; i < GOMPI_ACCESS_SPOTS && !full; i++) {
			struct gompi_access_spot *s = &g->spots[i];
			if (s->stride != 0 && low <= s->low && s->low < high)
				full = close_spot(g, s);
		}
		size_t kept = 0;
		for (size_t i = 0; i < g->closed_count; i++)
			if (!is_within(&g->closed[i], low, high))
				g->closed[kept++] = g->closed[i];
		g->closed_count = kept;
		access_inside = false;
	}
}

// Writes closed runs, as many as fit into room words, and removes them. Returns the number of words written.
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

static bool have_gathered(void) { return access_gather != NULL && access_gather->pending && !access_inside; }

static size_t drain_gathered(uint64_t *words, size_t room) {
	struct gather *g = access_gather;
	if (g == NULL || access_inside)
		return 0;
	access_inside = true;
	bool full = false;
	for (int i = 0; i < GOMPI_ACCESS_SPOTS && !full; i++)
		full = close_spot(g, &g->spots[i]);
	g->closed_count = join_runs(g->closed, g->closed_count);
	size_t used = write_groups(g, words, room);
	g->pending = used > 0; // not all runs may have fit
	g->other = 0;
	access_inside = false;
	return used;
}
