// Initialization of this process' view of its node, and membarrier(2).
#define _GNU_SOURCE
#include "base/node.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call_name.h"
#include "base/tuning.h"

struct gompi_node gompi_node;
bool gompi_has_membarrier;

// Registers this process for membarrier(2) before the Go runtime starts threads. Registration takes microseconds while
// the process has one thread, but milliseconds with several threads.
static __attribute__((constructor(102))) void register_membarrier(void) {
	gompi_has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

static gompi_a32 no_membarrier_default = 1;
gompi_a32 *gompi_no_membarrier = &no_membarrier_default;

struct gompi_wait_policy gompi_wait_policy_for(bool oversubscribed) {
	return (struct gompi_wait_policy){.poll_ns = oversubscribed ? GOMPI_WAIT_POLL_OVERSUB_NS : GOMPI_WAIT_POLL_NS,
					  .long_yield_ns =
						  oversubscribed ? GOMPI_LONG_YIELD_OVERSUB_NS : GOMPI_LONG_YIELD_NS,
					  .max_sleep_ns = GOMPI_WAIT_MAX_SLEEP_NS,
					  .quiet_polls = GOMPI_QUIET_POLLS,
					  .is_oversubscribed = oversubscribed};
}

// Makes the process survive the signal SIGUSR1, with which Hydra announces the failure of another process of the job,
// unless the application handles the signal.
static void survive_failure_signal(void) {
	struct sigaction s;
	if (getenv("PMI_FD") != NULL && getenv("GOMPIRMA_JOB") == NULL && sigaction(SIGUSR1, NULL, &s) == 0 &&
	    s.sa_handler == SIG_DFL)
		signal(SIGUSR1, SIG_IGN);
}

void gompi_node_open(const struct gompi_node *node) {
	gompi_node = *node;
	gompi_node.self = node->processes->self;
	gompi_node.has_membarrier = gompi_has_membarrier;
	const char *tolerant = getenv("GOMPIRMA_FT");
	gompi_node.is_fault_tolerant = tolerant != NULL && strcmp(tolerant, "1") == 0;
	if (gompi_node.is_fault_tolerant)
		survive_failure_signal();
	gompi_no_membarrier = &gompi_node_header()->no_membarrier;
	struct gompi_cell *me = gompi_my_cell();
	me->code_address = (uintptr_t)gompi_node_open;
	for (int i = 0; i < GOMPI_PROGRESS_THREADS; i++) // ids that a previous MPI instance has left
		gompi_store(&me->progress_threads[i], 0);
	if (!gompi_node.has_membarrier)
		gompi_store_seq_cst(gompi_no_membarrier, 1);
}

void gompi_add_progress_thread(void) {
	gompi_is_progress_thread = true;
	struct gompi_cell *me = gompi_my_cell();
	const int self = (int)syscall(SYS_gettid);
	for (int i = 0; i < GOMPI_PROGRESS_THREADS; i++) {
		int32_t free = 0;
		if (gompi_load(&me->progress_threads[i]) == self ||
		    gompi_cas_strong(&me->progress_threads[i], &free, self))
			return;
	}
}

bool gompi_process_membarrier(void) {
	// The program may have forbidden membarrier(2) after its registration. The flag makes all wakers use a CPU
	// fence from then on.
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0)
		return true;
	gompi_store_seq_cst(gompi_no_membarrier, 1);
	return false;
}

void gompi_node_membarrier(void) {
	if (gompi_node.has_membarrier)
		gompi_process_membarrier();
	gompi_full_fence();
}
