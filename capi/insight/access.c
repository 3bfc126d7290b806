// The program's own accesses, which libgompirma-access.so gathers. This file determines from the records of calls which
// memory is watched, and writes records of the gathered accesses before the record of the next call.
//
// Watched memory: the memory of windows; each buffer of an operation until all operations on that window and target are
// complete; the buffers of requests until these are complete.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "access/access.h"
#include "insight/ask.h"
#include "insight/given.h"
#include "insight/threads.h"

// What a function means for watched memory.
enum {
	NOTHING,
	CREATE,
	ALLOCATE,
	SHARED,
	ATTACH,
	DETACH,
	QUERY,
	FREE,
	PUT,
	ACCUMULATE,
	FETCH,
	SWAP,
	GET_ACCUMULATE,
	LOCK,
	UNLOCK,
	FLUSH,
	ENDS,
	ENDS_ASSERTED,
	COMPLETE,
	COMPLETE_SEVERAL,
	STARTS
};
static uint8_t what_for[GOMPI_INSIGHT_FUNCTIONS];

struct extent {
	uint64_t low, high;
};
enum { BUFFERS = 64, NOBODY = -1, SEVERAL = -2 };
struct watched {
	struct watched *next;
	uint64_t win;
	int64_t target; // of the operations in progress
	int locks;      // number of locks that this process holds
	int memories, room, buffers;
	struct extent *memory;
	struct extent buffer[BUFFERS + 1]; // sorted; no two touch
};

static _Atomic(struct gompi_access_runtime *) access_runtime;
static pthread_mutex_t access_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the windows
static struct watched *access_windows;

// Buffers of requests that are not complete, or that are persistent, in a hash table by handle. Their watched ranges
// are stored in a window without memory (NO_WINDOW).
struct pending {
	struct pending *next;
	uint64_t request;
	struct extent buffer;
};
enum { PENDING_BUCKETS = 4096, NO_WINDOW = 0 };
static struct pending *access_pending[PENDING_BUCKETS];
static size_t pending_live, pending_dropped; // pending_dropped: since the watched ranges were last rebuilt

// Descriptions of the buffers of nonblocking and persistent functions, one letter per input:
// - a: an address
// - n: a number of elements; N: a number of elements per member
// - t: a datatype
// - l, d, w: lists of counts, displacements and datatypes per member
// - other characters: another input
// Displacements are in bytes with a list of datatypes. A datatype ends the description of a buffer.
static const char *buffers_of[GOMPI_INSIGHT_FUNCTIONS];

static void pass_gathered(struct gompi_insight_thread *t);

static void hand_gathered(void) {
	struct gompi_insight_thread *t = gompi_insight_begin();
	if (t == NULL)
		return;
	pass_gathered(t);
	gompi_insight_end(t);
}

static void release_address(const void *p) { gompi_threads_release((uintptr_t)p); }
static void acquire_address(const void *p) { gompi_threads_acquire((uintptr_t)p); }

static bool own_outside(void) { return gompi_insight_self.open || gompi_insight_self.frame == 0; }

static bool is_called(const char *function, const char *name) {
	size_t n = strlen(name);
	return strncmp(function, name, n) == 0 && (function[n] == 0 || strcmp(function + n, "_c") == 0);
}

// Classifies a function that creates a request. A persistent function has the inputs of the nonblocking one of its
// kind.
static void classify_starts(const char *function, int number) {
	static const struct {
		const char *name, *buffers;
	} forms[] = {{"send", "ant"},
		     {"bsend", "ant"},
		     {"ssend", "ant"},
		     {"rsend", "ant"},
		     {"recv", "ant"},
		     {"mrecv", "ant"},
		     {"sendrecv", "ant--ant"},
		     {"sendrecv_replace", "ant"},
		     {"bcast", "ant"},
		     {"allreduce", "aant"},
		     {"reduce", "aant"},
		     {"scan", "aant"},
		     {"exscan", "aant"},
		     {"reduce_scatter", "aalt"},
		     {"reduce_scatter_block", "aaNt"},
		     {"gather", "antaNt"},
		     {"gatherv", "antaldt"},
		     {"scatter", "aNtant"},
		     {"scatterv", "aldtant"},
		     {"allgather", "antaNt"},
		     {"allgatherv", "antaldt"},
		     {"alltoall", "aNtaNt"},
		     {"alltoallv", "aldtaldt"},
		     {"alltoallw", "aldwaldw"}};
	char base[64];
	size_t n = strlen(function);
	if (n >= sizeof base)
		return;
	memcpy(base, function, n + 1);
	if (n > 2 && strcmp(base + n - 2, "_c") == 0)
		base[n -= 2] = 0;
	bool persistent = n > 5 && strcmp(base + n - 5, "_init") == 0;
	if (persistent)
		base[n - 5] = 0;
	else if (base[0] != 'I')
		return;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcasecmp(base + !persistent, forms[i].name) == 0) {
			what_for[number] = STARTS;
			buffers_of[number] = forms[i].buffers;
		}
}

