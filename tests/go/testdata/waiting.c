/*
 * Rank 0 calls functions that wait for rank 1, one after the other. Before each call both ranks print the function's
 * name and stop themselves. The test reads this output and lets rank 0 continue. It checks that gompirun reports rank 0
 * as waiting in this function, and then lets rank 1 continue.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 20, INTS = LARGE / sizeof(int) };
#define W MPI_COMM_WORLD

static int rank;
static char large[LARGE], other[LARGE];
static int many[INTS], small[4], more[4]; // small and more have an element for each rank
static MPI_Request request[2];

/* Stops this process, with all of its threads, until SIGCONT. */
static void stop(const char *name) {
	printf("%d %d %s\n", rank, (int)getpid(), name);
	fflush(stdout);
	raise(SIGSTOP);
}

static void step(const char *name) {
	MPI_Barrier(W);
	stop(name);
}

/* BOTH: both ranks call the function. PAIR: each rank makes its own calls; those of rank 0 include the function. */
#define BOTH(name, ...) (step(#name), name(__VA_ARGS__))
#define PAIR(name, zero, one) (step(#name), rank == 0 ? ((void)zero, 0) : ((void)one, 0))

static void receive_large(void) { MPI_Recv(other, LARGE, MPI_CHAR, 0, 0, W, MPI_STATUS_IGNORE); }
static void send_small(void) { MPI_Send(small, 1, MPI_INT, 1 - rank, 0, W); }
static void receive_small(void) { MPI_Recv(more, 1, MPI_INT, 1 - rank, 0, W, MPI_STATUS_IGNORE); }
static void two_sends(void) { send_small(), send_small(); }
static void two_receives(void) {
	for (int i = 0; i < 2; i++)
		MPI_Irecv(more + i, 1, MPI_INT, 1, 0, W, request + i);
}
static void wait(void) { MPI_Wait(request, MPI_STATUS_IGNORE); }
static void wait_both(void) { MPI_Waitall(2, request, MPI_STATUSES_IGNORE); }
static void start(void) { MPI_Start(request), wait(), MPI_Request_free(request); }

static void messages(void) {
	MPI_Status *ignore = MPI_STATUS_IGNORE;
	MPI_Message message;
	int n, indices[2];

	PAIR(MPI_Send, MPI_Send(large, LARGE, MPI_CHAR, 1, 0, W), receive_large());
	PAIR(MPI_Send, MPI_Send_c(large, LARGE, MPI_CHAR, 1, 0, W), receive_large());
	PAIR(MPI_Ssend, MPI_Ssend(small, 1, MPI_INT, 1, 0, W), receive_small());
	if (rank == 1)
		MPI_Irecv(other, LARGE, MPI_CHAR, 0, 0, W, request);
	PAIR(MPI_Rsend, MPI_Rsend(large, LARGE, MPI_CHAR, 1, 0, W), wait());
	PAIR(MPI_Recv, MPI_Recv(more, 1, MPI_INT, 1, 0, W, ignore), send_small());
	PAIR(MPI_Recv, MPI_Recv_c(more, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, ignore), send_small());
	BOTH(MPI_Sendrecv, small, 1, MPI_INT, 1 - rank, 0, more, 1, MPI_INT, 1 - rank, 0, W, ignore);
	BOTH(MPI_Sendrecv_replace, small, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, W, ignore);
	PAIR(MPI_Probe, (MPI_Probe(1, 0, W, ignore), receive_small()), send_small());
	PAIR(MPI_Mprobe, (MPI_Mprobe(1, 0, W, &message, ignore), MPI_Mrecv(more, 1, MPI_INT, &message, ignore)),
	     send_small());
	if (rank == 0)
		MPI_Mprobe(1, 0, W, &message, ignore);
	else
		MPI_Isend(large, LARGE, MPI_CHAR, 0, 0, W, request);
	PAIR(MPI_Mrecv, MPI_Mrecv(other, LARGE, MPI_CHAR, &message, ignore), wait());

	PAIR(MPI_Wait, (MPI_Isend(large, LARGE, MPI_CHAR, 1, 0, W, request), wait()), receive_large());
	PAIR(MPI_Wait, (MPI_Issend(small, 1, MPI_INT, 1, 0, W, request), wait()), receive_small());
	PAIR(MPI_Wait, (MPI_Irecv(more, 1, MPI_INT, 1, 0, W, request), wait()), send_small());
	PAIR(MPI_Wait, (MPI_Isendrecv(small, 1, MPI_INT, 1, 0, more, 1, MPI_INT, 1, 0, W, request), wait()),
	     (send_small(), receive_small()));
	PAIR(MPI_Wait, (MPI_Send_init(large, LARGE, MPI_CHAR, 1, 0, W, request), start()), receive_large());
	if (rank == 0)
		MPI_Precv_init(more, 2, 1, MPI_INT, 1, 0, W, MPI_INFO_NULL, request);
	else
		MPI_Psend_init(small, 2, 1, MPI_INT, 0, 0, W, MPI_INFO_NULL, request);
	MPI_Start(request);
	PAIR(MPI_Wait, wait(), (MPI_Pready_range(0, 1, request[0]), wait()));
	MPI_Request_free(request);
	PAIR(MPI_Waitall, (two_receives(), wait_both()), two_sends());
	PAIR(MPI_Waitany, (two_receives(), MPI_Waitany(2, request, indices, ignore), wait_both()), two_sends());
	PAIR(MPI_Waitsome, (two_receives(), MPI_Waitsome(2, request, &n, indices, MPI_STATUSES_IGNORE), wait_both()),
	     two_sends());
}

