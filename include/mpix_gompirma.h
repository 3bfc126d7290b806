/* Functions that gompirma adds to those of the standard: for tools, and for programs that survive the failure of
 * processes (at the end of this file). A tool observes the processes of a job from inside:
 * it is a preloaded or linked library (MPI-5.0 15.2), or the program itself. gompirun --stats uses these functions.
 *
 * Only gompirma has them. A tool that must work with any MPI library looks them up with dlsym(3). The name of a
 * function changes if its meaning does. A function that is not called costs nothing. Like the functions of the tool
 * information interface they return MPI_SUCCESS or an error class, and call no error handler.
 */
#ifndef MPIX_GOMPIRMA_H
#define MPIX_GOMPIRMA_H

#include <stdint.h>

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of operations on windows. Request-based operations count as the kind without a request. */
enum {
	MPIX_GOMPIRMA_PUT,
	MPIX_GOMPIRMA_GET,
	MPIX_GOMPIRMA_ACCUMULATE,
	MPIX_GOMPIRMA_GET_ACCUMULATE,
	MPIX_GOMPIRMA_FETCH_AND_OP,
	MPIX_GOMPIRMA_COMPARE_AND_SWAP,
	MPIX_GOMPIRMA_KINDS /* number of kinds */
};

/* The path of an operation to the target's memory. */
enum {
	MPIX_GOMPIRMA_DIRECT,  /* loads, stores and atomics of the origin: the memory is mapped in its process */
	MPIX_GOMPIRMA_RING,    /* the target's process executes it, from a queue in shared memory */
	MPIX_GOMPIRMA_CMA,     /* process_vm_readv or process_vm_writev */
	MPIX_GOMPIRMA_NETWORK, /* the target is on another node */
	MPIX_GOMPIRMA_NOTHING, /* no path: the operation has no data, or the target is MPI_PROC_NULL */
	MPIX_GOMPIRMA_WAYS     /* number of paths */
};

/* Number of operations, and bytes of their data at the target. */
struct MPIX_Gompirma_count {
	uint64_t calls, bytes;
};

/* Counts the operations of this process on win from now on, until the window is freed or the function is called again.
 * NULL ends the counting. An operation is added to counts[kind][path] when its call returns MPI_SUCCESS. Operations on
 * the direct path are not counted, because they take only a few instructions. A tool that itself counts all calls can
 * compute the count of the direct path by subtracting the counts of the other paths.
 *
 * An operation counts once. If its parts take several paths, it counts for the last path that is not direct. The caller
 * owns the array, which may be shared with other processes and windows: the library adds atomically. The function is
 * local and does not block. No other thread may use the window during the call. Returns MPI_ERR_WIN if win is not a
 * window.
 */
int MPIX_Gompirma_win_count(MPI_Win win, struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS]);

/* The collective writes of this process to files that aggregators have executed (collective buffering). */
struct MPIX_Gompirma_file_counts {
	uint64_t calls, bytes;          /* number of these writes, and bytes of this process's data in them */
	uint64_t writes, written_bytes; /* number of ranges that this process has written as an aggregator; their bytes */
};

/* Stores the counts since the library has been loaded. Any thread may call the function at any time. It does not block.
 * Returns MPI_ERR_ARG if counts is NULL. */
int MPIX_Gompirma_file_counts(struct MPIX_Gompirma_file_counts *counts);

/* The memory of a member of a window, as this process can access it. */
struct MPIX_Gompirma_layout {
	MPI_Aint size;     /* in bytes; 0 for dynamic windows */
	int disp_unit;     /* in bytes */
	int process;       /* rank in MPI_COMM_WORLD; a process of another job has a number above all ranks */
	unsigned ways;     /* bits 1 << MPIX_GOMPIRMA_DIRECT and so on: the paths that operations may take */
	MPI_Aint from, to; /* this process maps the bytes from `from` to before `to`; both are 0 if it maps none */
	void *base;        /* address that byte 0 has, or would have, in this process; NULL if it maps none */
};

/* Stores the layout of the memory of a rank in the group of win. For memory attached to dynamic windows it stores only
 * the paths. The function is local and sends no messages. Returns MPI_ERR_WIN or MPI_ERR_RANK if the argument is
 * invalid, or MPI_ERR_ARG if layout is NULL. */
