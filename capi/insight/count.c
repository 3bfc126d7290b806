// Measures calls, and caches the sizes of datatypes.

#include <time.h>

#include "insight/pmpi.h"
#include "insight/count.h"

// Maximum number of calls that one measured call represents: MAX_WAITING_STRIDE for functions that may wait for other
// processes, MAX_LOCAL_STRIDE for all other functions.
#define MAX_LOCAL_STRIDE 64
#define MAX_WAITING_STRIDE 16

// Calls of at least this many ticks are always measured. The measurement costs a few percent of their time: it reads
// the clock twice, and its processing takes about as long.
#define LONG_CALL_TICKS (128 * gompi_insight_clock_cost)

gompi_a32 gompi_insight_generation = 1;

// Stores the current ticks and CLOCK_MONOTONIC, from which gompirun computes the duration of a tick.
static void store_clocks(struct gompi_insight_part *part, uint64_t ticks) {
	gompi_store(&part->ticks_now, ticks);
	gompi_store(&part->monotonic_now, gompi_insight_now(CLOCK_MONOTONIC));
}

// Sets the number of calls until the next measured call.
static void set_stride(struct gompi_insight_count *c, uint32_t stride) { c->stride = c->until_next = stride; }

// Returns the stride that follows a measured call of elapsed_ticks. Keeps elapsed_ticks * stride, the time of the calls
// that one measured call represents, near LONG_CALL_TICKS. So measuring is cheap, and a series of short calls does not
// hide a following long call.
static uint32_t next_stride(uint32_t stride, uint64_t elapsed_ticks, uint32_t max_stride) {
	if (elapsed_ticks >= LONG_CALL_TICKS)
		return 1;
	if (elapsed_ticks * stride < LONG_CALL_TICKS)
		return stride < max_stride ? 2 * stride : max_stride;
	return stride > 1 && elapsed_ticks * stride > 2 * LONG_CALL_TICKS ? stride / 2 : stride;
}

// Stores the time of a measurement, and both clocks (store_clocks) at intervals of 2^27 ticks.
static void store_stamp(struct gompi_insight_thread *t, uint64_t now) {
	t->last_ticks = now;
	if (now - gompi_load(&gompi_insight_part->ticks_now) > UINT64_C(1) << 27)
		store_clocks(gompi_insight_part, now);
}

static uint64_t ticks_since(uint64_t began, uint64_t now) {
	uint64_t elapsed_ticks = now - began;
	return elapsed_ticks > gompi_insight_clock_cost ? elapsed_ticks - gompi_insight_clock_cost : 0;
}

void gompi_insight_end_measured(struct gompi_insight_thread *t, int function, uint64_t began) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	uint64_t now = gompi_insight_ticks(), elapsed_ticks = ticks_since(began, now);
	uint32_t stride = c->stride ? c->stride : 1;
	// A measured call represents stride calls, so its time is multiplied by stride. An exception is a call of at
	// least LONG_CALL_TICKS: it was probably interrupted, and the calls that it represents were not.
	gompi_insight_add_count(&c->ticks, elapsed_ticks >= LONG_CALL_TICKS ? elapsed_ticks : elapsed_ticks * stride);
	set_stride(c, next_stride(stride, elapsed_ticks, MAX_LOCAL_STRIDE));
	store_stamp(t, now);
}

// Converts milliseconds to ticks.
static uint64_t ms_to_ticks(uint64_t ms, uint64_t now) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint64_t ns = gompi_insight_now(CLOCK_MONOTONIC) - part->monotonic;
	double per_ns = ns == 0 ? 0 : (double)(now - gompi_load(&part->ticks)) / (double)ns;
	return (uint64_t)(per_ns * 1e6 * (double)ms);
}

void gompi_insight_end_waiting(struct gompi_insight_thread *t, int function, uint64_t began, uint32_t start_ms,
			       struct gompi_insight_use *use) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	uint64_t now = gompi_insight_ticks(), elapsed_ticks;
	uint32_t stride = c->stride ? c->stride : 1, elapsed_ms = gompi_insight_reader_ms() - start_ms;
	if (began != 0) {
		elapsed_ticks = ticks_since(began, now);
		if (elapsed_ms >= 2)
			stride = 1;
	} else {
		if (elapsed_ms < 2)
			return;
		// gompirun may have incremented the word `tick` late. So the call counts at most the time since the
		// last measurement.
		elapsed_ticks = ms_to_ticks(elapsed_ms, now);
		elapsed_ticks = elapsed_ticks < now - t->last_ticks ? elapsed_ticks : now - t->last_ticks;
		stride = 1;
	}
	gompi_insight_add_count(&c->ticks, elapsed_ticks * stride);
	if (use != NULL)
		gompi_insight_add_count(&use->ticks, elapsed_ticks * stride);
	set_stride(c, next_stride(stride, elapsed_ticks, gompi_insight_standalone ? 1 : MAX_WAITING_STRIDE));
	store_stamp(t, now);
}

void gompi_insight_finalized(void) {
	if (gompi_insight_part == NULL)
		return;
	__typeof__(MPIX_Gompirma_file_counts) *file_counts =
		gompi_insight_next_symbol("MPIX_Gompirma_file_counts"); // NULL with another MPI library
	if (file_counts != NULL)
		file_counts(&gompi_insight_part->file_counts);
	store_clocks(gompi_insight_part, gompi_insight_ticks());
	gompi_store(&gompi_insight_part->ended, gompi_insight_now(CLOCK_MONOTONIC));
}

int64_t gompi_insight_query_size(struct gompi_insight_thread *t, MPI_Datatype type) {
	uint32_t age = gompi_load(&gompi_insight_generation);
	MPI_Count size = 0;
	// MPI_DATATYPE_NULL is the lowest handle of a datatype in the ABI; lower values are not datatypes.
	if ((uintptr_t)type <= (uintptr_t)MPI_DATATYPE_NULL ||
	    GOMPI_CALL_PMPI(MPI_Type_size_c, type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	t->types[(uintptr_t)type % GOMPI_INSIGHT_CACHED_TYPES] = (struct gompi_insight_cached_type){type, age, size};
	return size;
}

// Returns the total size of a list: n[i] elements of member i's type.
#define RETURN_LIST_BYTES                                                                                        \
	int64_t members = neighbors ? gompi_insight_neighbor_count(comm, true) : gompi_insight_peer_count(comm), \
		bytes = 0;                                                                                       \
	for (int64_t i = 0; n != NULL && i < members; i++)                                                       \
		bytes += gompi_insight_data_bytes(t, n[i], types ? types[i] : type);                             \
	return bytes

int64_t gompi_insight_ints_bytes(struct gompi_insight_thread *t, const int *n, MPI_Comm comm, MPI_Datatype type,
				 const MPI_Datatype *types, bool neighbors) {
	RETURN_LIST_BYTES;
}

int64_t gompi_insight_counts_bytes(struct gompi_insight_thread *t, const MPI_Count *n, MPI_Comm comm, MPI_Datatype type,
				   const MPI_Datatype *types, bool neighbors) {
	RETURN_LIST_BYTES;
}
