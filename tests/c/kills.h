/* Functions for tests in which ranks are killed. */
#ifndef KILLS_H
#define KILLS_H

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Starts a process that kills this rank after some time, unless the rank has ended before. */
static inline void kill_after(unsigned us) {
	const pid_t rank = getpid();
	if (fork() != 0)
		return;
	const struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	nanosleep(&t, NULL);
	if (getppid() == rank) /* else another process has become the parent */
		kill(rank, SIGKILL);
	_exit(0);
}

#endif
