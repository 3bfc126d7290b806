// Counters: calls, bytes and time of each function, and of each use of a window. Each thread has a slot of its own in
// the rank's part, which no other thread writes, so counting takes a few plain instructions.
//
// Sampling: a put takes less time than reading the clock twice. So only a sample of the calls is measured, at a cost of
// a few percent of their time. A measured short call represents itself and a number of calls that are not measured; a
// measured long call represents only itself. CountTicks of core/insight/layout.go is the sum of the represented times.
// Sampling alone would miss one long wait among many short calls, or multiply its time. So calls that may wait also
// read a word that gompirun increments each millisecond (tick). If the word advances by at least 2 during a call, the
// call is counted with its own duration, measured or not.
#ifndef GOMPI_INSIGHT_COUNT_H
#define GOMPI_INSIGHT_COUNT_H

#include "insight/record.h"

static inline bool gompi_insight_is_counting(const struct gompi_insight_thread *t) { return t->slot != NULL; }

extern bool gompi_insight_constant_rate;  // the processor's tick counter runs at a constant rate
extern uint64_t gompi_insight_clock_cost; // ticks that one reading of the clock takes

// Initializes the clock that the counters use.
void gompi_insight_init_clock(void);

static inline uint64_t gompi_insight_ticks(void) {
#if defined(__x86_64__)
	if (__builtin_expect(gompi_insight_constant_rate, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
	return gompi_insight_now(1); // CLOCK_MONOTONIC
}

// Adds `by` to a counter. Only the owning thread writes the counter; gompirun reads it.
static inline void gompi_insight_add_count(gompi_a64 *counter, uint64_t by) {
	gompi_store(counter, gompi_load(counter) + by);
}

// Counts a call. Returns its start time in ticks, or 0 if the call is not measured.
static inline uint64_t gompi_insight_count(struct gompi_insight_thread *t, int function) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	gompi_insight_add_count(&c->calls, 1);
	if (__builtin_expect(c->until_next > 1, 1)) {
		c->until_next--;
		return 0;
	}
	return gompi_insight_ticks();
}

// Adds `bytes` to the byte counter of a function.
static inline void gompi_insight_count_bytes(struct gompi_insight_thread *t, int function, int64_t bytes) {
	gompi_insight_add_count(&t->slot->functions[function].bytes, bytes);
}

// Records the end of a measured call that does not wait for other processes. `began` is the start time of the call.
void gompi_insight_end_measured(struct gompi_insight_thread *t, int function, uint64_t began);

static inline uint32_t gompi_insight_reader_ms(void) { return gompi_load(&gompi_insight_job->tick); }

// Records the end of a call that may wait. `began` is the start time of the call, or 0 if the call is not measured.
// start_ms is the value of gompi_insight_reader_ms before the call. The time of the call is added to the window
// counters `use`, unless `use` is NULL.
void gompi_insight_end_waiting(struct gompi_insight_thread *t, int function, uint64_t began, uint32_t start_ms,
			       struct gompi_insight_use *use);

int64_t gompi_insight_query_size(struct gompi_insight_thread *t, MPI_Datatype type);

// Returns the size of n elements of a type in bytes.
static inline int64_t gompi_insight_data_bytes(struct gompi_insight_thread *t, int64_t n, MPI_Datatype type) {
	struct gompi_insight_cached_type *known = &t->types[(uintptr_t)type % GOMPI_INSIGHT_CACHED_TYPES];
	if (n <= 0)
		return 0;
	if (__builtin_expect(known->type == type && known->generation == gompi_load(&gompi_insight_generation), 1))
		return n * known->size;
	return n * gompi_insight_query_size(t, type);
}

// Returns the size of the data of all members in bytes. The list n has a count for each member. The list `types` has a
// datatype for each member, or is NULL if the datatype of all members is `type`. If `neighbors` is true, the members
// are the neighbors to which this process sends.
int64_t gompi_insight_ints_bytes(struct gompi_insight_thread *t, const int *n, MPI_Comm comm, MPI_Datatype type,
				 const MPI_Datatype *types, bool neighbors);
int64_t gompi_insight_counts_bytes(struct gompi_insight_thread *t, const MPI_Count *n, MPI_Comm comm, MPI_Datatype type,
				   const MPI_Datatype *types, bool neighbors);

struct gompi_insight_use *gompi_insight_window_uses(struct gompi_insight_thread *t, MPI_Win win);

// Counts a use of a window. Returns the counters of this kind of use.
static inline struct gompi_insight_use *gompi_insight_use(struct gompi_insight_thread *t, MPI_Win win, int use,
							  int64_t bytes) {
	struct gompi_insight_cached_window *known = &t->windows[(uintptr_t)win % GOMPI_INSIGHT_CACHED_WINDOWS];
	struct gompi_insight_use *all;
	if (__builtin_expect(known->win == win && known->generation == gompi_load(&gompi_insight_generation), 1))
		all = known->uses;
	else
		all = gompi_insight_window_uses(t, win);
	gompi_insight_add_count(&all[use].calls, 1);
	gompi_insight_add_count(&all[use].bytes, bytes);
	return &all[use];
}

// Updates the table of counted windows: after a window is created, after it is named, before it is freed.
void gompi_insight_window_created(MPI_Win win, MPI_Comm comm);
void gompi_insight_window_named(MPI_Win win, const char *name);
void gompi_insight_window_freed(MPI_Win win);

// Prints the counters if gompirun does not. Called before MPI_Finalize.
void gompi_insight_print_stats(void);

// Records the end of the measurement. Called after MPI_Finalize.
void gompi_insight_finalized(void);

#endif