static void buffers(void) {
	static char space[LARGE + 1000];
	void *buffer;
	int size;

#define BSEND MPI_Bsend(large, LARGE, MPI_CHAR, 1, 0, W)
	MPI_Buffer_attach(space, sizeof space);
	PAIR(MPI_Buffer_flush, (BSEND, MPI_Buffer_flush()), receive_large());
	PAIR(MPI_Buffer_detach, (BSEND, MPI_Buffer_detach(&buffer, &size)),
	     (MPI_Buffer_detach(&buffer, &size), receive_large()));
	MPI_Comm_attach_buffer(W, space, sizeof space);
	PAIR(MPI_Comm_flush_buffer, (BSEND, MPI_Comm_flush_buffer(W)), receive_large());
	PAIR(MPI_Comm_detach_buffer, (BSEND, MPI_Comm_detach_buffer(W, &buffer, &size)),
	     (MPI_Comm_detach_buffer(W, &buffer, &size), receive_large()));
}

static MPI_Comm reversed, ring, inter, made;

static void collectives(void) {
	int one[2] = {1, 1}, at[2] = {0, 1}, zero[2] = {0, 0};
	MPI_Aint far[2] = {0, sizeof(int)};
	MPI_Datatype type[2] = {MPI_INT, MPI_INT};

	BOTH(MPI_Barrier, W);
	BOTH(MPI_Bcast, small, 1, MPI_INT, 1, W);
	PAIR(MPI_Bcast, MPI_Bcast_c(large, LARGE, MPI_CHAR, 1, W), MPI_Bcast_c(large, LARGE, MPI_CHAR, 1, W));
	BOTH(MPI_Gather, small, 1, MPI_INT, more, 1, MPI_INT, 0, W);
	BOTH(MPI_Gatherv, small, 1, MPI_INT, more, one, at, MPI_INT, 0, W);
	BOTH(MPI_Scatter, small, 1, MPI_INT, more, 1, MPI_INT, 1, W);
	BOTH(MPI_Scatterv, small, one, at, MPI_INT, more, 1, MPI_INT, 1, W);
	BOTH(MPI_Allgather, small, 1, MPI_INT, more, 1, MPI_INT, W);
	BOTH(MPI_Allgatherv, small, 1, MPI_INT, more, one, at, MPI_INT, W);
	BOTH(MPI_Alltoall, small, 1, MPI_INT, more, 1, MPI_INT, W);
	BOTH(MPI_Alltoallv, small, one, at, MPI_INT, more, one, at, MPI_INT, W);
	BOTH(MPI_Alltoallw, small, one, zero, type, more, one, zero, type, W);
	BOTH(MPI_Reduce, small, more, 1, MPI_INT, MPI_SUM, 0, W);
	BOTH(MPI_Allreduce, small, more, 1, MPI_INT, MPI_SUM, W);
	BOTH(MPI_Reduce_scatter, small, more, one, MPI_INT, MPI_SUM, W);
	BOTH(MPI_Reduce_scatter_block, small, more, 1, MPI_INT, MPI_SUM, W);
	BOTH(MPI_Scan, small, more, 1, MPI_INT, MPI_SUM, reversed); // as first rank of W, rank 0 would wait for no rank
	BOTH(MPI_Exscan, small, more, 1, MPI_INT, MPI_SUM, reversed);
	BOTH(MPI_Barrier, inter);
	BOTH(MPI_Allreduce, small, more, 1, MPI_INT, MPI_SUM, inter);
	BOTH(MPI_Neighbor_allgather, small, 1, MPI_INT, more, 1, MPI_INT, ring);
	BOTH(MPI_Neighbor_allgatherv, small, 1, MPI_INT, more, one, at, MPI_INT, ring);
	BOTH(MPI_Neighbor_alltoall, small, 1, MPI_INT, more, 1, MPI_INT, ring);
	BOTH(MPI_Neighbor_alltoallv, small, one, at, MPI_INT, more, one, at, MPI_INT, ring);
	BOTH(MPI_Neighbor_alltoallw, small, one, far, type, more, one, far, type, ring);
	BOTH(MPI_Wait, (MPI_Ibarrier(W, request), request), MPI_STATUS_IGNORE);
	MPI_Barrier_init(W, MPI_INFO_NULL, request);
	BOTH(MPI_Wait, (MPI_Start(request), request), MPI_STATUS_IGNORE);
	MPI_Request_free(request);
}

