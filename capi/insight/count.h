// Counters: how often each function was called, with how many bytes, and how long it took; and the same for what is
// done with each window. Every thread has a slot of its own in the rank's part, which no other writes to, so counting
// is a few plain instructions.
//
// A put takes less time than reading the clock twice. So a call is measured only so often that this costs a small part
// of what the calls themselves take: one that was short stands for itself and some that follow, one that was long for
// itself alone. CountTicks of core/insight/layout.go is the sum of these. That would miss the one long wait among many
// short calls, or multiply it. So who may wait also looks at a word that gompirun sets to the time each millisecond: a
// call during which that went on twice is counted as it is, measured or not.
#ifndef GOMPI_INSIGHT_COUNT_H
#define GOMPI_INSIGHT_COUNT_H

#include "insight/record.h"

static inline bool gompi_insight_counts(const struct gompi_insight_thread *t) { return t->slot != NULL; }

extern bool gompi_insight_steady;   // the processor's counter of ticks is a clock
extern uint64_t gompi_insight_cost; // what reading that takes, in ticks

// Sets up what counters measure time with.
void gompi_insight_set_clock(void);

static inline uint64_t gompi_insight_ticks(void) {
#if defined(__x86_64__)
	if (__builtin_expect(gompi_insight_steady, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
	return gompi_insight_now(1); // CLOCK_MONOTONIC
}

// Only the thread itself adds; gompirun looks.
static inline void gompi_insight_raise(gompi_a64 *counter, uint64_t by) {
	gompi_store(counter, gompi_load(counter) + by);
}

// Counts a call. Returns when it began, or 0: it is not measured.
static inline uint64_t gompi_insight_count(struct gompi_insight_thread *t, int function) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	gompi_insight_raise(&c->calls, 1);
	if (__builtin_expect(c->left > 1, 1)) {
		c->left--;
		return 0;
	}
	return gompi_insight_ticks();
}

// Adds to the bytes of a function.
static inline void gompi_insight_bytes(struct gompi_insight_thread *t, int function, int64_t bytes) {
	gompi_insight_raise(&t->slot->functions[function].bytes, bytes);
}

// A call that began then, and that waits for nobody, has returned.
void gompi_insight_measured(struct gompi_insight_thread *t, int function, uint64_t began);

static inline uint32_t gompi_insight_tick(void) { return gompi_load(&gompi_insight_job->tick); }

// The same of a call that may wait. began is 0 if it is not measured; tick is what gompirun's word was before. use is
// what it waited for at a window, or NULL.
void gompi_insight_waited(struct gompi_insight_thread *t, int function, uint64_t began, uint32_t tick,
			  struct gompi_insight_use *use);

int64_t gompi_insight_ask_size(struct gompi_insight_thread *t, MPI_Datatype type);

// Returns the size of so many elements of a type.
static inline int64_t gompi_insight_size(struct gompi_insight_thread *t, int64_t n, MPI_Datatype type) {
	struct gompi_insight_type *known = &t->types[(uintptr_t)type % GOMPI_INSIGHT_TYPES];
	if (n <= 0)
		return 0;
	if (__builtin_expect(known->type == type && known->age == gompi_load(&gompi_insight_age), 1))
		return n * known->size;
	return n * gompi_insight_ask_size(t, type);
}

// The same of lists of counts, of one type or a list of types.
int64_t gompi_insight_size_of_ints(struct gompi_insight_thread *t, const int *n, MPI_Comm comm, MPI_Datatype type,
				   const MPI_Datatype *types, bool neighbors);
int64_t gompi_insight_size_of_counts(struct gompi_insight_thread *t, const MPI_Count *n, MPI_Comm comm,
				     MPI_Datatype type, const MPI_Datatype *types, bool neighbors);

struct gompi_insight_use *gompi_insight_find_window(struct gompi_insight_thread *t, MPI_Win win);

// Counts a use of a window, and returns its counters.
static inline struct gompi_insight_use *gompi_insight_use(struct gompi_insight_thread *t, MPI_Win win, int use,
							  int64_t bytes) {
	struct gompi_insight_known *known = &t->windows[(uintptr_t)win % GOMPI_INSIGHT_KNOWN];
	struct gompi_insight_use *all;
	if (__builtin_expect(known->win == win && known->age == gompi_load(&gompi_insight_age), 1))
		all = known->uses;
	else
		all = gompi_insight_find_window(t, win);
	gompi_insight_raise(&all[use].calls, 1);
	gompi_insight_raise(&all[use].bytes, bytes);
	return &all[use];
}

// A window has been made, has got a name, will be freed.
void gompi_insight_window_made(MPI_Win win, MPI_Comm comm);
void gompi_insight_window_named(MPI_Win win, const char *name);
void gompi_insight_window_freed(MPI_Win win);

// MPI_Finalize will be called: prints what was counted if gompirun does not.
void gompi_insight_report(void);

// MPI_Finalize has returned.
void gompi_insight_ended(void);

#endif
