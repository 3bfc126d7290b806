// Records synchronization between threads. Vector clocks make most of these records unnecessary (threads.h).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "insight/threads.h"

_Thread_local struct gompi_threads_self gompi_threads_self __attribute__((tls_model("initial-exec")));
gompi_a32 gompi_threads_extra_count;
gompi_a32 gompi_threads_enabled;

enum { OBJECTS = 8192, BUCKETS = 4096 };

// A synchronization object, found by its address.
struct thread_object {
	struct thread_object *next;
	uintptr_t address;
	uintptr_t writer;                     // for a lock: its exclusive holder; for a thread: not 0 once it has ended
	unsigned thread_count, arrived_count; // for a barrier: its threads, and their arrivals so far
	struct gompi_threads_clock clock;
};
static struct thread_object thread_objects[OBJECTS];
static struct thread_bucket {
	atomic_flag lock; // guards the objects of the bucket
	struct thread_object *first;
} thread_buckets[BUCKETS];
static gompi_a32 thread_objects_used;                       // if it exceeds OBJECTS, some objects are not in the table
static atomic_flag clock_indexes_lock;                      // guards the clock_index variables below
static gompi_a32 clock_indexes_used;                        // number of indexes in vector clocks
static uint32_t clock_index_last[GOMPI_THREADS_CLOCK_SIZE]; // by index: last clock value of the ended thread
static bool is_clock_index_free[GOMPI_THREADS_CLOCK_SIZE];
static gompi_a32 record_all; // 1 if every event is recorded

static void lock_flag(atomic_flag *busy) {
	for (int i = 1; gompi_flag_test_and_set(busy); i++)
		if (i % 64 == 0)
			sched_yield();
}

void gompi_threads_record_all(void) {
	if (gompi_load(&record_all) == 0)
		gompi_store(&record_all, 1);
}

uint64_t gompi_threads_new_object(void) {
	static gompi_a64 last;
	return UINT64_C(1) << 63 | gompi_add(&last, 1);
}

static int clock_size(void) {
	uint32_t n = gompi_load_acquire(&clock_indexes_used); // pairs with the release in assign_clock_index
	return n < GOMPI_THREADS_CLOCK_SIZE ? (int)n : GOMPI_THREADS_CLOCK_SIZE;
}

// Returns true if the clock `a` includes the clock `b`.
static bool clock_includes(const struct gompi_threads_clock *a, const struct gompi_threads_clock *b) {
	int is_missing = 0;
	for (int i = 0, n = clock_size(); i < n; i++)
		is_missing |= a->counts[i] < b->counts[i];
	return !is_missing;
}

static void clock_join(struct gompi_threads_clock *a, const struct gompi_threads_clock *b) {
	for (int i = 0, n = clock_size(); i < n; i++)
		a->counts[i] = a->counts[i] < b->counts[i] ? b->counts[i] : a->counts[i];
}

// Assigns a clock index to a thread. The index of an ended thread can be reused by a thread that is ordered after all
// activity of the ended thread. If no index is free, all events are recorded from then on.
static void assign_clock_index(struct gompi_threads_self *self) {
	if (self->clock_index != 0)
		return;
	lock_flag(&clock_indexes_lock);
	int n = clock_size(), i = 0;
	while (i < n && !(is_clock_index_free[i] && self->clock.counts[i] >= clock_index_last[i]))
		i++;
	if (i < GOMPI_THREADS_CLOCK_SIZE) {
		is_clock_index_free[i] = false;
		self->clock_index = i + 1;
		if (i == n)
			gompi_store_release(&clock_indexes_used, n + 1); // pairs with the acquire in clock_size
	} else {
		gompi_threads_record_all();
		self->clock_index = -1;
	}
	gompi_flag_clear(&clock_indexes_lock);
}

static void release_clock_index(struct gompi_threads_self *self) {
	if (self->clock_index <= 0)
		return;
	lock_flag(&clock_indexes_lock);
	clock_index_last[self->clock_index - 1] = self->clock.counts[self->clock_index - 1];
	is_clock_index_free[self->clock_index - 1] = true;
	gompi_flag_clear(&clock_indexes_lock);
	self->clock_index = 0;
}

