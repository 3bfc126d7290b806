// Records the program's own accesses, which libgompirma-access.so gathers. This file determines from the records of
// calls which memory is watched. It writes records of the gathered accesses before the record of the next call.
//
// The watched memory is the memory of windows and the buffers in use. A buffer of an RMA operation is in use until all
// operations on the same window and target are complete. A buffer of a request is in use until the request is complete.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "access/access.h"
#include "insight/pmpi.h"
#include "insight/window_memory.h"
#include "insight/threads.h"

// The effect of a function on watched memory.
enum {
	NO_ROLE,
	CREATE,
	ALLOCATE,
	ALLOCATE_SHARED,
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
	ENDS_ALL,
	ENDS_ASSERTED,
	COMPLETE,
	COMPLETE_SEVERAL,
	STARTS_REQUEST,
	BEGINS_SPLIT,
	ENDS_SPLIT
};
static uint8_t function_roles[GOMPI_INSIGHT_FUNCTIONS];

struct extent {
	uint64_t low, high;
};
enum { MAX_BUFFERS = 64, NO_TARGET = -1, MANY_TARGETS = -2 };
struct watched {
	struct watched *next;
	uint64_t win;
	int64_t target; // target rank of the operations in progress, NO_TARGET or MANY_TARGETS
	int lock_count; // number of locks that this process holds
	int memory_count, memory_capacity, buffer_count;
	struct extent *memory;
	// sorted, neither overlapping nor adjacent; the last one is for a new buffer until join_extents
	struct extent buffer[MAX_BUFFERS + 1];
};

static _Atomic(struct gompi_access_runtime *) access_runtime;
static pthread_mutex_t access_mutex = PTHREAD_MUTEX_INITIALIZER; // guards access_windows and access_pending
static struct watched *access_windows;

// Buffers of requests that are not complete, or that are persistent, in a hash table by handle. A split collective
// counts as a request with the handle split_request(file). The watched ranges are in the entry of access_windows with
// the handle NO_WINDOW, which has no window memory.
struct pending {
	struct pending *next;
	uint64_t request;
	struct extent buffer;
};
enum { PENDING_BUCKETS = 4096, NO_WINDOW = 0 };
static struct pending *access_pending[PENDING_BUCKETS];
static size_t pending_count, pending_dropped; // pending_dropped: requests dropped since the last rebuild

// Descriptions of the buffers of nonblocking and persistent functions, and of those that begin a split collective, one
// letter per input:
// - a: an address
// - n: a number of elements; N: a number of elements per member
// - t: a datatype
// - l, d, w: lists of counts, displacements and datatypes per member
// - other characters: another input
// With a list of datatypes, displacements are in bytes. A datatype or a list of datatypes ends the description of a
// buffer.
static const char *buffer_forms[GOMPI_INSIGHT_FUNCTIONS];

static void write_gathered(struct gompi_insight_thread *t);

static void flush_own_accesses(void) {
	struct gompi_insight_thread *t = gompi_insight_begin();
	if (t == NULL)
		return;
	write_gathered(t);
	gompi_insight_end(t);
}

static void release_address(const void *p) { gompi_threads_release((uintptr_t)p); }
static void acquire_address(const void *p) { gompi_threads_acquire((uintptr_t)p); }

static bool is_outside_mpi(void) { return gompi_insight_self.is_outermost || gompi_insight_self.frame == 0; }

static bool matches_function(const char *function, const char *name) {
	size_t n = strlen(name);
	return strncmp(function, name, n) == 0 && (function[n] == 0 || strcmp(function + n, "_c") == 0);
}

static bool remove_suffix(char *name, const char *suffix) {
	size_t n = strlen(name), length = strlen(suffix);
	if (n < length || strcmp(name + n - length, suffix) != 0)
		return false;
	name[n - length] = 0;
	return true;
}