static void communicators(void) {
	int yes = 1, peer = 1 - rank;
	MPI_Group group;

#define MADE(name, ...) (BOTH(name, __VA_ARGS__), MPI_Comm_free(&made))
	MPI_Comm_group(W, &group);
	MADE(MPI_Comm_create, W, group, &made);
	MADE(MPI_Comm_split, W, 0, 0, &made);
	MADE(MPI_Comm_split_type, W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
	MADE(MPI_Intercomm_create, MPI_COMM_SELF, 0, W, peer, 0, &made);
	MADE(MPI_Intercomm_merge, inter, 0, &made);
	MADE(MPI_Cart_sub, ring, &yes, &made);
	MADE(MPI_Dist_graph_create, W, 1, &rank, &yes, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
	MPI_Group_free(&group);
}

/* Two windows. Origins access the memory of `direct` themselves. Only the target's process accesses the memory of
 * `away`. */
static MPI_Win direct, away;

static void synchronization(void) {
	static int array[4];
	MPI_Group all, peer;
	MPI_Info info;
	MPI_Win win;
	int *base;

#define WON(name, ...) (BOTH(name, __VA_ARGS__), MPI_Win_free(&win))
	WON(MPI_Win_create, array, sizeof array, 1, MPI_INFO_NULL, W, &win);
	WON(MPI_Win_allocate, sizeof array, 1, MPI_INFO_NULL, W, &base, &win);
	WON(MPI_Win_allocate_shared, sizeof array, 1, MPI_INFO_NULL, W, &base, &win);
	WON(MPI_Win_create_dynamic, MPI_INFO_NULL, W, &win);
	MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win);
	BOTH(MPI_Win_free, &win);
	MPI_Info_create(&info);
	BOTH(MPI_Win_set_info, direct, info);
	MPI_Info_free(&info);

	MPI_Comm_group(W, &all);
	MPI_Group_excl(all, 1, &rank, &peer);
	BOTH(MPI_Win_fence, 0, direct);
	PAIR(MPI_Win_start, (MPI_Win_start(peer, 0, direct), MPI_Win_complete(direct)),
	     (MPI_Win_post(peer, 0, direct), MPI_Win_wait(direct)));
	PAIR(MPI_Win_wait, (MPI_Win_post(peer, 0, direct), MPI_Win_wait(direct)),
	     (MPI_Win_start(peer, 0, direct), MPI_Win_complete(direct)));
	if (rank == 1)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, direct);
	PAIR(MPI_Win_lock, (MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, direct), MPI_Win_unlock(1, direct)),
	     MPI_Win_unlock(1, direct));
	MPI_Barrier(W);
	if (rank == 1)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, direct);
	PAIR(MPI_Win_lock_all, (MPI_Win_lock_all(0, direct), MPI_Win_unlock_all(direct)), MPI_Win_unlock(1, direct));

	/* A small accumulate is sent as a message, and the end of the epoch waits for it. */