int MPIX_Gompirma_win_layout(MPI_Win win, int rank, struct MPIX_Gompirma_layout *layout);

/* Stores the numbers of the members of a group, as in struct MPIX_Gompirma_layout, in `processes`, which has an element
 * for each member. Processes of several jobs on one node that gompirun has started (MPI_Comm_spawn) have the same
 * numbers at all of them, in the order of their start. The function is local and sends no messages. Returns
 * MPI_ERR_GROUP if the group is not valid, or MPI_ERR_ARG if processes is NULL and the group is not empty. */
int MPIX_Gompirma_group_processes(MPI_Group group, int processes[]);

/* The event that ends the wait of a thread. `process` and `tag` are those of struct MPIX_Gompirma_wait. */
enum {
	MPIX_GOMPIRMA_FOR_CALL,       /* depends on the function that waits */
	MPIX_GOMPIRMA_FOR_MESSAGE,    /* process sends a message with this tag */
	MPIX_GOMPIRMA_FOR_RECEIPT,    /* process receives the message with this tag */
	MPIX_GOMPIRMA_FOR_POST,       /* process calls MPI_Win_post */
	MPIX_GOMPIRMA_FOR_COMPLETE,   /* the members of the group call MPI_Win_complete */
	MPIX_GOMPIRMA_FOR_LOCK,       /* the lock of the member with rank `tag` is released */
	MPIX_GOMPIRMA_FOR_COLLECTIVE, /* the members start nonblocking or persistent collective number `tag` */
	MPIX_GOMPIRMA_FOR_PARTITIONS, /* process marks the partitions of the message with this tag as ready */
	MPIX_GOMPIRMA_FOR_SELF        /* another thread of this process calls MPI_Pready or MPI_Grequest_complete */
};

/* A thread that sleeps in an MPI function. */
struct MPIX_Gompirma_wait {
	char call[32];   /* name of the function */
	char name[32];   /* name of the object, truncated; "" if it has no name */
	uint64_t object; /* handle of the window or communicator, as an integer; 0 if the wait has no object */
	int thread;      /* number of the thread in the system, gettid(2) */
	int process;     /* the process that must act, as in struct MPIX_Gompirma_layout; negative for several or any */
	int reason;      /* MPIX_GOMPIRMA_FOR_CALL and so on */
	int tag;
};

/* Stores the waits of threads of this process that sleep in MPI functions: at most `most` waits. Stores the number of
 * all such threads in *count. A thread publishes its wait after it has polled for some microseconds to a millisecond.
 * Any thread may call the function, also in a signal handler, before MPI_Init and after MPI_Finalize, but not while
 * another thread is in MPI_Init or MPI_Finalize. A wait that begins or ends during the call may be stored partially.
 * The function does not block. Returns MPI_ERR_ARG if count is NULL, or if waits is NULL and most is positive. */
int MPIX_Gompirma_waits(int most, struct MPIX_Gompirma_wait *waits, int *count);

/* Fault tolerance: the functions of ULFM (User-Level Failure Mitigation). docs/PROCESSES.md describes them. Other MPI
 * libraries have the same functions, in mpi-ext.h or mpi.h. Unlike the functions above, they call error handlers.
 */

/* Error classes: a process on which the call depends has failed; a receive from MPI_ANY_SOURCE cannot complete before
 * the program has acknowledged the failures on the communicator, and stays active; the communicator is revoked. */
#define MPIX_ERR_PROC_FAILED 16001
#define MPIX_ERR_PROC_FAILED_PENDING 16002
#define MPIX_ERR_REVOKED 16003

/* Predefined attribute of communicators: an int that is 1 if the job continues when processes fail, else 0. */
#define MPIX_FT 999

/* Interrupts all operations on the communicator, at all members. Is not collective. */
int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
/* Acknowledges all failures of members that the process knows. The second function stores the group of these members. */
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
/* The first function stores the group of all members whose failure the process knows, in the order of detection. The
 * second one acknowledges the first num_to_ack of these members, and stores the number of acknowledged members. */
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
/* Creates a communicator of the members that have not failed. Collective over these members. */
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
/* Stores the bitwise AND of the flags of all members, or of the remote group, that have not failed. Returns the same
 * result at all of them: an error if a member has failed and not every member has acknowledged its failure. */
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