static void classify(void) {
	static const struct {
		const char *name;
		uint8_t what;
	} names[] = {{"Win_create", CREATE},
		     {"Win_allocate", ALLOCATE},
		     {"Win_allocate_shared", SHARED},
		     {"Win_attach", ATTACH},
		     {"Win_detach", DETACH},
		     {"Win_shared_query", QUERY},
		     {"Win_free", FREE},
		     {"Put", PUT},
		     {"Get", PUT},
		     {"Accumulate", ACCUMULATE},
		     {"Rput", PUT},
		     {"Rget", PUT},
		     {"Raccumulate", ACCUMULATE},
		     {"Fetch_and_op", FETCH},
		     {"Compare_and_swap", SWAP},
		     {"Get_accumulate", GET_ACCUMULATE},
		     {"Rget_accumulate", GET_ACCUMULATE},
		     {"Win_lock", LOCK},
		     {"Win_unlock", UNLOCK},
		     {"Win_flush", FLUSH},
		     {"Win_flush_local", FLUSH},
		     {"Win_complete", ENDS},
		     {"Win_fence", ENDS_ASSERTED},
		     {"Win_unlock_all", ENDS},
		     {"Win_flush_all", ENDS},
		     {"Win_flush_local_all", ENDS},
		     {"Wait", COMPLETE},
		     {"Test", COMPLETE},
		     {"Request_free", COMPLETE},
		     {"Waitall", COMPLETE_SEVERAL},
		     {"Testall", COMPLETE_SEVERAL},
		     {"Waitany", COMPLETE_SEVERAL},
		     {"Testany", COMPLETE_SEVERAL},
		     {"Waitsome", COMPLETE_SEVERAL},
		     {"Testsome", COMPLETE_SEVERAL}};
	for (int f = 0; f < GOMPI_INSIGHT_FUNCTIONS; f++) {
		const char *name = gompi_insight_names[f] + strlen("MPI_");
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (is_called(name, names[i].name))
				what_for[f] = names[i].what;
		classify_starts(name, f);
	}
}

static void find_accesses(void) {
	struct gompi_access_runtime *r = dlsym(RTLD_DEFAULT, "gompi_access_runtime");
	if (r == NULL || gompi_load(&access_runtime) != NULL || r->version != GOMPI_ACCESS_VERSION)
		return;
	gompi_store(&r->outside, own_outside);
	gompi_store(&r->pass_on, hand_gathered);
	gompi_store(&r->several, &gompi_threads_several);
	gompi_store(&r->release, release_address);
	gompi_store(&r->acquire, acquire_address);
	gompi_store_release(&access_runtime, r); // pairs with the acquire in pass_gathered
}

static void begin_accesses(void) {
	if (!(gompi_insight_job->mode & GOMPI_INSIGHT_MODE_ACCESSES))
		return;
	classify();
	find_accesses();
}

// Notes the memory that a record of accesses concerns.
static void note_pieces(struct gompi_insight_thread *t) {
	if (gompi_load(&gompi_threads_several) == 0)
		return;
	for (size_t i = GOMPI_INSIGHT_HEAD_WORDS; i < t->used;) {
		size_t next = i + 2 + 4 * (t->words[i + 1] >> 8);
		for (i += 2; i < next; i += 4)
			gompi_threads_note_memory(t->words[i],
						  t->words[i + 1] + t->words[i + 2] * (t->words[i + 3] - 1));
	}
}

