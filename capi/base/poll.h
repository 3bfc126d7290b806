// Programs that wait by calling MPI again and again: MPI_Fetch_and_op with MPI_NO_OP, MPI_Compare_and_swap until it
// succeeds, MPI_Get and MPI_Win_flush, MPI_Win_test, MPI_Iprobe, MPI_Test. Whoever they wait for may need the core that
// they run on; without these functions it gets that when the time slice of the system is over, which is some 1,000
// times later.
#ifndef GOMPI_POLL_H
#define GOMPI_POLL_H

#include "base/tuning.h"
#include "base/wait.h"

// What this thread has been looking at.
struct gompi_poll {
	uint32_t calls; // in a row that found nothing new
	uint32_t flushes;
	uint32_t tests; // of messages that found nothing, ever
	const void *at; // where the last look went, and what was there
	uint64_t value;
	int64_t since;   // time of the first check of the row
	int64_t offered; // time when a flush gave the core away
};
extern _Thread_local struct gompi_poll gompi_poll __attribute__((tls_model("initial-exec")));

void gompi_poll_long(void);

// A call that can only be a look, or that did not succeed, found nothing new.
static inline void gompi_polled(void) {
	if (++gompi_poll.calls % GOMPI_POLL_CALLS == 0)
		gompi_poll_long();
}

// It found something: whatever follows is another wait.
static inline void gompi_poll_over(void) { gompi_poll.calls = 0; }

// A look found an element of 1, 2, 4 or 8 bytes at an address.
static inline void gompi_poll_saw(const void *at, const void *element, int64_t size) {
	uint64_t value = 0;
	switch (size) {
	case 8:
		__builtin_memcpy(&value, element, 8);
		break;
	case 4:
		__builtin_memcpy(&value, element, 4);
		break;
	default:
		__builtin_memcpy(&value, element, size == 2 ? 2 : 1);
	}
	if (gompi_poll.at == at && gompi_poll.value == value) {
		gompi_polled();
		return;
	}
	gompi_poll.at = at;
	gompi_poll.value = value;
	gompi_poll_over();
}

// The end of a flush or unlock, which may be a look or work.
void gompi_poll_flushed(void);

#endif
