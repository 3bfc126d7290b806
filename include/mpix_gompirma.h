/* What gompirma tells tools, beside the functions of the standard. A tool is what runs in the processes of a job to see
 * what they do: a library that is preloaded or linked (MPI-5.0 15.2), or the program itself. gompirun --stats asks by
 * these functions.
 *
 * They exist in gompirma only. A tool that is to work with any library finds them by dlsym(3). A function keeps its
 * name as long as it means the same. None of them costs anything as long as it is not called. They return MPI_SUCCESS
 * or an error class, and call no error handler, as the functions of the tool information interface do.
 */
#ifndef MPIX_GOMPIRMA_H
#define MPIX_GOMPIRMA_H

#include <stdint.h>

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of operations on windows, those with requests among them. */
enum {
	MPIX_GOMPIRMA_PUT,
	MPIX_GOMPIRMA_GET,
	MPIX_GOMPIRMA_ACCUMULATE,
	MPIX_GOMPIRMA_GET_ACCUMULATE,
	MPIX_GOMPIRMA_FETCH_AND_OP,
	MPIX_GOMPIRMA_COMPARE_AND_SWAP,
	MPIX_GOMPIRMA_KINDS /* how many there are */
};

/* The ways of an operation to its target's memory. */
enum {
	MPIX_GOMPIRMA_DIRECT,  /* the origin's own loads, stores and updates: the memory is mapped in its process */
	MPIX_GOMPIRMA_RING,    /* the target's process does it, which is told by memory that both share */
	MPIX_GOMPIRMA_CMA,     /* process_vm_readv or process_vm_writev */
	MPIX_GOMPIRMA_NETWORK, /* the target is on another node */
	MPIX_GOMPIRMA_NOTHING, /* none: there are no data, or the target is MPI_PROC_NULL */
	MPIX_GOMPIRMA_WAYS     /* how many there are */
};

/* Operations, and the bytes of their data at the target. */
struct MPIX_Gompirma_count {
	uint64_t calls, bytes;
};

/* From now on operations of this process on win are added to counts[kind][way] when their calls return MPI_SUCCESS,
 * until the window is freed or the function is called again; NULL ends it. Those that take the direct way are not: they
 * are a few instructions, and none of them is spent on this. A tool that counts calls has them as what is left.
 *
 * An operation counts once; one of which parts take several ways, as the last of those that is not the direct one. The
 * memory is the caller's, and may be shared with other processes and windows: what is added is added atomically. Local;
 * no other thread may use the window at that moment. MPI_ERR_WIN: no window.
 */
int MPIX_Gompirma_win_count(MPI_Win win, struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS]);

/* A member's memory in a window, as this process sees it. */
struct MPIX_Gompirma_layout {
	MPI_Aint size;    /* bytes; 0 for dynamic windows */
	int disp_unit;
	int process;      /* rank in MPI_COMM_WORLD; of another job's process its number among those that are known */
	unsigned ways;    /* 1 << MPIX_GOMPIRMA_DIRECT and so on: the ways that operations may take there */
	MPI_Aint from, to; /* the bytes of it that are mapped here, from from to before to; both 0: none */
	void *base;       /* where they would begin if from were 0; NULL: none are */
};

/* Stores the layout of the memory of a rank of win's group. Of what is attached to dynamic windows nothing is told, but
 * by ways. Local, costs no messages. MPI_ERR_WIN, MPI_ERR_RANK, and MPI_ERR_ARG if layout is NULL. */
int MPIX_Gompirma_win_layout(MPI_Win win, int rank, struct MPIX_Gompirma_layout *layout);

/* What ends the wait of a thread. */
enum {
	MPIX_GOMPIRMA_FOR_CALL,    /* what the name of the call says */
	MPIX_GOMPIRMA_FOR_MESSAGE, /* the process sends a message with the tag */
	MPIX_GOMPIRMA_FOR_RECEIPT, /* the process receives the one with the tag */
	MPIX_GOMPIRMA_FOR_POST,    /* the process calls MPI_Win_post */
	MPIX_GOMPIRMA_FOR_COMPLETE, /* the members call MPI_Win_complete */
	MPIX_GOMPIRMA_FOR_LOCK,    /* the memory of the member with the rank tag is unlocked */
	MPIX_GOMPIRMA_FOR_COLLECTIVE, /* the members start a nonblocking or persistent collective: number tag */
	MPIX_GOMPIRMA_FOR_PARTITIONS, /* the process marks the partitions of the message with the tag as ready */
	MPIX_GOMPIRMA_FOR_SELF        /* another thread of this process calls MPI_Pready or MPI_Grequest_complete */
};

/* A thread that sleeps in a call of MPI. */
struct MPIX_Gompirma_wait {
	char call[32];   /* name of the function */
	char name[32];   /* of the object, or how it begins; "": it was given none */
	uint64_t object; /* handle of the window or communicator, as an integer; 0 if the wait has no object */
	int thread;      /* of the system: gettid(2) */
	int process;     /* that is waited for, as in struct MPIX_Gompirma_layout; below 0: several or any */
	int reason;      /* MPIX_GOMPIRMA_FOR_CALL and so on */
	int tag;
};

/* Stores what threads of this process wait for that sleep in MPI, at most so many, and in *count how many those are
 * that do: what is stored may be less. A wait is told when the thread has polled for as long as is worthwhile, some
 * microseconds to a millisecond. It may be called by any thread, also in a signal handler, before MPI_Init and after
 * MPI_Finalize, but not while another thread is in that; what a thread begins or ends at that moment may be there in
 * part. Never waits. MPI_ERR_ARG: count is NULL, or most is above 0 and waits NULL. */
int MPIX_Gompirma_waits(int most, struct MPIX_Gompirma_wait *waits, int *count);

#ifdef __cplusplus
}
#endif

#endif
