/* Makes rank 0 "away": rank 0 makes no MPI call until the other ranks signal it by means other than MPI. Tests of
 * progress use this. The other ranks' operations on rank 0 must complete while rank 0 is away.
 *
 *   away_begin();                            collective, after check_begin
 *   away_watch("name of the operation");     on the other ranks: starts a watchdog of AWAY_SECONDS
 *   away_until(AWAY_READ, n);                on rank 0: waits for n calls of away_call
 *   away_call(AWAY_READ);                    on the other ranks: stops the watchdog and signals rank 0 once
 *   away_end();                              collective
 */
#ifndef AWAY_H
#define AWAY_H

#include "check.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* How rank 0 waits while it is away. */
enum {
	AWAY_READ,    /* in read(2) of a named pipe */
	AWAY_COMPUTE, /* in a loop that loads a variable of a shared window */
	AWAY_SOCKET,  /* in read(2) of an Internet (UDP) socket */
	AWAYS
};
enum { AWAY_SECONDS = 20 };

static const char *const away_name[AWAYS] = {"in read(2)", "computing", "in read(2) of a socket"};

static int away_pipe, away_socket;
static MPI_Win away_window;
static _Atomic int *away_calls;
static char away_text[300];

/* Handles SIGALRM, the signal of the watchdog: prints away_text and exits with status 1. */
static void away_alarm(int signal) {
	(void)signal;
	if (write(2, away_text, strlen(away_text)) < 0)
		_exit(2);
	_exit(1);
}

/* Sets up the pipe, the socket and the shared window by which the other ranks signal rank 0 of MPI_COMM_WORLD. */
static inline void away_begin(void) {
	char path[200] = "/tmp/away.XXXXXX", file[220];
	MPI_Aint size;
	int unit;
	if (check_rank == 0 && !mkdtemp(path))
		MPI_Abort(MPI_COMM_WORLD, 9);
	MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
	snprintf(file, sizeof file, "%s/pipe", path);
	if (check_rank == 0 && mkfifo(file, 0600) != 0)
		MPI_Abort(MPI_COMM_WORLD, 9);
	MPI_Barrier(MPI_COMM_WORLD);
	away_pipe = open(file, O_RDWR);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0) { /* every rank has opened the pipe; remove its name, so that a crash leaves no file */
		unlink(file);
		rmdir(path);
	}
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	away_socket = socket(AF_INET, SOCK_DGRAM, 0);
	if (check_rank == 0 && (bind(away_socket, (void *)&address, sizeof address) != 0 ||
				getsockname(away_socket, (void *)&address, &length) != 0))
		MPI_Abort(MPI_COMM_WORLD, 9);
	MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (check_rank != 0 && connect(away_socket, (void *)&address, sizeof address) != 0)
		MPI_Abort(MPI_COMM_WORLD, 9);
	MPI_Win_allocate_shared(check_rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &away_calls, &away_window);
	MPI_Win_shared_query(away_window, 0, &size, &unit, &away_calls);
	if (check_rank == 0)
		atomic_store(away_calls, 0);
	signal(SIGALRM, away_alarm);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Starts the watchdog: unless away_call follows within AWAY_SECONDS, this process prints `what` and exits. */
static inline void away_watch(const char *what) {
	snprintf(away_text, sizeof away_text, "rank %d: FAIL: not done within %d s: %s\n", check_rank, AWAY_SECONDS,
		 what);
	alarm(AWAY_SECONDS);
}

/* Stops the watchdog and signals rank 0 once. */
static inline void away_call(int how) {
	alarm(0);
	char byte = 1;
	if (how == AWAY_COMPUTE)
		atomic_fetch_add(away_calls, 1);
	else if (write(how == AWAY_READ ? away_pipe : away_socket, &byte, 1) != 1)
		MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Waits, without calling MPI, until the other ranks have made `calls` calls of away_call in total. */
static inline void away_until(int how, int calls) {
	char byte;
	if (how == AWAY_COMPUTE) {
		while (atomic_load(away_calls) < calls)
			;
		atomic_store(away_calls, 0);
		return;
	}
	for (int i = 0; i < calls; i++)
		if (read(how == AWAY_READ ? away_pipe : away_socket, &byte, 1) != 1)
			MPI_Abort(MPI_COMM_WORLD, 9);
}

static inline void away_end(void) {
	MPI_Win_free(&away_window);
	close(away_pipe);
	close(away_socket);
}

#endif