static size_t hash_object(uintptr_t address) { return (address >> 3 ^ address >> 15) % BUCKETS; }

static atomic_flag *bucket_lock_of(uintptr_t address) { return &thread_buckets[hash_object(address)].lock; }

// Returns the object at an address. Creates it if it does not exist and make is true. Returns NULL if it does not exist
// or the table is full. The caller holds the bucket's lock.
static struct thread_object *find_object_locked(uintptr_t address, bool make) {
	struct thread_object **bucket = &thread_buckets[hash_object(address)].first, *o = *bucket;
	while (o != NULL && o->address != address)
		o = o->next;
	if (o != NULL || !make || gompi_load(&thread_objects_used) > OBJECTS)
		return o;
	uint32_t i = gompi_add(&thread_objects_used, 1);
	if (i >= OBJECTS)
		return NULL;
	o = &thread_objects[i];
	o->address = address;
	o->next = *bucket;
	return *bucket = o;
}

// Returns the thread if its events are recorded, else NULL. If it returns the thread, the caller must call end_event.
static inline __attribute__((always_inline)) struct gompi_insight_thread *begin_event(int *error) {
	// acquire: pairs with the release in attach_rank
	if (!gompi_threads_is_watched() || !gompi_load_acquire(&gompi_insight_is_attached))
		return NULL;
	*error = errno;
	struct gompi_insight_thread *t = gompi_insight_begin();
	if (t != NULL)
		assign_clock_index(&gompi_threads_self);
	return t;
}

static void end_event(struct gompi_insight_thread *t, int error) {
	gompi_insight_end(t);
	errno = error;
}

static void add_event(struct gompi_insight_thread *t, uint64_t what, uint64_t object) {
	t->words[t->used_words++] = what;
	t->words[t->used_words++] = object;
}

// Writes a record of an event, preceded by the pending drop, enter and fork events. If the argument `event` is
// PENDING_ONLY, writes only the pending events.
enum { PENDING_ONLY = 1 << 8 };
static void write_event(struct gompi_insight_thread *t, uint64_t event, uint64_t object) {
	struct gompi_threads_self *self = &gompi_threads_self;
	t->truncated = false;
	t->used_words = GOMPI_INSIGHT_HEAD_WORDS;
	t->words[0] = GOMPI_INSIGHT_THREAD_EVENTS;
	t->words[1] = t->number;
	t->words[2] = t->words[3] = gompi_insight_now(CLOCK_MONOTONIC);
	t->words[4] = t->words[5] = 0;
	if (self->pending_drop != 0)
		add_event(t, GOMPI_INSIGHT_DROP, self->pending_drop);
	if (self->pending_enter != 0)
		add_event(t, GOMPI_INSIGHT_ENTER, self->pending_enter);
	if (self->pending_enter != 0 && self->drop_on_enter)
		add_event(t, GOMPI_INSIGHT_DROP, self->pending_enter);
	self->pending_enter = self->pending_drop = 0;
	if (self->chunk_state == GOMPI_THREADS_CHUNK_BEGINS) {
		if (!self->has_chunks)
			add_event(t, GOMPI_INSIGHT_FORK, self->chunk_object);
		add_event(t, GOMPI_INSIGHT_ENTER, self->chunk_object);
		self->chunk_state = GOMPI_THREADS_IN_CHUNK;
		self->has_chunks = true;
	}
	if (event != PENDING_ONLY)
		add_event(t, event, object);
	gompi_insight_write_words(t);
}

static bool has_pending_events(const struct gompi_threads_self *self) {
	return (self->pending_enter | self->pending_drop) != 0 || self->chunk_state == GOMPI_THREADS_CHUNK_BEGINS;
}

void gompi_threads_before_call(struct gompi_insight_thread *t) {
	struct gompi_threads_self *self = &gompi_threads_self;
	self->has_activity = true;
	self->fork_is_current = false;
	if (__builtin_expect(has_pending_events(self), 0))
		write_event(t, PENDING_ONLY, 0);
}

