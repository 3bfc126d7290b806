// --check=error: a call waits until gompirun has looked at it, and raises an error if it was the later one of two that
// conflict. It has been done by then, like any call that MPI finds erroneous.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insight/ask.h"

// What was asked for, and 1, when nobody had answered for so long that nobody waits until something is answered.
static gompi_a64 answers_given_up;

// Waits until gompirun has looked as far as a position in the ring. False: it has not for a long time, so it may look
// no more.
static bool await_answer(struct gompi_insight_part *part, uint64_t position) {
	const int64_t patience = INT64_C(10) * 1000000000;
	const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
	int64_t since = gompi_insight_now(CLOCK_MONOTONIC);
	uint64_t answered;
	while ((answered = gompi_load_acquire(&part->answered)) < position) { // pairs with the store in core/insight
		uint32_t seen = gompi_load_total(&part->answer);
		if (gompi_load(&answers_given_up) == answered + 1)
			return false;
		gompi_store_total(&part->asking, 1);
		gompi_insight_call_reader();
		if (gompi_load_total(&part->answered) >= position)
			continue;
		syscall(SYS_futex, &part->answer, FUTEX_WAIT, seen, &moment, NULL, 0);
		if (gompi_insight_now(CLOCK_MONOTONIC) - since > patience)
			gompi_store(&answers_given_up, answered + 1);
	}
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

// The error handler may set its code to something else, which is lost: the call was in error whatever that says.
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
