// Measuring of calls, and sizes of datatypes.

#include <time.h>

#include "insight/ask.h"
#include "insight/count.h"

// Maximum number of calls that a measured one stands for: of calls that do not wait, and of calls that may wait.
#define MOST_LOCAL 64
#define MOST_WAITING 16

// A call of at least this length, in ticks, can always be measured at a cost of a few percent: two readings of the
// clock, and about as much for the processing.
#define LONG (128 * gompi_insight_cost)

gompi_a32 gompi_insight_age = 1;

// Stores the current values of both clocks, for the conversion of ticks.
static void note_clocks(struct gompi_insight_part *part, uint64_t ticks) {
	gompi_store(&part->ticks_now, ticks);
	gompi_store(&part->now, gompi_insight_now(CLOCK_MONOTONIC));
}

// Sets the number of calls until the next measured one.
static void set_stride(struct gompi_insight_count *c, uint32_t stride) { c->stride = c->left = stride; }

// Returns the next stride after a call of `took` ticks. Measuring must cost little, but a series of short calls before
// a long one must not hide the long one.
static uint32_t next_stride(uint32_t stride, uint64_t took, uint32_t most) {
	if (took >= LONG)
		return 1;
	if (took * stride < LONG)
		return stride < most ? 2 * stride : most;
	return stride > 1 && took * stride > 2 * LONG ? stride / 2 : stride;
}

// Notes the time of a measurement, and stores both clocks from time to time.
static void note_now(struct gompi_insight_thread *t, uint64_t now) {
	t->stamp = now;
	if (now - gompi_load(&gompi_insight_part->ticks_now) > UINT64_C(1) << 27)
		note_clocks(gompi_insight_part, now);
}

static uint64_t took_since(uint64_t began, uint64_t now) {
	uint64_t took = now - began;
	return took > gompi_insight_cost ? took - gompi_insight_cost : 0;
}

void gompi_insight_measured(struct gompi_insight_thread *t, int function, uint64_t began) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	uint64_t now = gompi_insight_ticks(), took = took_since(began, now);
	uint32_t stride = c->stride ? c->stride : 1;
	// A call that is far too long has been interrupted; the calls that it stands for have not.
	gompi_insight_raise(&c->ticks, took >= LONG ? took : took * stride);
	set_stride(c, next_stride(stride, took, MOST_LOCAL));
	note_now(t, now);
}

// Returns milliseconds in ticks.
static uint64_t in_ticks(uint64_t ms, uint64_t now) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint64_t ns = gompi_insight_now(CLOCK_MONOTONIC) - part->monotonic;
	double per_ns = ns == 0 ? 0 : (double)(now - gompi_load(&part->ticks)) / (double)ns;
	return (uint64_t)(per_ns * 1e6 * (double)ms);
}

void gompi_insight_waited(struct gompi_insight_thread *t, int function, uint64_t began, uint32_t tick,
			  struct gompi_insight_use *use) {
	struct gompi_insight_count *c = &t->slot->functions[function];
	uint64_t now = gompi_insight_ticks(), took;
	uint32_t stride = c->stride ? c->stride : 1, went_on = gompi_insight_tick() - tick;
	if (began != 0) {
		took = took_since(began, now);
		if (went_on >= 2)
			stride = 1;
	} else {
		if (went_on < 2)
			return;
		// gompirun may have been late, but the call began after the last measurement.
		took = in_ticks(went_on, now);
		took = took < now - t->stamp ? took : now - t->stamp;
		stride = 1;
	}
	gompi_insight_raise(&c->ticks, took * stride);
	if (use != NULL)
		gompi_insight_raise(&use->ticks, took * stride);
	set_stride(c, next_stride(stride, took, gompi_insight_alone ? 1 : MOST_WAITING));
	note_now(t, now);
}

void gompi_insight_ended(void) {
	if (gompi_insight_part == NULL)
		return;
	note_clocks(gompi_insight_part, gompi_insight_ticks());
	gompi_store(&gompi_insight_part->ended, gompi_insight_now(CLOCK_MONOTONIC));
}

int64_t gompi_insight_ask_size(struct gompi_insight_thread *t, MPI_Datatype type) {
	uint32_t age = gompi_load(&gompi_insight_age);
	MPI_Count size = 0;
	// MPI_DATATYPE_NULL is the lowest handle of a datatype in the ABI; lower values are not datatypes.
	if ((uintptr_t)type <= (uintptr_t)MPI_DATATYPE_NULL || GOMPI_ASK(MPI_Type_size_c, type, &size) != MPI_SUCCESS ||
	    size < 0)
		return 0;
	t->types[(uintptr_t)type % GOMPI_INSIGHT_TYPES] = (struct gompi_insight_type){type, age, size};
	return size;
}

// Sums the sizes of a list: n[i] elements of each member's type.
#define SIZE_OF_LIST                                                                                                \
	int64_t members = neighbors ? gompi_insight_neighbors(comm, true) : gompi_insight_members(comm), bytes = 0; \
	for (int64_t i = 0; n != NULL && i < members; i++)                                                          \
		bytes += gompi_insight_size(t, n[i], types ? types[i] : type);                                      \
	return bytes

int64_t gompi_insight_size_of_ints(struct gompi_insight_thread *t, const int *n, MPI_Comm comm, MPI_Datatype type,
				   const MPI_Datatype *types, bool neighbors) {
	SIZE_OF_LIST;
}

int64_t gompi_insight_size_of_counts(struct gompi_insight_thread *t, const MPI_Count *n, MPI_Comm comm,
				     MPI_Datatype type, const MPI_Datatype *types, bool neighbors) {
	SIZE_OF_LIST;
}