// Classifies a function that creates a request, or that begins or ends a split collective on a file. A persistent
// function has the inputs of the corresponding nonblocking function.
static void classify_nonblocking(const char *function, int number) {
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
		     {"alltoallw", "aldwaldw"},
		     {"read", "-ant"},
		     {"read_all", "-ant"},
		     {"read_at", "--ant"},
		     {"read_at_all", "--ant"},
		     {"read_ordered", "-ant"},
		     {"read_shared", "-ant"},
		     {"write", "-ant"},
		     {"write_all", "-ant"},
		     {"write_at", "--ant"},
		     {"write_at_all", "--ant"},
		     {"write_ordered", "-ant"},
		     {"write_shared", "-ant"}};
	char name[64], *base = name;
	size_t n = strlen(function);
	if (n >= sizeof name)
		return;
	memcpy(name, function, n + 1);
	if (n > 2 && strcmp(name + n - 2, "_c") == 0)
		name[n -= 2] = 0;
	uint8_t role = STARTS_REQUEST;
	const bool persistent = remove_suffix(name, "_init"), is_file = strncmp(name, "File_", 5) == 0;
	if (is_file && remove_suffix(name, "_end")) {
		function_roles[number] = ENDS_SPLIT;
		return;
	}
	if (is_file && remove_suffix(name, "_begin")) {
		role = BEGINS_SPLIT;
		base += strlen("File_");
	} else if (strncmp(name, "File_i", 6) == 0) {
		base += strlen("File_i");
	} else if (name[0] == 'I') {
		base++;
	} else if (!persistent) {
		return;
	}
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcasecmp(base, forms[i].name) == 0) {
			function_roles[number] = role;
			buffer_forms[number] = forms[i].buffers;
		}
}

static void classify(void) {
	static const struct {
		const char *name;
		uint8_t what;
	} names[] = {{"Win_create", CREATE},
		     {"Win_allocate", ALLOCATE},
		     {"Win_allocate_shared", ALLOCATE_SHARED},
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
		     {"Win_complete", ENDS_ALL},
		     {"Win_fence", ENDS_ASSERTED},
		     {"Win_unlock_all", ENDS_ALL},
		     {"Win_flush_all", ENDS_ALL},
		     {"Win_flush_local_all", ENDS_ALL},
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
		const char *name = gompi_insight_function_names[f] + strlen("MPI_");
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (matches_function(name, names[i].name))
				function_roles[f] = names[i].what;
		classify_nonblocking(name, f);
	}
}

static void find_accesses(void) {
	struct gompi_access_runtime *r = dlsym(RTLD_DEFAULT, "gompi_access_runtime");
	if (r == NULL || gompi_load(&access_runtime) != NULL || r->version != GOMPI_ACCESS_VERSION)
		return;
	gompi_store(&r->is_outside_mpi, is_outside_mpi);
	gompi_store(&r->flush, flush_own_accesses);
	gompi_store(&r->extra_threads, &gompi_threads_extra_count);
	gompi_store(&r->release, release_address);
	gompi_store(&r->acquire, acquire_address);
	gompi_store_release(&access_runtime, r); // pairs with the acquire in write_gathered
}

static void init_accesses(void) {
	if (!(gompi_insight_job->mode & GOMPI_INSIGHT_MODE_ACCESSES))
		return;
	classify();
	find_accesses();
}

// Passes the memory of the accesses in a record to gompi_threads_note_memory.
static void note_access_memory(struct gompi_insight_thread *t) {
	if (gompi_load(&gompi_threads_extra_count) == 0)
		return;
	for (size_t i = GOMPI_INSIGHT_HEAD_WORDS; i < t->used_words;) {
		size_t next = i + 2 + 4 * (t->words[i + 1] >> 8);
		for (i += 2; i < next; i += 4)
			gompi_threads_note_memory(t->words[i],
						  t->words[i + 1] + t->words[i + 2] * (t->words[i + 3] - 1));
	}
}

static void write_gathered(struct gompi_insight_thread *t) {
	struct gompi_access_runtime *r = gompi_load_acquire(&access_runtime);
	if (__builtin_expect(r == NULL, 1))
		return;
	gompi_add(&r->generation, 1);
	while (r->has_gathered()) {
		gompi_threads_before_call(t);
		enum { HEAD = GOMPI_INSIGHT_HEAD_WORDS };
		size_t n = r->drain(t->words + HEAD, GOMPI_INSIGHT_MAX_RECORD - HEAD);
		if (n == 0)
			break;
		t->truncated = false;
		t->used_words = HEAD + n;
		t->words[0] = GOMPI_INSIGHT_ACCESSES;
		t->words[1] = t->number;
		t->words[2] = t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
		t->words[4] = t->words[5] = 0;
		for (size_t i = HEAD; i < t->used_words; i += 2 + 4 * (t->words[i + 1] >> 8))
			if (t->words[i] - t->object_low >= t->object_bytes)
				gompi_insight_add_object(t, t->words[i]);
		note_access_memory(t);
		gompi_insight_write_words(t);
	}
}

