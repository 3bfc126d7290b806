/* Common part of the tests of failed processes: a node of four processes, of which this process is number 0; a window
 * and a communicator over the first three; child processes that die in the middle of an operation; and waits of which
 * the test knows whether they may end. */
#ifndef LOSSES_H
#define LOSSES_H

#include "unit.h"

#include <sys/wait.h>

#include "base/loss.h"

enum { PROCESSES = 4, SIZE = 4096, COMM = 0x4001000 };

static struct gompi_win *w;

/* Returns true after more than one slice of waiting. By then a wait has detected every death. */
static bool much_later(void *arg) {
	int *sleeps = arg;
	return *sleeps > 3;
}
static int *naps;
static void nap(void) { ++*naps; }

/* Waits for `what` or until much_later. Returns the error class with which the wait ended. */
static int waits(struct gompi_waiting what) {
	int sleeps = 0;
	naps = &sleeps;
	gompi_up.find_dead = nap;
	what.call = "MPI_Test_of_losses";
	return gompi_await(&gompi_my_cell()->wait, much_later, &sleeps, &what);
}

static void ends(struct gompi_waiting what, const char *of, const char *who) {
	int rc = waits(what);
	const char *text = gompi_lost_text();
	CHECK(rc == MPI_ERR_PROC_ABORTED, "%s: %d", of, rc);
	CHECK(strstr(text, who) != NULL, "%s: '%s' and not '%s'", of, text, who);
}

static void goes_on(struct gompi_waiting what, const char *of) {
	int rc = waits(what);
	CHECK(rc == MPI_SUCCESS, "%s ends with %d: %s", of, rc, rc == MPI_SUCCESS ? "" : gompi_lost_text());
}

/* Forks process i of the node, which runs `what` and dies in it. */
static void dies_in(int i, void (*what)(void)) {
	pid_t child = fork();
	if (child == 0) {
		gompi_node.me = gompi_node.self = i;
		what();
		raise(SIGKILL);
	}
	int status = 0;
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "%#x", status);
	gompi_store(&gompi_cell(i)->state, GOMPI_STATE_DEAD);
	gompi_store(&gompi_cell(i)->pid, (int32_t)child);
	gompi_add_total(&gompi_header()->broken, 1);
}

static void nothing(void) {}

/* Runs each scene in a process of its own. */
static int run_scenes(void (*const scenes[])(void), size_t n, void (*open)(void)) {
	for (size_t i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0) {
			unit_node(PROCESSES);
			unit_types();
			gompi_node.policy.slice = 20000000;
			for (int k = 0; k < PROCESSES; k++)
				gompi_store(&gompi_cell(k)->state, 1);
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