// Records the thread's accesses so far. Advances the thread's clock if the thread has had activity since its clock was
// last advanced.
static void advance_clock(struct gompi_insight_thread *t) {
	struct gompi_threads_self *self = &gompi_threads_self;
	if (gompi_insight_hooks.flush_accesses != NULL)
		gompi_insight_hooks.flush_accesses(t);
	if (self->has_activity && self->clock_index > 0)
		self->clock.counts[self->clock_index - 1]++;
	self->has_activity = false;
}

// Records a release, unless the object's clock already includes this thread's clock. Advances the object's clock only
// after the record is in the ring. Otherwise another thread could see the advanced clock and omit its own record,
// although this record is not in the ring yet.
static void record_release(struct gompi_insight_thread *t, uint64_t what, uintptr_t object) {
	struct gompi_threads_self *self = &gompi_threads_self;
	atomic_flag *busy = bucket_lock_of(object);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(object, true);
	bool is_included = o != NULL && clock_includes(&o->clock, &self->clock);
	gompi_flag_clear(busy);
	if (is_included && what == GOMPI_INSIGHT_RELEASE && gompi_load(&record_all) == 0)
		return;
	write_event(t, what, object);
	if (o == NULL)
		return;
	lock_flag(busy);
	clock_join(&o->clock, &self->clock);
	gompi_flag_clear(busy);
}

void gompi_threads_release(uintptr_t object) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	advance_clock(t);
	record_release(t, GOMPI_INSIGHT_RELEASE, object);
	end_event(t, error);
}

void gompi_threads_acquire(uintptr_t object) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	struct gompi_threads_self *self = &gompi_threads_self;
	struct gompi_threads_clock known;
	atomic_flag *busy = bucket_lock_of(object);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(object, false);
	bool is_included =
		o != NULL ? clock_includes(&self->clock, &o->clock) : gompi_load(&thread_objects_used) <= OBJECTS;
	if (o != NULL)
		known = o->clock;
	gompi_flag_clear(busy);
	if (!is_included || gompi_load(&record_all) != 0) {
		advance_clock(t); // before the thread's clock includes the object's clock
		self->fork_is_current = false;
		write_event(t, GOMPI_INSIGHT_ACQUIRE, object);
		if (o != NULL)
			clock_join(&self->clock, &known);
	}
	end_event(t, error);
}

static void record_fork(struct gompi_insight_thread *t, struct gompi_threads_fork *fork) {
	write_event(t, GOMPI_INSIGHT_FORK, fork->object);
	fork->clock = gompi_threads_self.clock;
}

void gompi_threads_fork(struct gompi_threads_fork *fork, uint64_t object) {
	int error;
	memset(fork, 0, sizeof *fork);
	fork->object = object;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	advance_clock(t);
	record_fork(t, fork);
	end_event(t, error);
}

void gompi_threads_begin_region(struct gompi_threads_fork *fork) {
	struct gompi_threads_self *self = &gompi_threads_self;
	int error;
	memset(fork, 0, sizeof *fork);
	fork->object = (uintptr_t)self;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	advance_clock(t);
	if (self->fork_is_current) {
		self->pending_drop = 0;
		fork->clock = self->clock;
	} else {
		record_fork(t, fork);
		self->fork_is_current = true;
	}
	end_event(t, error);
}

void gompi_threads_end_region(uintptr_t object) {
	gompi_threads_acquire(object);
	gompi_threads_self.pending_drop = (uintptr_t)&gompi_threads_self;
}

void gompi_threads_drop(uint64_t object) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	write_event(t, GOMPI_INSIGHT_DROP, object);
	end_event(t, error);
}

void gompi_threads_enter(const struct gompi_threads_fork *fork, bool drops) {
	struct gompi_threads_self *self = &gompi_threads_self;
	if (self->clock_index > 0 &&
	    fork->clock.counts[self->clock_index - 1] < self->clock.counts[self->clock_index - 1])
		// otherwise one value of this thread's clock would represent two points in time
		gompi_threads_record_all();
	self->clock = fork->clock;
	self->pending_enter = fork->object;
	self->drop_on_enter = drops;
	self->has_activity = self->fork_is_current = self->has_chunks = false;
	self->pending_drop = self->chunk_object = 0;
	self->chunk_state = GOMPI_THREADS_NO_CHUNK;
}

