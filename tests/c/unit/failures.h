/* Common part of the tests of failed processes. It has a node of four processes, of which this process is number 0, and
 * a window over the first three. Child processes play the other processes and fail during an operation. The tests run
 * waits that must fail or succeed. */
#ifndef FAILURES_H
#define FAILURES_H

#include "unit.h"

#include <sys/wait.h>

#include "base/failure.h"

enum { NODE_PROCESSES = 4, SIZE = 4096, COMM = 0x4001000 };

static struct gompi_win *w;

/* Returns true, as the condition of a wait, after more than three sleeps. A wait needs at most three sleeps to detect
 * every failed process. */
static bool has_slept_enough(void *arg) {
	int *sleeps = arg;
	return *sleeps > 3;
}
static int *sleep_count;
static void count_sleep(void) { ++*sleep_count; }

/* Waits until has_slept_enough returns true. Returns the result of the wait: MPI_SUCCESS, or an error if the wait
 * depends on a failed process. */
static int run_wait(struct gompi_wait_desc what) {
	int sleeps = 0;
	sleep_count = &sleeps;
	gompi_go_callbacks.find_failed = count_sleep;
	what.call = "MPI_Test_of_losses";
	return gompi_await(&gompi_my_cell()->wait, has_slept_enough, &sleeps, &what);
}

static void expect_failure(struct gompi_wait_desc what, const char *of, const char *who) {
	int rc = run_wait(what);
	const char *text = gompi_failure_text();
	CHECK(rc == MPI_ERR_PROC_ABORTED, "%s: %d", of, rc);
	CHECK(strstr(text, who) != NULL, "%s: '%s' and not '%s'", of, text, who);
}

static void expect_success(struct gompi_wait_desc what, const char *of) {
	int rc = run_wait(what);
	CHECK(rc == MPI_SUCCESS, "%s ends with %d: %s", of, rc, rc == MPI_SUCCESS ? "" : gompi_failure_text());
}

/* Forks a child that plays process i of the node: it calls what() and then kills itself. Marks process i as failed. */
static void kill_process_in(int i, void (*what)(void)) {
	pid_t child = fork();
	if (child == 0) {
		gompi_node.local_index = gompi_node.self = i;
		what();
		raise(SIGKILL);
	}
	int status = 0;
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "%#x", status);
	gompi_store(&gompi_cell(i)->state, GOMPI_STATE_FAILED);
	gompi_store(&gompi_cell(i)->pid, (int32_t)child);
	gompi_add_seq_cst(&gompi_node_header()->failed_count, 1);
}

static void nothing(void) {}

/* Runs each scene in a child process with a new node and window. Returns the exit status of main. */
static int run_scenes(void (*const scenes[])(void), size_t n, void (*open)(void)) {
	for (size_t i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0) {
			unit_node(NODE_PROCESSES);
			unit_types();
			gompi_node.policy.max_sleep_ns = 20000000;
			for (int k = 0; k < NODE_PROCESSES; k++)
				gompi_store(&gompi_cell(k)->state, GOMPI_STATE_RUNNING);
			w = unit_window(3, unit_memory(3 * SIZE), SIZE, false);
			open();
			scenes[i]();
			_exit(check_errors != 0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		CHECK(status == 0, "scene %zu ended with %#x", i, (unsigned)status);
	}
	return unit_end();
}

#endif
