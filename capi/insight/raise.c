// --check=error: a call waits until gompirun has checked it, and raises an error if it was the later one of two
// conflicting calls. Its effects have happened by then, as with any call that MPI finds erroneous.

#include "insight/ask.h"

// Waits until gompirun has checked the ring up to a position. Returns false if it has not advanced for a long time.
static bool await_answer(struct gompi_insight_part *part, uint64_t position) {
	static struct gompi_insight_wait wait;
	uint64_t answered;
	while ((answered = gompi_load_acquire(&part->answered)) < position) // pairs with the store in core/insight
		if (!gompi_insight_await(&wait, &part->answered, answered, &part->answer, &part->asking))
			return false;
	return true;
}

// Returns true if the call that was recorded last was the later one of a conflict.
static bool is_later(struct gompi_insight_thread *t) {
	struct gompi_insight_part *part = gompi_insight_part;
	if (part == NULL || t->ends == 0 || !await_answer(part, t->ends))
		return false;
	uint32_t conflicts = gompi_load(&part->conflicts);
	if (conflicts == t->conflicts)
		return false;
	t->conflicts = conflicts;
	for (int i = 0; i < GOMPI_INSIGHT_MAX_LATER; i++)
		if (gompi_load(&part->later[i]) == t->ends)
			return true;
	return false;
}

// Raises the error on the window, here, or on the communicator, below. The error handler may change its error code;
// that is ignored, since the call was erroneous in any case.
int gompi_insight_raise_win(struct gompi_insight_thread *t, int rc) {
	if (!is_later(t) || rc != MPI_SUCCESS)
		return rc;
	(void)GOMPI_ASK(MPI_Win_call_errhandler, (MPI_Win)t->on, MPI_ERR_RMA_CONFLICT);
	return MPI_ERR_RMA_CONFLICT;
}

int gompi_insight_raise_comm(struct gompi_insight_thread *t, int rc) {
	if (!is_later(t) || rc != MPI_SUCCESS)
		return rc;
	(void)GOMPI_ASK(MPI_Comm_call_errhandler, (MPI_Comm)t->on, MPI_ERR_RMA_CONFLICT);
	return MPI_ERR_RMA_CONFLICT;
}