static void pass_gathered(struct gompi_insight_thread *t) {
	struct gompi_access_runtime *r = gompi_load_acquire(&access_runtime);
	if (__builtin_expect(r == NULL, 1))
		return;
	gompi_add(&r->stamp, 1);
	while (r->gathered()) {
		gompi_threads_work(t);
		enum { HEAD = GOMPI_INSIGHT_HEAD_WORDS };
		size_t n = r->drain(t->words + HEAD, GOMPI_INSIGHT_MAX_RECORD - HEAD);
		if (n == 0)
			break;
		t->truncated = false;
		t->used = HEAD + n;
		t->words[0] = GOMPI_INSIGHT_ACCESSES;
		t->words[1] = t->number;
		t->words[2] = t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
		t->words[4] = t->words[5] = 0;
		for (size_t i = HEAD; i < t->used; i += 2 + 4 * (t->words[i + 1] >> 8))
			if (t->words[i] - t->low >= t->size)
				gompi_insight_object_of(t, t->words[i]);
		note_pieces(t);
		gompi_insight_write_words(t);
	}
}

static void before_call(struct gompi_insight_thread *t) {
	gompi_threads_work(t);
	pass_gathered(t);
}

static void forget_memory(uintptr_t low, uintptr_t high) {
	struct gompi_access_runtime *r = gompi_load_acquire(&access_runtime); // as in pass_gathered
	if (r != NULL)
		r->forget(low, high);
}

static struct watched *window_at(uint64_t win, bool make) {
	for (struct watched *w = access_windows; w != NULL; w = w->next)
		if (w->win == win)
			return w;
	struct watched *w = make ? calloc(1, sizeof *w) : NULL;
	if (w != NULL) {
		w->win = win;
		w->target = NOBODY;
		w->next = access_windows;
		access_windows = w;
	}
	return w;
}

static void drop_window(uint64_t win) {
	for (struct watched **at = &access_windows; *at != NULL; at = &(*at)->next)
		if ((*at)->win == win) {
			struct watched *w = *at;
			*at = w->next;
			free(w->memory);
			free(w);
			return;
		}
}

static bool add_memory(struct watched *w, uint64_t low, uint64_t size) {
	if (w == NULL || size == 0 || low < 4096)
		return false;
	if (w->memories == w->room) {
		int room = w->room ? 2 * w->room : 4;
		struct extent *more = realloc(w->memory, room * sizeof *more);
		if (more == NULL)
			return false;
		w->memory = more;
		w->room = room;
	}
	w->memory[w->memories++] = (struct extent){low, low + size};
	return true;
}

