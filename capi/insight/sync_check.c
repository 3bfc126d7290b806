// --check=error: a call waits until gompirun has checked it, and raises an error if it was the later one of two
// conflicting calls. The call has then already taken effect.

#include "insight/pmpi.h"

// Waits until gompirun has checked the ring up to a position. Returns false if gompirun has not advanced for 10 s.
static bool await_check(struct gompi_insight_part *part, uint64_t position) {
	static struct gompi_insight_wait wait;
	uint64_t answered;
	while ((answered = gompi_load_acquire(&part->checked)) < position) // pairs with the store in core/insight
		if (!gompi_insight_await_reader(&wait, &part->checked, answered, &part->check_futex,
						&part->check_wanted))
			return false;
	return true;
}

// Returns true if the most recently recorded call was the later one of two conflicting calls.
static bool is_conflicting(struct gompi_insight_thread *t) {
	struct gompi_insight_part *part = gompi_insight_part;
	if (part == NULL || t->record_end == 0 || !await_check(part, t->record_end))
		return false;
	uint32_t conflicts = gompi_load(&part->conflicts);
	if (conflicts == t->seen_conflicts)
		return false;
	t->seen_conflicts = conflicts;
	for (int i = 0; i < GOMPI_INSIGHT_MAX_CONFLICT_ENDS; i++)
		if (gompi_load(&part->conflict_ends[i]) == t->record_end)
			return true;
	return false;
}

// Raises MPI_ERR_RMA_CONFLICT on the window if the call was successful but conflicting. gompi_insight_raise_comm raises
// the error on the communicator. After raising it, both return MPI_ERR_RMA_CONFLICT even if the error handler changes
// the error code. Otherwise they return rc.
int gompi_insight_raise_win(struct gompi_insight_thread *t, int rc) {
	if (!is_conflicting(t) || rc != MPI_SUCCESS)
		return rc;
	(void)GOMPI_CALL_PMPI(MPI_Win_call_errhandler, (MPI_Win)t->error_object, MPI_ERR_RMA_CONFLICT);
	return MPI_ERR_RMA_CONFLICT;
}

int gompi_insight_raise_comm(struct gompi_insight_thread *t, int rc) {
	if (!is_conflicting(t) || rc != MPI_SUCCESS)
		return rc;
	(void)GOMPI_CALL_PMPI(MPI_Comm_call_errhandler, (MPI_Comm)t->error_object, MPI_ERR_RMA_CONFLICT);
	return MPI_ERR_RMA_CONFLICT;
}
