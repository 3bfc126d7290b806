/* Proves: a forked child leaves the activity flags of its parent unchanged (update/mode.h). The child's thread inherits
 * the flag of the thread that called fork, and must not release this flag when the child's thread ends. A thread of the
 * parent releases its flag when it ends. */
#include "../unit.h"

#include <sys/wait.h>

#include "update/mode.h"

static pthread_key_t end_key;

/* Serves as the destructor of end_key, and ends the child. Destructors run in the order in which their keys were
 * created, so this one runs after the destructor that would release the flag. */
static void end_child(void *arg) {
	(void)arg;
	_exit(0);
}

static void forks(int i) {
	(void)i;
	gompi_activity_acquire();
	CHECK(gompi_my_activity == &gompi_my_cell()->activity[0], "no activity flag");
	pthread_key_create(&end_key, end_child);
	pid_t child = fork();
	if (child == 0) {
		pthread_setspecific(end_key, &end_key);
		pthread_exit(NULL);
	}
	int status = -1;
	CHECK(waitpid(child, &status, 0) == child && status == 0, "child: status %#x", (unsigned)status);
	CHECK(gompi_load(&gompi_my_cell()->activity_used) == 1, "marks %#x after a child's end",
	      gompi_load(&gompi_my_cell()->activity_used));
}

int main(void) {
	unit_node(1);
	if (gompi_node.has_membarrier) {
		unit_threads(1, forks);
		CHECK(gompi_load(&gompi_my_cell()->activity_used) == 0, "marks %#x after the thread's end",
		      gompi_load(&gompi_my_cell()->activity_used));
	}
	return unit_end();
}