static int by_low(const void *a, const void *b) {
	const struct extent *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

// Sorts extents and joins those that touch. If more than `most` remain, also joins those with the smallest gaps.
// Returns their number.
static int join_extents(struct extent *e, int n, int most) {
	qsort(e, n, sizeof *e, by_low);
	int m = 0;
	for (int i = 0; i < n; i++) {
		if (m > 0 && e[i].low <= e[m - 1].high) {
			if (e[i].high > e[m - 1].high)
				e[m - 1].high = e[i].high;
		} else {
			e[m++] = e[i];
		}
	}
	while (m > most) {
		int at = 1;
		for (int i = 2; i < m; i++)
			if (e[i].low - e[i - 1].high < e[at].low - e[at - 1].high)
				at = i;
		e[at - 1].high = e[at].high;
		memmove(&e[at], &e[at + 1], (m - at - 1) * sizeof *e);
		m--;
	}
	return m;
}

// Returns the range of a buffer; an empty range if it has no bytes or its size is unknown.
static struct extent extent_of(uint64_t address, int64_t count, uint64_t type) {
	MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
	if (count <= 0 || type <= (uintptr_t)MPI_DATATYPE_NULL ||
	    GOMPI_ASK(MPI_Type_get_extent_c, (MPI_Datatype)type, &lb, &extent) != MPI_SUCCESS ||
	    GOMPI_ASK(MPI_Type_get_true_extent_c, (MPI_Datatype)type, &true_lb, &true_extent) != MPI_SUCCESS)
		return (struct extent){0, 0};
	int64_t last = (count - 1) * extent;
	return (struct extent){address + true_lb + (last < 0 ? last : 0),
			       address + true_lb + true_extent + (last > 0 ? last : 0)};
}

// Adds a range to the buffers of the window. Returns true if it was not covered before.
static bool add_extent(struct watched *w, struct extent e) {
	if (w == NULL || e.low < 4096 || e.high <= e.low)
		return false;
	for (int i = 0; i < w->buffers; i++)
		if (w->buffer[i].low <= e.low && e.high <= w->buffer[i].high)
			return false;
	w->buffer[w->buffers++] = e;
	w->buffers = join_extents(w->buffer, w->buffers, BUFFERS);
	return true;
}

static bool add_buffer(struct watched *w, uint64_t address, int64_t count, uint64_t type) {
	return add_extent(w, extent_of(address, count, type));
}

static bool drop_buffers(struct watched *w) {
	if (w == NULL)
		return false;
	w->target = NOBODY;
	bool some = w->buffers > 0;
	w->buffers = 0;
	return some;
}

// Publishes the watched ranges to libgompirma-access.so.
static void own_publish(struct gompi_access_runtime *r) {
	int n = 0;
	for (struct watched *w = access_windows; w != NULL; w = w->next)
		n += w->memories + w->buffers;
	struct extent *all = malloc((n + 1) * sizeof *all);
	if (all == NULL)
		return;
	n = 0;
	for (struct watched *w = access_windows; w != NULL; w = w->next) {
		for (int i = 0; i < w->memories; i++)
			all[n++] = w->memory[i];
		for (int i = 0; i < w->buffers; i++)
			all[n++] = w->buffer[i];
	}
	n = join_extents(all, n, GOMPI_ACCESS_RANGES);
	gompi_add_total(&r->change, 1); // pairs with the acquire in access/gather.c
	for (int i = 0; i < n; i++) {
		gompi_store(&r->low[i], all[i].low);
		gompi_store(&r->high[i], all[i].high);
	}
	gompi_store(&r->ranges, n);
	gompi_add_total(&r->change, 1);
	gompi_add(&r->stamp, 1);
	free(all);
}

// Adds the memory of all members of a shared window, which is contiguous unless the program has requested otherwise.
static bool add_shared(struct watched *w) {
	MPI_Group group = MPI_GROUP_NULL;
	int n = 0;
	bool some = false;
	if (w == NULL || GOMPI_ASK(MPI_Win_get_group, (MPI_Win)w->win, &group) != MPI_SUCCESS)
		return false;
	if (GOMPI_ASK(MPI_Group_size, group, &n) != MPI_SUCCESS)
		n = 0;
	(void)GOMPI_ASK(MPI_Group_free, &group);
	for (int i = 0; i < n; i++) {
		MPI_Aint size = 0;
		int unit = 0;
		void *base = NULL;
		if (GOMPI_ASK(MPI_Win_shared_query, (MPI_Win)w->win, i, &size, &unit, &base) == MPI_SUCCESS)
			some |= add_memory(w, (uintptr_t)base, size);
	}
	w->memories = join_extents(w->memory, w->memories, INT32_MAX);
	return some;
}

static bool learn_memory(int what, const uint64_t *in) {
	struct watched *w;
	switch (what) {
	case CREATE:
		return add_memory(window_at(in[6], true), in[0], in[1]);
	case ALLOCATE:
		return add_memory(window_at(in[7], true), in[5], in[0]);
	case SHARED:
		return add_shared(window_at(in[7], true));
	case ATTACH:
		return add_memory(window_at(in[0], true), in[1], in[2]);
	case DETACH:
		w = window_at(in[0], false);
		for (int i = 0; w != NULL && i < w->memories; i++)
			if (w->memory[i].low == in[1]) {
				w->memory[i] = w->memory[--w->memories];
				return true;
			}
		return false;
	case QUERY:
		w = window_at(in[0], true);
		for (int i = 0; w != NULL && i < w->memories; i++)
			if (w->memory[i].low <= in[7] && in[7] + in[3] <= w->memory[i].high)
				return false;
		return add_memory(w, in[7], in[3]);
	default: // FREE
		drop_window(in[1]);
		return true;
	}
}

// Learns from an operation. The table gives the indexes of the inputs target and window.
static bool learn_operation(int what, const uint64_t *in) {
	static const struct {
		uint8_t target, win;
	} at[] = {[PUT] = {3, 7}, [ACCUMULATE] = {3, 8}, [FETCH] = {3, 6}, [SWAP] = {4, 6}, [GET_ACCUMULATE] = {6, 11}};
	struct watched *w = window_at(in[at[what].win], false);
	int64_t target = in[at[what].target];
	if (w == NULL)
		return false;
	w->target = w->target == NOBODY || w->target == target ? target : SEVERAL;
	switch (what) {
	case FETCH:
		return add_buffer(w, in[0], 1, in[2]) | add_buffer(w, in[1], 1, in[2]);
	case SWAP:
		return add_buffer(w, in[0], 1, in[3]) | add_buffer(w, in[1], 1, in[3]) | add_buffer(w, in[2], 1, in[3]);
	case GET_ACCUMULATE:
		return add_buffer(w, in[0], in[1], in[2]) | add_buffer(w, in[3], in[4], in[5]);
	default:
		return add_buffer(w, in[0], in[1], in[2]);
	}
}

static bool learn_end(int what, const uint64_t *in) {
	struct watched *w =
		window_at(in[what == LOCK ? 3 : what == ENDS_ASSERTED || what == UNLOCK || what == FLUSH], false);
	if (w == NULL)
		return false;
	switch (what) {
	case LOCK:
		w->locks++;
		return false;
	case UNLOCK:
		w->locks--;
		return (w->target == (int64_t)in[0] || w->locks <= 0) && drop_buffers(w);
	case FLUSH:
		return w->target == (int64_t)in[0] && drop_buffers(w);
	default:
		return drop_buffers(w);
	}
}

static struct pending **pending_at(uint64_t request) {
	return &access_pending[(request ^ request >> 12) % PENDING_BUCKETS];
}

static void drop_pending(uint64_t request) {
	for (struct pending **at = pending_at(request), *p; (p = *at) != NULL;)
		if (p->request == request) {
			*at = p->next;
			free(p);
			pending_live--;
			pending_dropped++;
		} else {
			at = &p->next;
		}
}

// Maximum number of pending requests: if it is reached, all are forgotten. Not all calls that complete thousands of
// requests are recorded completely.
enum { MOST_PENDING = 1 << 16 };

static bool add_pending(uint64_t request, struct extent e) {
	for (int i = 0; pending_live == MOST_PENDING && i < PENDING_BUCKETS; i++)
		while (access_pending[i] != NULL)
			drop_pending(access_pending[i]->request);
	struct pending *p = e.low < 4096 || e.high <= e.low ? NULL : malloc(sizeof *p), **at = pending_at(request);
	if (p == NULL)
		return false;
	*p = (struct pending){*at, request, e};
	*at = p;
	pending_live++;
	return add_extent(window_at(NO_WINDOW, true), e);
}

// Rebuilds the set of watched buffers from the requests that are still active, once at least as many have completed as
// are active. So the cost per request is constant. Returns true if it has done so.
static bool forget_pending(void) {
	struct watched *w = window_at(NO_WINDOW, false);
	if (w == NULL || pending_dropped < BUFFERS || pending_dropped < pending_live)
		return false;
	pending_dropped = 0;
	w->buffers = 0;
	for (int i = 0; i < PENDING_BUCKETS; i++)
		for (struct pending *p = access_pending[i]; p != NULL; p = p->next)
			add_extent(w, p->buffer);
	return true;
}

static uint64_t list_length(const uint64_t *list) { return (uint32_t)*list; }

// A buffer of a call, as far as its inputs have been parsed.
struct parsed {
	uint64_t address[2];
	int addresses;
	int64_t count;
	const uint64_t *counts, *displs; // lists, or NULL; without displacements the elements are contiguous
};

// Adds the buffers whose description a datatype ends. types: a list of datatypes, with displacements in bytes; or NULL.
static bool add_parsed(uint64_t request, const struct parsed *b, uint64_t type, const uint64_t *types) {
	bool added = false;
	int64_t count = b->count;
	for (uint64_t k = 1; b->counts != NULL && k <= list_length(b->counts); k++)
		count += b->counts[k];
	for (int i = 0; i < b->addresses; i++) {
		if (b->displs == NULL) {
			added |= add_pending(request, extent_of(b->address[i], count, type));
			continue;
		}
		struct extent all = {UINT64_MAX, 0};
		MPI_Count lb = 0, extent = 1;
		if (types == NULL &&
		    (type <= (uintptr_t)MPI_DATATYPE_NULL ||
		     GOMPI_ASK(MPI_Type_get_extent_c, (MPI_Datatype)type, &lb, &extent) != MPI_SUCCESS))
			continue;
		for (uint64_t k = 1; k <= list_length(b->counts) && b->address[i] >= 4096; k++) {
			if (k > list_length(b->displs) || (types != NULL && k > list_length(types)))
				break;
			struct extent e = extent_of(b->address[i] + b->displs[k] * extent, b->counts[k],
						    types != NULL ? types[k] : type);
			if (e.high <= e.low)
				continue;
			all.low = e.low < all.low ? e.low : all.low;
			all.high = e.high > all.high ? e.high : all.high;
		}
		added |= add_pending(request, all);
	}
	return added;
}

static bool learn_start(const struct gompi_insight_thread *t) {
	uint32_t number = t->words[0] & 0xffff, made = t->used - 2; // the list that holds the new request
	if (t->words[made] != ((uint64_t)GOMPI_INSIGHT_STATE_GIVEN << 32 | 1))
		return false;
	uint64_t request = t->words[t->used - 1];
	bool persistent = strstr(gompi_insight_names[number], "_init") != NULL, added = false;
	struct parsed b = {.addresses = 0};
	const uint64_t *in = t->words + GOMPI_INSIGHT_HEAD_WORDS;
	for (const char *form = buffers_of[number]; *form; form++) {
		const uint64_t *word = in++;
		if (*form == 'l' || *form == 'd' || *form == 'w')
			in += list_length(word);
		switch (*form) {
		case 'a':
			b.address[b.addresses++] = *word;
			break;
		case 'n':
			b.count = *word;
			break;
		// the communicator is the last input, except that an info argument follows it in persistent functions
		case 'N':
			b.count = *word * gompi_insight_members((MPI_Comm)t->words[made - 1 - persistent]);
			break;
		case 'l':
			b.counts = word;
			break;
		case 'd':
			b.displs = word;
			break;
		case 't':
		case 'w':
			added |= add_parsed(request, &b, *word, *form == 'w' ? word : NULL);
			b = (struct parsed){.addresses = 0};
			break;
		}
	}
	return added;
}

// Drops the requests that have become MPI_REQUEST_NULL: they are complete.
static bool learn_completion(int what, const uint64_t *in) {
	const uint64_t *before = what == COMPLETE ? in : in + 1, *after = before + 1 + list_length(before);
	for (uint64_t i = 1; i <= list_length(before) && i <= list_length(after); i++)
		if (after[i] == (uintptr_t)MPI_REQUEST_NULL && before[i] != after[i])
			drop_pending(before[i]);
	return forget_pending();
}

// Learns which memory of the program belongs to windows.
static void learn_given(int what, const uint64_t *in) {
	switch (what) {
	case CREATE:
		gompi_given_begin(in[6], in[0], in[1]);
		break;
	case ATTACH:
		gompi_given_begin(in[0], in[1], in[2]);
		break;
	case DETACH:
		gompi_given_end(in[0], in[1]);
		break;
	case FREE:
		gompi_given_end(in[1], 0);
		break;
	}
}

enum { MOST_WORDS = 40 };
static void learn_from(struct gompi_insight_thread *t) {
	uint32_t number = t->words[0] & 0xffff;
	if (number >= GOMPI_INSIGHT_FUNCTIONS || t->words[3] == 0)
		return;
	for (uint32_t i = GOMPI_INSIGHT_HEAD_WORDS;
	     gompi_load(&gompi_threads_several) > 0 && i < t->used && i < MOST_WORDS; i++)
		// all words, without interpretation: some are addresses of buffers
		gompi_threads_note_memory(t->words[i], 1);
	if (t->words[5] != MPI_SUCCESS)
		return;
	int what = what_for[number];
	if (what == NOTHING)
		return;
	const uint64_t *in = t->words + GOMPI_INSIGHT_HEAD_WORDS;
	if (what <= FREE) {
		if (gompi_load(&access_runtime) == NULL)
			find_accesses(); // it may have been loaded meanwhile
		pthread_mutex_lock(&access_mutex);
		learn_given(what, in);
		pthread_mutex_unlock(&access_mutex);
	}
	if (gompi_load(&access_runtime) == NULL)
		return;
	pthread_mutex_lock(&access_mutex);
	bool changed = what <= FREE             ? learn_memory(what, in)
		       : what <= GET_ACCUMULATE ? learn_operation(what, in)
		       : what <= ENDS_ASSERTED  ? learn_end(what, in)
		       : what == STARTS         ? learn_start(t)
						: learn_completion(what, in);
	if (changed)
		own_publish(gompi_load(&access_runtime));
	pthread_mutex_unlock(&access_mutex);
}

__attribute__((constructor)) static void take_part(void) {
	gompi_insight_own = (struct gompi_insight_own){.find = begin_accesses,
						       .pass_on = before_call,
						       .hand_on = pass_gathered,
						       .learn = learn_from,
						       .forget = forget_memory};
}
