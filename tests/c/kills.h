/* Functions for tests in which ranks are killed. */
#ifndef KILLS_H
#define KILLS_H

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t kill_process; /* the process that kill_after has started */

/* Starts a process that kills this rank after some time, unless the rank has ended before. */
static inline void kill_after(unsigned us) {
	const pid_t rank = getpid();
	kill_process = fork();
	if (kill_process != 0)
		return;
	const struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	nanosleep(&t, NULL);
	if (getppid() == rank) /* else another process has become the parent */
		kill(rank, SIGKILL);
	_exit(0);
}

/* Ends the process that kill_after has started. After this call the process no longer kills this rank, also on a loaded
 * machine. */
static inline void kill_cancel(void) {
	if (kill_process <= 0)
		return;
	kill(kill_process, SIGKILL);
	waitpid(kill_process, NULL, 0);
}

#endif
