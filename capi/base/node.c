// Initialization of the data path: where the shared memory is.
#define _GNU_SOURCE
#include "base/node.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call.h"
#include "base/tuning.h"

struct gompi_node gompi_node;
bool gompi_has_membarrier;

// Registers before the Go runtime starts threads: then registration takes microseconds, otherwise milliseconds.
static __attribute__((constructor(102))) void register_membarrier(void) {
	gompi_has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

static gompi_a32 before_the_node = 1;
gompi_a32 *gompi_no_membarrier = &before_the_node;

struct gompi_policy gompi_policy_for(bool oversubscribed) {
	return (struct gompi_policy){.poll = GOMPI_WAIT_POLL_NS,
				     .long_yield = GOMPI_LONG_YIELD_NS,
				     .slice = GOMPI_WAIT_SLICE_NS,
				     .quiet_looks = oversubscribed ? 0 : GOMPI_QUIET_LOOKS,
				     .oversubscribed = oversubscribed};
}

void gompi_node_open(const struct gompi_node *place) {
	gompi_node = *place;
	gompi_node.self = place->processes->self;
	gompi_node.membarrier = gompi_has_membarrier;
	gompi_no_membarrier = &gompi_header()->no_membarrier;
	struct gompi_cell *me = gompi_my_cell();
	me->code = (uintptr_t)gompi_node_open;
	for (int i = 0; i < GOMPI_OWN_THREADS; i++) // of a previous instance
		gompi_store(&me->own_threads[i], 0);
	if (!gompi_node.membarrier)
		gompi_store_total(gompi_no_membarrier, 1);
}

void gompi_own_thread(void) {
	gompi_progress_thread = true;
	struct gompi_cell *me = gompi_my_cell();
	const int self = (int)syscall(SYS_gettid);
	for (int i = 0; i < GOMPI_OWN_THREADS; i++) {
		int32_t free = 0;
		if (gompi_load(&me->own_threads[i]) == self || gompi_change_once(&me->own_threads[i], &free, self))
			return;
	}
}

bool gompi_process_barrier(void) {
	// The program may have forbidden membarrier(2) since. The flag makes all wakers use a CPU fence from then on.
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0)
		return true;
	gompi_store_total(gompi_no_membarrier, 1);
	return false;
}

void gompi_node_barrier(void) {
	if (gompi_node.membarrier)
		gompi_process_barrier();
	gompi_full_fence();
}