// Ends the current chunk, and begins the next one. All chunks of a thread share its clock, so the clock is correct only
// for the first chunk. From the second chunk on, all events are recorded.
void gompi_threads_next_chunk(bool has_next) {
	struct gompi_threads_self *self = &gompi_threads_self;
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	if (self->chunk_object == 0) {
		advance_clock(t);
		self->chunk_object = gompi_threads_new_object();
	} else if (self->chunk_state != GOMPI_THREADS_NO_CHUNK) {
		advance_clock(t);
		if (self->chunk_state == GOMPI_THREADS_IN_CHUNK)
			write_event(t, GOMPI_INSIGHT_LEAVE, self->chunk_object);
		self->chunk_state = GOMPI_THREADS_NO_CHUNK;
	}
	if (has_next && self->has_chunks)
		gompi_threads_record_all();
	if (has_next)
		self->chunk_state = GOMPI_THREADS_CHUNK_BEGINS;
	self->fork_is_current = false;
	end_event(t, error);
}

void gompi_threads_end_chunks(void) {
	struct gompi_threads_self *self = &gompi_threads_self;
	if (self->chunk_object == 0)
		return;
	gompi_threads_next_chunk(false);
	int error;
	struct gompi_insight_thread *t = self->has_chunks ? begin_event(&error) : NULL;
	if (t != NULL) {
		write_event(t, GOMPI_INSIGHT_ACQUIRE, self->chunk_object);
		write_event(t, GOMPI_INSIGHT_DROP, self->chunk_object);
		end_event(t, error);
	}
	self->chunk_object = 0;
	self->has_chunks = false;
}

// Records a drop of the object that this thread was about to enter. The thread has recorded nothing since
// gompi_threads_enter, so it does not enter the object.
static void drop_unentered(struct gompi_insight_thread *t, struct gompi_threads_self *self) {
	uint64_t object = self->pending_enter;
	self->pending_enter = 0;
	write_event(t, GOMPI_INSIGHT_DROP, object);
}

void gompi_threads_leave(uintptr_t object) {
	struct gompi_threads_self *self = &gompi_threads_self;
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t != NULL) {
		advance_clock(t);
		if (self->pending_enter == 0)
			record_release(t, GOMPI_INSIGHT_LEAVE, object);
		else if (self->drop_on_enter)
			drop_unentered(t, self);
		end_event(t, error);
	}
	self->pending_enter = 0;
}

bool gompi_threads_has_entered(void) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return false;
	advance_clock(t);
	end_event(t, error);
	return gompi_threads_self.pending_enter == 0;
}

void gompi_threads_suspend(struct gompi_threads_self *outer) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t != NULL) {
		advance_clock(t);
		if (has_pending_events(&gompi_threads_self))
			write_event(t, PENDING_ONLY, 0);
		end_event(t, error);
	}
	*outer = gompi_threads_self;
}

void gompi_threads_resume(const struct gompi_threads_self *outer) {
	int slot = gompi_threads_self.clock_index;
	gompi_threads_self = *outer;
	gompi_threads_self.clock_index = slot;
}

void gompi_threads_end_thread(uintptr_t thread) {
	gompi_threads_leave(thread);
	gompi_threads_set_writer(thread); // marks the thread's object as ended; gompi_threads_join clears the mark
	gompi_threads_self.is_tracked = false;
	release_clock_index(&gompi_threads_self);
}

void gompi_threads_join(uintptr_t thread) {
	atomic_flag *busy = bucket_lock_of(thread);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(thread, false);
	bool has_ended = o != NULL && o->writer != 0;
	if (has_ended)
		o->writer = 0;
	gompi_flag_clear(busy);
	if (has_ended)
		gompi_sub(&gompi_threads_extra_count, 1);
	gompi_threads_acquire(thread);
}

// Pages that occur in records made while there were several threads: a bitmap indexed by a hash of the page number. If
// a noted range has more than MAX_NOTED_PAGES pages, all pages count as noted from then on.
enum { PAGE_BITS = 12, NOTED_BITS = 1 << 16, MAX_NOTED_PAGES = 256 };
static gompi_a64 noted_pages[NOTED_BITS / 64];
static gompi_a32 all_pages_noted;

