// Interposed functions of libgomp, gcc's OpenMP runtime, which run code in several threads and synchronize them.
// libgomp reuses its threads for later regions. So the records show when a thread enters and leaves a region, not when
// libgomp creates or ends the thread. Other OpenMP runtimes have different functions, so their threads are not tracked.

#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "insight/threads.h"

#define EXPORTED __attribute__((visibility("default")))

// The synchronization objects of the threads of a region. Only the addresses of the fields are used.
struct openmp_team {
	char tasks, depend, ordered, barrier[2], end;
};

// The start data of a region's threads. libgomp reads the first word in some cases.
struct openmp_region {
	void *first;
	void (*body)(void *);
	void *data;
	struct openmp_team *team;
	struct gompi_threads_self *master;
	struct gompi_threads_fork fork;
};

// The current context of a thread.
struct openmp_context {
	struct openmp_team *team;
	unsigned barriers; // number of barriers that the thread has reached
	uint64_t task;     // object that each task created in this context releases, and a wait for it acquires
	bool is_final;     // tasks created in this context are executed immediately
	char *frame;       // frame of the function that runs the current activity
};
static __attribute__((tls_model("initial-exec"))) _Thread_local struct openmp_context openmp_self;

// Records the stack of a loop chunk or task as freed. The next chunk or task of the thread reuses the stack, but is not
// ordered after this one.
enum { MAX_STACK_BYTES = 1 << 18 };
static void free_stack(void) {
	char *here = __builtin_frame_address(0), *frame = openmp_self.frame;
	if (frame != NULL && frame >= here && frame - here < MAX_STACK_BYTES && gompi_threads_share_memory())
		gompi_threads_free_memory((uintptr_t)here - MAX_STACK_BYTES, frame - here + MAX_STACK_BYTES);
}

static void openmp_release(const void *object) {
	if (gompi_threads_is_watched())
		gompi_threads_release((uintptr_t)object);
}

static void openmp_acquire(const void *object) {
	if (gompi_threads_is_watched())
		gompi_threads_acquire((uintptr_t)object);
}

// Runs the body of a region in one thread.
static void run_region_thread(void *region) {
	struct openmp_region *r = region;
	struct openmp_context outer = openmp_self;
	bool seen = gompi_threads_self.is_tracked, is_other_thread = &gompi_threads_self != r->master;
	openmp_self = (struct openmp_context){
		.team = r->team, .task = gompi_threads_new_object(), .frame = __builtin_frame_address(0)};
	if (is_other_thread) {
		gompi_threads_self.is_tracked = true;
		gompi_threads_enter(&r->fork, false);
	}
	r->body(r->data);
	gompi_threads_end_chunks();
	if (is_other_thread) {
		gompi_threads_leave((uintptr_t)&r->team->end);
		gompi_threads_self.is_tracked = seen;
	}
	openmp_self = outer;
}

static bool begin_region(struct openmp_region *r, struct openmp_team *team, void (*body)(void *), void *data,
			 void *const *first) {
	if (!gompi_threads_enable())
		return false;
	r->first = first != NULL ? *first : NULL;
	r->body = body;
	r->data = data;
	r->team = team;
	r->master = &gompi_threads_self;
	gompi_add(&gompi_threads_extra_count, 1);
	if (openmp_self.team == NULL)
		gompi_threads_begin_region(&r->fork);
	else
		gompi_threads_fork(&r->fork, (uintptr_t)team);
	return true;
}

static void end_region(struct openmp_region *r) {
	gompi_sub(&gompi_threads_extra_count, 1);
	if (openmp_self.team == NULL) {
		gompi_threads_end_region((uintptr_t)&r->team->end);
	} else {
		openmp_acquire(&r->team->end);
		gompi_threads_drop(r->fork.object);
	}
	openmp_acquire(&r->team->tasks);
}

// Defines a function that runs a body in several threads and returns after they have joined.
#define REGION(name, first, parameters, ...)                                \
	EXPORTED void name parameters {                                     \
		struct openmp_team team;                                    \
		struct openmp_region r;                                     \
		if (!begin_region(&r, &team, body, data, first)) {          \
			GOMPI_REAL(name, NULL)(body, data, __VA_ARGS__);    \
			return;                                             \
		}                                                           \
		GOMPI_REAL(name, NULL)(run_region_thread, &r, __VA_ARGS__); \
		end_region(&r);                                             \
	}
