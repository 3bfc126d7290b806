// Support for programs that wait by calling MPI repeatedly: MPI_Fetch_and_op with MPI_NO_OP, MPI_Compare_and_swap until
// it succeeds, MPI_Get and MPI_Win_flush, MPI_Win_test, MPI_Iprobe, MPI_Test. The process that they wait for may need
// the core on which they run. These functions yield the core to that process. Without a yield, that process would get
// the core only at the end of the time slice, which takes some 1,000 times as long.
#ifndef GOMPI_POLL_H
#define GOMPI_POLL_H

#include "base/tuning.h"
#include "base/wait.h"

// This thread's polls. A series is a sequence of idle calls that no successful call interrupts.
struct gompi_poll {
	uint32_t idle_calls; // consecutive idle calls: they found nothing new
	uint32_t flushes;    // total number of flushes
	uint32_t idle_tests; // total number of calls of MPI_Test and similar functions that found nothing
	const void *address; // address that gompi_poll_check_value read last; `value` is the element found there
	uint64_t value;
	int64_t since_ns;      // time of the first check of the series
	int64_t last_yield_ns; // time when a flush last yielded the core
};
extern _Thread_local struct gompi_poll gompi_poll __attribute__((tls_model("initial-exec")));

// Yields the core if there are fewer cores than processes. Otherwise yields it only if the series of calls has lasted
// long enough (tuning.h).
void gompi_poll_maybe_yield(void);

// Counts an idle call: a poll that found nothing new, or an attempt that did not succeed.
static inline void gompi_poll_idle(void) {
	if (++gompi_poll.idle_calls % GOMPI_POLL_CALLS == 0)
		gompi_poll_maybe_yield();
}

// Notes that a call found something new. Later idle calls start a new series.
static inline void gompi_poll_reset(void) { gompi_poll.idle_calls = 0; }

// Notes that a call has read an element of 1, 2, 4 or 8 bytes at address `at`. The call is idle if the thread's last
// check found the same value at the same address; otherwise later idle calls start a new series.
static inline void gompi_poll_check_value(const void *at, const void *element, int64_t size) {
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
	if (gompi_poll.address == at && gompi_poll.value == value) {
		gompi_poll_idle();
		return;
	}
	gompi_poll.address = at;
	gompi_poll.value = value;
	gompi_poll_reset();
}

// Notes the end of a flush or unlock, which may belong to a series of polls or to useful work. Yields the core at most
// once every GOMPI_FLUSH_YIELD_NS, if there are fewer cores than processes.
void gompi_poll_after_flush(void);

#endif