void gompi_threads_note_memory(uintptr_t low, uintptr_t size) {
	uintptr_t page = low >> PAGE_BITS, last = (low + size - 1) >> PAGE_BITS;
	if (last - page >= MAX_NOTED_PAGES)
		gompi_store(&all_pages_noted, 1);
	for (; page <= last && gompi_load(&all_pages_noted) == 0; page++) {
		uint64_t bit = UINT64_C(1) << page % 64;
		gompi_a64 *word = &noted_pages[page / 64 % (NOTED_BITS / 64)];
		if (!(gompi_load(word) & bit))
			gompi_or(word, bit);
	}
}

static bool is_memory_noted(uintptr_t low, uintptr_t size) {
	uintptr_t page = low >> PAGE_BITS, last = (low + size - 1) >> PAGE_BITS;
	if (gompi_load(&all_pages_noted) != 0 || last - page >= NOTED_BITS)
		return true;
	for (; page <= last; page++)
		if (gompi_load(&noted_pages[page / 64 % (NOTED_BITS / 64)]) >> page % 64 & 1)
			return true;
	return false;
}

void gompi_threads_free_memory(uintptr_t low, uintptr_t size) {
	int error;
	struct gompi_insight_thread *t = begin_event(&error);
	if (t == NULL)
		return;
	if (gompi_insight_hooks.forget_memory != NULL)
		gompi_insight_hooks.forget_memory(low, low + size);
	if (is_memory_noted(low, size))
		write_event(t, GOMPI_INSIGHT_FREE | size << 8, low);
	end_event(t, error);
}

void gompi_threads_set_barrier(uintptr_t barrier, unsigned count) {
	atomic_flag *busy = bucket_lock_of(barrier);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(barrier, true);
	if (o != NULL) {
		o->thread_count = count;
		o->arrived_count = 0;
	}
	gompi_flag_clear(busy);
}

// Counts the arrival of this thread at the barrier, and returns the object of its round. Two alternating objects
// suffice, because a thread is at most one round ahead of the slowest thread.
uintptr_t gompi_threads_barrier_round(uintptr_t barrier) {
	atomic_flag *busy = bucket_lock_of(barrier);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(barrier, false);
	unsigned round = o == NULL || o->thread_count == 0 ? 0 : o->arrived_count++ / o->thread_count;
	gompi_flag_clear(busy);
	return barrier + 1 + round % 2;
}

void gompi_threads_set_writer(uintptr_t lock) {
	atomic_flag *busy = bucket_lock_of(lock);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(lock, true);
	if (o != NULL)
		o->writer = (uintptr_t)&gompi_threads_self;
	gompi_flag_clear(busy);
}

bool gompi_threads_clear_writer(uintptr_t lock) {
	atomic_flag *busy = bucket_lock_of(lock);
	lock_flag(busy);
	struct thread_object *o = find_object_locked(lock, false);
	bool was_writer = o != NULL && o->writer == (uintptr_t)&gompi_threads_self;
	if (was_writer)
		o->writer = 0;
	gompi_flag_clear(busy);
	return was_writer;
}

// Searches loaded libraries too, because a library that was loaded by dlopen is not in the lookup order of RTLD_NEXT.
void *gompi_threads_find_next(_Atomic(void *) *next, const char *name, const char *version) {
	void *found = version != NULL ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (found == NULL)
		found = dlsym(RTLD_NEXT, name);
	static const char *const libraries[] = {"libgomp.so.1", "libpthread.so.0", "libc.so.6"};
	for (size_t i = 0; found == NULL && i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library != NULL) {
			found = version != NULL ? dlvsym(library, name, version) : NULL;
			if (found == NULL)
				found = dlsym(library, name);
			dlclose(library);
		}
	}
	if (found == NULL) {
		fprintf(stderr,
			"libgompirma-insight.so: the program calls %s, but no loaded library defines this function\n",
			name);
		abort();
	}
	gompi_store(next, found);
	return found;
}

__attribute__((constructor)) static void track_first_thread(void) { gompi_threads_self.is_tracked = true; }