#define BODY void (*body)(void *), void *data, unsigned threads
#define LOOP BODY, long start, long end, long step
REGION(GOMP_parallel, NULL, (BODY, unsigned flags), threads, flags)
REGION(GOMP_parallel_sections, NULL, (BODY, unsigned count, unsigned flags), threads, count, flags)
REGION(GOMP_parallel_loop_static, NULL, (LOOP, long chunk, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_dynamic, NULL, (LOOP, long chunk, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_guided, NULL, (LOOP, long chunk, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_nonmonotonic_dynamic, NULL, (LOOP, long chunk, unsigned flags), threads, start, end, step,
       chunk, flags)
REGION(GOMP_parallel_loop_nonmonotonic_guided, NULL, (LOOP, long chunk, unsigned flags), threads, start, end, step,
       chunk, flags)
REGION(GOMP_parallel_loop_runtime, NULL, (LOOP, unsigned flags), threads, start, end, step, flags)
REGION(GOMP_parallel_loop_nonmonotonic_runtime, NULL, (LOOP, unsigned flags), threads, start, end, step, flags)
REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime, NULL, (LOOP, unsigned flags), threads, start, end, step, flags)

EXPORTED unsigned GOMP_parallel_reductions(BODY, unsigned flags) {
	struct openmp_team team;
	struct openmp_region r;
	if (!begin_region(&r, &team, body, data, data))
		return GOMPI_REAL(GOMP_parallel_reductions, NULL)(body, data, threads, flags);
	unsigned n = GOMPI_REAL(GOMP_parallel_reductions, NULL)(run_region_thread, &r, threads, flags);
	end_region(&r);
	return n;
}

// Barriers, in which threads may execute tasks. Successive barriers alternate between two objects. With one object, a
// thread that has reached the next barrier would be ordered before a thread that has not left the current barrier.
static char *enter_barrier(void) {
	struct openmp_context *p = &openmp_self;
	gompi_threads_end_chunks();
	if (p->team == NULL)
		return NULL;
	char *object = &p->team->barrier[p->barriers % 2];
	openmp_release(object);
	return object;
}

static void leave_barrier(char *object) {
	if (object == NULL)
		return;
	openmp_self.barriers++;
	openmp_acquire(object);
	openmp_acquire(&openmp_self.team->tasks);
}

#define BARRIER(name, parameters, ...)               \
	EXPORTED void name parameters {              \
		char *object = enter_barrier();      \
		GOMPI_REAL(name, NULL)(__VA_ARGS__); \
		leave_barrier(object);               \
	}
#define BARRIER_CANCEL(name)                               \
	EXPORTED bool name(void) {                         \
		char *object = enter_barrier();            \
		bool cancelled = GOMPI_REAL(name, NULL)(); \
		leave_barrier(object);                     \
		return cancelled;                          \
	}
BARRIER(GOMP_barrier, (void))
BARRIER(GOMP_loop_end, (void))
BARRIER(GOMP_sections_end, (void))
BARRIER(GOMP_workshare_task_reduction_unregister, (bool cancelled), cancelled)
BARRIER(GOMP_single_copy_end, (void *data), data)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

// Handles the barrier in which one thread executes the construct and all other threads receive its data. For the
// executing thread, the result is NULL, and the barrier ends in GOMP_single_copy_end.
EXPORTED void *GOMP_single_copy_start(void) {
	char *object = enter_barrier();
	void *data = GOMPI_REAL(GOMP_single_copy_start, NULL)();
	if (data != NULL)
		leave_barrier(object);
	return data;
}

// Ends the thread's current chunk, if any, and begins the next one if has_next is true. Returns has_next. A chunk is a
// section, or iterations of a loop, that any idle thread may execute.
static bool begin_chunk_if(bool has_next) {
	if (openmp_self.team != NULL) {
		bool had_chunks = gompi_threads_self.has_chunks;
		gompi_threads_next_chunk(has_next);
		if (had_chunks)
			free_stack();
	}
	return has_next;
}

#define CHUNK(name, parameters, ...) \
	EXPORTED bool name parameters { return begin_chunk_if(GOMPI_REAL(name, NULL)(__VA_ARGS__)); }
#define CHUNKS(name)                                                                                                \
	CHUNK(GOMP_loop_##name##_start, (long start, long end, long step, long chunk, long *from, long *to), start, \
	      end, step, chunk, from, to)                                                                           \
	NEXT_CHUNKS(name)
#define CHUNKS_RUNTIME(name)                                                                                       \
	CHUNK(GOMP_loop_##name##_start, (long start, long end, long step, long *from, long *to), start, end, step, \
	      from, to)                                                                                            \
	NEXT_CHUNKS(name)
#define NEXT_CHUNKS(name)                                                \
	CHUNK(GOMP_loop_##name##_next, (long *from, long *to), from, to) \
	CHUNK(GOMP_loop_ull_##name##_next, (unsigned long long *from, unsigned long long *to), from, to)
#define ULL bool up, unsigned long long start, unsigned long long end, unsigned long long step
#define ULL_CHUNKS(name)                                                                                               \
	CHUNK(GOMP_loop_ull_##name##_start,                                                                            \
	      (ULL, unsigned long long chunk, unsigned long long *from, unsigned long long *to), up, start, end, step, \
	      chunk, from, to)
#define ULL_CHUNKS_RUNTIME(name)                                                                                     \
	CHUNK(GOMP_loop_ull_##name##_start, (ULL, unsigned long long *from, unsigned long long *to), up, start, end, \
	      step, from, to)
CHUNKS(dynamic)
CHUNKS(guided)
CHUNKS(nonmonotonic_dynamic)
CHUNKS(nonmonotonic_guided)
CHUNKS_RUNTIME(runtime)
CHUNKS_RUNTIME(nonmonotonic_runtime)
CHUNKS_RUNTIME(maybe_nonmonotonic_runtime)
ULL_CHUNKS(dynamic)
ULL_CHUNKS(guided)
ULL_CHUNKS(nonmonotonic_dynamic)
ULL_CHUNKS(nonmonotonic_guided)
ULL_CHUNKS_RUNTIME(runtime)
ULL_CHUNKS_RUNTIME(nonmonotonic_runtime)
ULL_CHUNKS_RUNTIME(maybe_nonmonotonic_runtime)

static unsigned begin_section_if(unsigned section) {
	begin_chunk_if(section != 0);
	return section;
}
EXPORTED unsigned GOMP_sections_start(unsigned count) {
	return begin_section_if(GOMPI_REAL(GOMP_sections_start, NULL)(count));
}
EXPORTED unsigned GOMP_sections_next(void) { return begin_section_if(GOMPI_REAL(GOMP_sections_next, NULL)()); }

#define END_CHUNKS(name)                    \
	EXPORTED void name(void) {          \
		gompi_threads_end_chunks(); \
		GOMPI_REAL(name, NULL)();   \
	}
END_CHUNKS(GOMP_loop_end_nowait)
END_CHUNKS(GOMP_sections_end_nowait)

#define ACQUIRES(name, version, object, parameters, ...) \
	EXPORTED void name parameters {                  \
		GOMPI_REAL(name, version)(__VA_ARGS__);  \
		openmp_acquire(object);                  \
	}
#define RELEASES(name, version, object, parameters, ...) \
	EXPORTED void name parameters {                  \
		openmp_release(object);                  \
		GOMPI_REAL(name, version)(__VA_ARGS__);  \
	}
#define TRY_ACQUIRES(name, version, object, parameters, ...)           \
	EXPORTED int name parameters {                                 \
		int acquired = GOMPI_REAL(name, version)(__VA_ARGS__); \
		if (acquired)                                          \
			openmp_acquire(object);                        \
		return acquired;                                       \
	}
static const char openmp_critical, openmp_atomic;
ACQUIRES(GOMP_critical_start, NULL, &openmp_critical, (void))
RELEASES(GOMP_critical_end, NULL, &openmp_critical, (void))
ACQUIRES(GOMP_critical_name_start, NULL, name, (void **name), name)
RELEASES(GOMP_critical_name_end, NULL, name, (void **name), name)
ACQUIRES(GOMP_atomic_start, NULL, &openmp_atomic, (void))
RELEASES(GOMP_atomic_end, NULL, &openmp_atomic, (void))

#define LOCK_VERSION "OMP_3.0" // the library also has older versions of the symbols
#define LOCK(_)                                                                  \
	ACQUIRES(omp_set_lock##_, LOCK_VERSION, lock, (void *lock), lock)        \
	RELEASES(omp_unset_lock##_, LOCK_VERSION, lock, (void *lock), lock)      \
	TRY_ACQUIRES(omp_test_lock##_, LOCK_VERSION, lock, (void *lock), lock)   \
	ACQUIRES(omp_set_nest_lock##_, LOCK_VERSION, lock, (void *lock), lock)   \
	RELEASES(omp_unset_nest_lock##_, LOCK_VERSION, lock, (void *lock), lock) \
	TRY_ACQUIRES(omp_test_nest_lock##_, LOCK_VERSION, lock, (void *lock), lock)
LOCK()
LOCK(_) // for Fortran

// Returns the object of ordered constructs: code in loops that executes in the order of the iterations.
static const char *openmp_ordered(void) {
	return openmp_self.team != NULL ? &openmp_self.team->ordered : &openmp_atomic;
}
ACQUIRES(GOMP_ordered_start, NULL, openmp_ordered(), (void))
RELEASES(GOMP_ordered_end, NULL, openmp_ordered(), (void))
RELEASES(GOMP_doacross_post, NULL, openmp_ordered(), (long *counts), counts)
RELEASES(GOMP_doacross_ull_post, NULL, openmp_ordered(), (unsigned long long *counts), counts)

// Maximum depth of nested doacross loops that are ordered correctly.
enum { MAX_DOACROSS_DEPTH = 8 };
#define DOACROSS_WAIT(name, type)                                                                         \
	EXPORTED void name(type first, ...) {                                                             \
		type counts[MAX_DOACROSS_DEPTH] = {first};                                                \
		va_list list;                                                                             \
		va_start(list, first);                                                                    \
		for (int i = 1; i < MAX_DOACROSS_DEPTH; i++)                                              \
			counts[i] = va_arg(list, type);                                                   \
		va_end(list);                                                                             \
		GOMPI_REAL(name, NULL)                                                                    \
		(counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6], counts[7]); \
		openmp_acquire(openmp_ordered());                                                         \
	}
DOACROSS_WAIT(GOMP_doacross_wait, long)
DOACROSS_WAIT(GOMP_doacross_ull_wait, unsigned long long)

// A task is ordered after the call that created it, and before the end of a wait for it. It is not ordered with other
// tasks, even if one thread executes both. The addresses in depend clauses are not compared: all tasks with a depend
// clause are treated as ordered, in the order of their execution.
enum { FINAL = 1 << 1, DEPEND = 1 << 3, NOGROUP = 1 << 11, REDUCTION = 1 << 12, DETACH = 1 << 13 };

struct openmp_task {
	void *head[3]; // first words of the data, which libgomp may read and write
	void (*body)(void *);
	void (*copy)(void *, void *);
	void *data;
	long size, offset; // bytes of the data, and offset of its copy from the start of this struct
	int changed_words; // number of words of `head` that libgomp changes; they are copied to the data
	unsigned flags;
	bool is_taskloop;
	struct openmp_team *team;
	uint64_t parent;
	struct gompi_threads_fork fork;
};

static void copy_task(void *to, void *from) {
	const struct openmp_task *t = from;
	memcpy(to, t, sizeof *t);
	if (t->copy != NULL)
		t->copy((char *)to + t->offset, t->data);
	else if (t->size > 0)
		memcpy((char *)to + t->offset, t->data, t->size);
}

static void run_task(void *task) {
	struct openmp_task *t = task;
	void *data = (char *)task + t->offset;
	struct openmp_context outer = openmp_self;
	struct gompi_threads_self self;
	bool seen = gompi_threads_self.is_tracked;
	if (t->changed_words > 0)
		memcpy(data, t->head, t->changed_words * sizeof t->head[0]);
	gompi_threads_self.is_tracked = true; // run_region_thread cleared it before tasks at the end of a region
	gompi_threads_suspend(&self);
	gompi_threads_enter(&t->fork, !t->is_taskloop);
	openmp_self = (struct openmp_context){.team = t->team,
					      .task = gompi_threads_new_object(),
					      .is_final = outer.is_final || t->flags & FINAL,
					      .frame = __builtin_frame_address(0)};
	if (t->flags & DEPEND)
		openmp_acquire(&t->team->depend);
	t->body(data);
	if (gompi_threads_has_entered()) {
		openmp_release(&t->team->tasks);
		if (t->flags & DEPEND)
			openmp_release(&t->team->depend);
	}
	gompi_threads_leave(t->parent);
	free_stack();
	if (gompi_threads_share_memory())
		gompi_threads_free_memory((uintptr_t)t, t->offset + t->size);
	gompi_threads_resume(&self);
	gompi_threads_self.is_tracked = seen;
	openmp_self = outer;
}

// Fills *t so that it wraps a task. Returns the alignment of the wrapped data.
static long wrap_task(struct openmp_task *t, void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
		      long align, unsigned flags) {
	align = align < 16 ? 16 : align;
	*t = (struct openmp_task){.body = body,
				  .copy = copy,
				  .data = data,
				  .size = size,
				  .flags = flags,
				  .offset = ((long)sizeof *t + align - 1) / align * align,
				  .team = openmp_self.team,
				  .parent = openmp_self.task};
	gompi_threads_record_all();
	gompi_threads_fork(&t->fork, gompi_threads_new_object());
	return align;
}

static bool is_deferring(void) {
	return openmp_self.team != NULL && !openmp_self.is_final && gompi_threads_is_watched();
}

EXPORTED void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long align,
			bool defer, unsigned flags, void **depend, int priority, void *detach) {
	if (!defer || !is_deferring()) {
		GOMPI_REAL(GOMP_task, NULL)(body, data, copy, size, align, defer, flags, depend, priority, detach);
		if (flags & DEPEND && openmp_self.team != NULL)
			// libgomp has waited for the tasks on which this task depends
			openmp_acquire(&openmp_self.team->depend);
		return;
	}
	struct openmp_task t;
	align = wrap_task(&t, body, data, copy, size, align, flags);
	t.changed_words = flags & DETACH && size >= (long)sizeof(void *);
	GOMPI_REAL(GOMP_task, NULL)
	(run_task, &t, copy_task, t.offset + size, align, defer, flags, depend, priority, detach);
}

// libgomp stores the range of iterations (begin and end) in the first two words of the data of each task.
#define TASKLOOP(name, type)                                                                                      \
	EXPORTED void name(void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long align, \
			   unsigned flags, unsigned long tasks, int priority, type start, type end, type step) {  \
		if (!is_deferring()) {                                                                            \
			GOMPI_REAL(name, NULL)                                                                    \
			(body, data, copy, size, align, flags, tasks, priority, start, end, step);                \
			return;                                                                                   \
		}                                                                                                 \
		struct openmp_task t;                                                                             \
		align = wrap_task(&t, body, data, copy, size, align, flags);                                      \
		t.is_taskloop = true;                                                                             \
		t.changed_words = 2;                                                                              \
		if (flags & REDUCTION)                                                                            \
			t.head[2] = ((void **)data)[2];                                                           \
		GOMPI_REAL(name, NULL)                                                                            \
		(run_task, &t, copy_task, t.offset + size, align, flags, tasks, priority, start, end, step);      \
		if (!(flags & NOGROUP)) {                                                                         \
			openmp_acquire(&t.team->tasks);                                                           \
			gompi_threads_drop(t.fork.object);                                                        \
		}                                                                                                 \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

static void acquire_tasks(bool all) {
	if (openmp_self.team == NULL)
		return;
	openmp_acquire((const void *)(uintptr_t)openmp_self.task);
	if (all)
		openmp_acquire(&openmp_self.team->tasks);
}

EXPORTED void GOMP_taskwait(void) {
	GOMPI_REAL(GOMP_taskwait, NULL)();
	acquire_tasks(false);
}

EXPORTED void GOMP_taskwait_depend(void **depend) {
	GOMPI_REAL(GOMP_taskwait_depend, NULL)(depend);
	if (openmp_self.team != NULL)
		openmp_acquire(&openmp_self.team->depend);
}

EXPORTED void GOMP_taskgroup_end(void) {
	GOMPI_REAL(GOMP_taskgroup_end, NULL)();
	acquire_tasks(true);
}