#define SMALL MPI_Accumulate(small, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, away)
	PAIR(MPI_Win_unlock, (MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, away), SMALL, MPI_Win_unlock(1, away)), 0);
	PAIR(MPI_Win_unlock_all, (MPI_Win_lock_all(0, away), SMALL, MPI_Win_unlock_all(away)), 0);
	if (rank == 1)
		MPI_Win_post(peer, 0, away);
	/* MPI_Win_complete waits only for operations with a result. */
	PAIR(MPI_Win_complete,
	     (MPI_Win_start(peer, 0, away), MPI_Get(more, 1, MPI_INT, 1, 0, 1, MPI_INT, away), MPI_Win_complete(away)),
	     MPI_Win_wait(away));
	MPI_Win_fence(0, away);
	PAIR(MPI_Win_fence, (SMALL, MPI_Win_fence(MPI_MODE_NOSUCCEED, away)), MPI_Win_fence(MPI_MODE_NOSUCCEED, away));
	MPI_Group_free(&all);
	MPI_Group_free(&peer);
}

static void operations(void) {
	int zero = 0;

	MPI_Win_lock_all(0, away);
#define OPERATION(name, ...) (PAIR(name, name(__VA_ARGS__), 0), MPI_Win_flush_all(away))
	PAIR(MPI_Win_flush, (MPI_Get(more, 1, MPI_INT, 1, 0, 1, MPI_INT, away), MPI_Win_flush(1, away)), 0);
	OPERATION(MPI_Put, large, LARGE, MPI_CHAR, 1, 0, LARGE, MPI_CHAR, away);
	OPERATION(MPI_Accumulate, many, INTS, MPI_INT, 1, 0, INTS, MPI_INT, MPI_SUM, away);
	OPERATION(MPI_Get_accumulate, small, 1, MPI_INT, more, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, away);
	OPERATION(MPI_Fetch_and_op, small, more, MPI_INT, 1, 0, MPI_SUM, away);
	OPERATION(MPI_Compare_and_swap, small, &zero, more, MPI_INT, 1, 0, away);
#define REQUEST(name, ...) (PAIR(name, (name(__VA_ARGS__, request), wait()), 0), MPI_Win_flush_all(away))
	REQUEST(MPI_Rput, large, LARGE, MPI_CHAR, 1, 0, LARGE, MPI_CHAR, away);
	REQUEST(MPI_Raccumulate, many, INTS, MPI_INT, 1, 0, INTS, MPI_INT, MPI_SUM, away);
	/* LATER: MPI_Wait completes the request of the operation only after the result has arrived. */
#define LATER(name, ...) (PAIR(MPI_Wait, (name(__VA_ARGS__, request), wait()), 0), MPI_Win_flush_all(away))
	LATER(MPI_Rget, more, 1, MPI_INT, 1, 0, 1, MPI_INT, away);
	LATER(MPI_Rget_accumulate, small, 1, MPI_INT, more, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, away);
#define FLUSH(name, ...) PAIR(name, (SMALL, name(__VA_ARGS__)), 0)
	FLUSH(MPI_Win_flush, 1, away);
	FLUSH(MPI_Win_flush_all, away);
	FLUSH(MPI_Win_flush_local, 1, away);
	FLUSH(MPI_Win_flush_local_all, away);
	MPI_Win_unlock_all(away);
}

/* Waits inside another call: the attribute callback of MPI_Win_free waits first, and then MPI_Win_free itself waits. */
static int forget(MPI_Win win, int keyval, void *value, void *extra) {
	(void)win, (void)keyval, (void)value, (void)extra;
	stop("MPI_Recv");
	if (rank == 0)
		receive_small();
	else
		send_small();
	stop("MPI_Win_free");
	return MPI_SUCCESS;
}

static void within(void) {
	int key;
	MPI_Win win;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key, NULL);
	MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win);
	MPI_Win_set_attr(win, key, NULL);
	MPI_Win_free(&win);
	MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv) {
	int provided, two = 2, yes = 1;
	char *base;

	rank = atoi(getenv("PMI_RANK"));
	stop("MPI_Init_thread");
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_split(W, 0, -rank, &reversed);
	MPI_Cart_create(W, 1, &two, &yes, 0, &ring);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, W, 1 - rank, 0, &inter);
	MPI_Win_create(malloc(LARGE), LARGE, 1, MPI_INFO_NULL, W, &away);
	MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, W, &base, &direct);
	messages();
	buffers();
	collectives();
	communicators();
	synchronization();
	operations();
	within();
	MPI_Win_free(&away);
	MPI_Win_free(&direct);
	step("MPI_Finalize");
	MPI_Finalize();
	return 0;
}