static void before_call(struct gompi_insight_thread *t) {
	gompi_threads_before_call(t);
	write_gathered(t);
}

static void forget_memory(uintptr_t low, uintptr_t high) {
	struct gompi_access_runtime *r = gompi_load_acquire(&access_runtime); // pairs with the release in find_accesses
	if (r != NULL)
		r->forget(low, high);
}

static struct watched *find_watched(uint64_t win, bool create) {
	for (struct watched *w = access_windows; w != NULL; w = w->next)
		if (w->win == win)
			return w;
	struct watched *w = create ? calloc(1, sizeof *w) : NULL;
	if (w != NULL) {
		w->win = win;
		w->target = NO_TARGET;
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
	if (w->memory_count == w->memory_capacity) {
		int capacity = w->memory_capacity ? 2 * w->memory_capacity : 4;
		struct extent *grown = realloc(w->memory, capacity * sizeof *grown);
		if (grown == NULL)
			return false;
		w->memory = grown;
		w->memory_capacity = capacity;
	}
	w->memory[w->memory_count++] = (struct extent){low, low + size};
	return true;
}

static int by_low(const void *a, const void *b) {
	const struct extent *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

// Sorts extents and merges those that overlap or are adjacent. If more than max_count extents remain, also merges the
// extents with the smallest gaps between them. Returns the number of extents.
static int join_extents(struct extent *e, int n, int max_count) {
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
	while (m > max_count) {
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

// Returns the range of a buffer. Returns an empty range if the buffer has no bytes or its size is unknown.
static struct extent extent_of(uint64_t address, int64_t count, uint64_t type) {
	MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
	if (count <= 0 || type <= (uintptr_t)MPI_DATATYPE_NULL ||
	    GOMPI_CALL_PMPI(MPI_Type_get_extent_c, (MPI_Datatype)type, &lb, &extent) != MPI_SUCCESS ||
	    GOMPI_CALL_PMPI(MPI_Type_get_true_extent_c, (MPI_Datatype)type, &true_lb, &true_extent) != MPI_SUCCESS)
		return (struct extent){0, 0};
	int64_t last = (count - 1) * extent;
	return (struct extent){address + true_lb + (last < 0 ? last : 0),
			       address + true_lb + true_extent + (last > 0 ? last : 0)};
}

// Adds a range to the buffers of the window. Returns true if no buffer contained it.
static bool add_extent(struct watched *w, struct extent e) {
	if (w == NULL || e.low < 4096 || e.high <= e.low)
		return false;
	for (int i = 0; i < w->buffer_count; i++)
		if (w->buffer[i].low <= e.low && e.high <= w->buffer[i].high)
			return false;
	w->buffer[w->buffer_count++] = e;
	w->buffer_count = join_extents(w->buffer, w->buffer_count, MAX_BUFFERS);
	return true;
}

static bool add_buffer(struct watched *w, uint64_t address, int64_t count, uint64_t type) {
	return add_extent(w, extent_of(address, count, type));
}

static bool drop_buffers(struct watched *w) {
	if (w == NULL)
		return false;
	w->target = NO_TARGET;
	bool had_buffers = w->buffer_count > 0;
	w->buffer_count = 0;
	return had_buffers;
}

// Publishes the watched ranges to libgompirma-access.so.
static void publish_ranges(struct gompi_access_runtime *r) {
	int n = 0;
	for (struct watched *w = access_windows; w != NULL; w = w->next)
		n += w->memory_count + w->buffer_count;
	struct extent *all = malloc((n + 1) * sizeof *all);
	if (all == NULL)
		return;
	n = 0;
	for (struct watched *w = access_windows; w != NULL; w = w->next) {
		for (int i = 0; i < w->memory_count; i++)
			all[n++] = w->memory[i];
		for (int i = 0; i < w->buffer_count; i++)
			all[n++] = w->buffer[i];
	}
	n = join_extents(all, n, GOMPI_ACCESS_MAX_RANGES);
	gompi_add_seq_cst(&r->seq, 1); // pairs with the acquire in access/gather.c
	for (int i = 0; i < n; i++) {
		gompi_store(&r->low[i], all[i].low);
		gompi_store(&r->high[i], all[i].high);
	}
	gompi_store(&r->range_count, n);
	gompi_add_seq_cst(&r->seq, 1);
	gompi_add(&r->generation, 1);
	free(all);
}

// Adds the memory of all members of a shared window. Members with adjacent memory, which is the default, share one
// range. Returns true if any memory was added.
static bool add_shared_memory(struct watched *w) {
	MPI_Group group = MPI_GROUP_NULL;
	int n = 0;
	bool some = false;
	if (w == NULL || GOMPI_CALL_PMPI(MPI_Win_get_group, (MPI_Win)w->win, &group) != MPI_SUCCESS)
		return false;
	if (GOMPI_CALL_PMPI(MPI_Group_size, group, &n) != MPI_SUCCESS)
		n = 0;
	(void)GOMPI_CALL_PMPI(MPI_Group_free, &group);
	for (int i = 0; i < n; i++) {
		MPI_Aint size = 0;
		int unit = 0;
		void *base = NULL;
		if (GOMPI_CALL_PMPI(MPI_Win_shared_query, (MPI_Win)w->win, i, &size, &unit, &base) == MPI_SUCCESS)
			some |= add_memory(w, (uintptr_t)base, size);
	}
	w->memory_count = join_extents(w->memory, w->memory_count, INT32_MAX);
	return some;
}

static bool update_window_memory(int what, const uint64_t *in) {
	struct watched *w;
	switch (what) {
	case CREATE:
		return add_memory(find_watched(in[6], true), in[0], in[1]);
	case ALLOCATE:
		return add_memory(find_watched(in[7], true), in[5], in[0]);
	case ALLOCATE_SHARED:
		return add_shared_memory(find_watched(in[7], true));
	case ATTACH:
		return add_memory(find_watched(in[0], true), in[1], in[2]);
	case DETACH:
		w = find_watched(in[0], false);
		for (int i = 0; w != NULL && i < w->memory_count; i++)
			if (w->memory[i].low == in[1]) {
				w->memory[i] = w->memory[--w->memory_count];
				return true;
			}
		return false;
	case QUERY:
		w = find_watched(in[0], true);
		for (int i = 0; w != NULL && i < w->memory_count; i++)
			if (w->memory[i].low <= in[7] && in[7] + in[3] <= w->memory[i].high)
				return false;
		return add_memory(w, in[7], in[3]);
	default: // FREE
		drop_window(in[1]);
		return true;
	}
}

// Watches the buffers of an operation. The table contains the indexes of the inputs `target` and `window`. Returns true
// if the watched ranges have changed.
static bool watch_operation(int what, const uint64_t *in) {
	static const struct {
		uint8_t target, win;
	} at[] = {[PUT] = {3, 7}, [ACCUMULATE] = {3, 8}, [FETCH] = {3, 6}, [SWAP] = {4, 6}, [GET_ACCUMULATE] = {6, 11}};
	struct watched *w = find_watched(in[at[what].win], false);
	int64_t target = in[at[what].target];
	if (w == NULL)
		return false;
	w->target = w->target == NO_TARGET || w->target == target ? target : MANY_TARGETS;
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

static bool end_window_ops(int what, const uint64_t *in) {
	struct watched *w =
		find_watched(in[what == LOCK ? 3 : what == ENDS_ASSERTED || what == UNLOCK || what == FLUSH], false);
	if (w == NULL)
		return false;
	switch (what) {
	case LOCK:
		w->lock_count++;
		return false;
	case UNLOCK:
		w->lock_count--;
		return (w->target == (int64_t)in[0] || w->lock_count <= 0) && drop_buffers(w);
	case FLUSH:
		return w->target == (int64_t)in[0] && drop_buffers(w);
	default:
		return drop_buffers(w);
	}
}

static struct pending **pending_bucket(uint64_t request) {
	return &access_pending[(request ^ request >> 12) % PENDING_BUCKETS];
}

static void drop_pending(uint64_t request) {
	for (struct pending **at = pending_bucket(request), *p; (p = *at) != NULL;)
		if (p->request == request) {
			*at = p->next;
			free(p);
			pending_count--;
			pending_dropped++;
		} else {
			at = &p->next;
		}
}

// Maximum number of pending requests. When it is reached, all pending requests are dropped. They may include completed
// requests: a record of a call that completes thousands of requests may be truncated.
enum { MAX_PENDING = 1 << 16 };

static bool add_pending(uint64_t request, struct extent e) {
	for (int i = 0; pending_count == MAX_PENDING && i < PENDING_BUCKETS; i++)
		while (access_pending[i] != NULL)
			drop_pending(access_pending[i]->request);
	struct pending *p = e.low < 4096 || e.high <= e.low ? NULL : malloc(sizeof *p), **at = pending_bucket(request);
	if (p == NULL)
		return false;
	*p = (struct pending){*at, request, e};
	*at = p;
	pending_count++;
	return add_extent(find_watched(NO_WINDOW, true), e);
}

// Rebuilds the set of watched buffers from the pending requests, once at least as many requests have completed as are
// pending. So the cost per request is constant. Returns true if it has rebuilt the set.
static bool rebuild_pending(void) {
	struct watched *w = find_watched(NO_WINDOW, false);
	if (w == NULL || pending_dropped < MAX_BUFFERS || pending_dropped < pending_count)
		return false;
	pending_dropped = 0;
	w->buffer_count = 0;
	for (int i = 0; i < PENDING_BUCKETS; i++)
		for (struct pending *p = access_pending[i]; p != NULL; p = p->next)
			add_extent(w, p->buffer);
	return true;
}

static uint64_t list_length(const uint64_t *list) { return (uint32_t)*list; }

// The inputs of a buffer that have been parsed so far.
struct parsed {
	uint64_t address[2];
	int address_count;
	int64_t count;
	const uint64_t *counts, *displs; // lists, or NULL; without displacements the elements are contiguous
};

// Adds the parsed buffers when the datatype that ends their description is reached. `types` is a list of datatypes or
// NULL. If it is a list, displacements are in bytes.
static bool add_parsed_buffers(uint64_t request, const struct parsed *b, uint64_t type, const uint64_t *types) {
	bool added = false;
	int64_t count = b->count;
	for (uint64_t k = 1; b->counts != NULL && k <= list_length(b->counts); k++)
		count += b->counts[k];
	for (int i = 0; i < b->address_count; i++) {
		if (b->displs == NULL) {
			added |= add_pending(request, extent_of(b->address[i], count, type));
			continue;
		}
		struct extent all = {UINT64_MAX, 0};
		MPI_Count lb = 0, extent = 1;
		if (types == NULL &&
		    (type <= (uintptr_t)MPI_DATATYPE_NULL ||
		     GOMPI_CALL_PMPI(MPI_Type_get_extent_c, (MPI_Datatype)type, &lb, &extent) != MPI_SUCCESS))
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

// Returns the handle that represents the split collective of a file. It differs from the handles of all requests.
static uint64_t split_request(uint64_t file) { return file | UINT64_C(1) << 63; }

// Watches the buffers of the nonblocking operation or split collective that a call has started. Returns true if the
// watched ranges have changed.
static bool watch_request(const struct gompi_insight_thread *t) {
	uint32_t number = t->words[0] & 0xffff, request_list = t->used_words - 2; // the list that holds the new request
	uint64_t request = t->words[t->used_words - 1];
	if (function_roles[number] == BEGINS_SPLIT)
		request = split_request(t->words[GOMPI_INSIGHT_HEAD_WORDS]);
	else if (t->words[request_list] != ((uint64_t)GOMPI_INSIGHT_STATE_PRESENT << 32 | 1))
		return false;
	bool persistent = strstr(gompi_insight_function_names[number], "_init") != NULL, added = false;
	struct parsed b = {.address_count = 0};
	const uint64_t *in = t->words + GOMPI_INSIGHT_HEAD_WORDS;
	for (const char *form = buffer_forms[number]; *form; form++) {
		const uint64_t *word = in++;
		if (*form == 'l' || *form == 'd' || *form == 'w')
			in += list_length(word);
		switch (*form) {
		case 'a':
			b.address[b.address_count++] = *word;
			break;
		case 'n':
			b.count = *word;
			break;
		// the communicator is the last input; in persistent functions an info argument follows it
		case 'N':
			b.count = *word * gompi_insight_peer_count((MPI_Comm)t->words[request_list - 1 - persistent]);
			break;
		case 'l':
			b.counts = word;
			break;
		case 'd':
			b.displs = word;
			break;
		case 't':
		case 'w':
			added |= add_parsed_buffers(request, &b, *word, *form == 'w' ? word : NULL);
			b = (struct parsed){.address_count = 0};
			break;
		}
	}
	return added;
}

// Drops the requests that the call has set to MPI_REQUEST_NULL, because they are complete or freed. Returns true if the
// watched ranges have changed.
static bool drop_completed(int what, const uint64_t *in) {
	const uint64_t *before = what == COMPLETE ? in : in + 1, *after = before + 1 + list_length(before);
	for (uint64_t i = 1; i <= list_length(before) && i <= list_length(after); i++)
		if (after[i] == (uintptr_t)MPI_REQUEST_NULL && before[i] != after[i])
			drop_pending(before[i]);
	return rebuild_pending();
}

static bool drop_split(uint64_t file) {
	drop_pending(split_request(file));
	return rebuild_pending();
}

// Updates the table of the program's memory that belongs to windows.
static void track_window_memory(int what, const uint64_t *in) {
	switch (what) {
	case CREATE:
		gompi_win_memory_add(in[6], in[0], in[1]);
		break;
	case ATTACH:
		gompi_win_memory_add(in[0], in[1], in[2]);
		break;
	case DETACH:
		gompi_win_memory_remove(in[0], in[1]);
		break;
	case FREE:
		gompi_win_memory_remove(in[1], 0);
		break;
	}
}

enum { MAX_NOTED_WORDS = 40 };
static void process_record(struct gompi_insight_thread *t) {
	uint32_t number = t->words[0] & 0xffff;
	if (number >= GOMPI_INSIGHT_FUNCTIONS || t->words[3] == 0)
		return;
	for (uint32_t i = GOMPI_INSIGHT_HEAD_WORDS;
	     gompi_load(&gompi_threads_extra_count) > 0 && i < t->used_words && i < MAX_NOTED_WORDS; i++)
		// notes every word as if it were an address, because some words are addresses of buffers
		gompi_threads_note_memory(t->words[i], 1);
	if (t->words[5] != MPI_SUCCESS)
		return;
	int what = function_roles[number];
	if (what == NO_ROLE)
		return;
	const uint64_t *in = t->words + GOMPI_INSIGHT_HEAD_WORDS;
	if (what <= FREE) {
		if (gompi_load(&access_runtime) == NULL)
			find_accesses(); // dlopen may have loaded libgompirma-access.so
		pthread_mutex_lock(&access_mutex);
		track_window_memory(what, in);
		pthread_mutex_unlock(&access_mutex);
	}
	if (gompi_load(&access_runtime) == NULL)
		return;
	pthread_mutex_lock(&access_mutex);
	bool changed = what <= FREE             ? update_window_memory(what, in)
		       : what <= GET_ACCUMULATE ? watch_operation(what, in)
		       : what <= ENDS_ASSERTED  ? end_window_ops(what, in)
		       : what == ENDS_SPLIT     ? drop_split(in[0])
		       : what >= STARTS_REQUEST ? watch_request(t)
						: drop_completed(what, in);
	if (changed)
		publish_ranges(gompi_load(&access_runtime));
	pthread_mutex_unlock(&access_mutex);
}

__attribute__((constructor)) static void install_hooks(void) {
	gompi_insight_hooks = (struct gompi_insight_hooks){.init = init_accesses,
							   .before_call = before_call,
							   .flush_accesses = write_gathered,
							   .after_record = process_record,
							   .forget_memory = forget_memory};
}
