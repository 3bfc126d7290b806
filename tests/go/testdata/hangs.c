/* A job that hangs in the way that the first argument names, or does not. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, one;
static MPI_Win win;
static MPI_Group group;

static void receive(int from, int tag) { MPI_Recv(&one, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static MPI_Group with(int n, int a, int b) {
	int ranks[] = {a, b};
	MPI_Group some;
	MPI_Group_incl(group, n, ranks, &some);
	return some;
}

static void receives(void) { receive(1 - rank, 7); }

static void sends(void) { MPI_Ssend(&one, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD); }

static void start_first(void) {
	MPI_Win_start(with(1, 1 - rank, 0), 0, win);
	MPI_Win_post(with(1, 1 - rank, 0), 0, win);
}

static void three(void) {
	if (rank == 0) {
		MPI_Win_start(with(1, 1, 0), 0, win);
	} else if (rank == 1) {
		receive(2, 7);
	} else {
		MPI_Win_post(with(1, 0, 0), 0, win);
		MPI_Win_wait(win);
	}
}

/* Rank 2 is in the group of the post, and does not know. */
static void groups(void) {
	if (rank == 0) {
		MPI_Win_post(with(2, 1, 2), 0, win);
		MPI_Win_wait(win);
	} else if (rank == 1) {
		MPI_Win_start(with(1, 0, 0), 0, win);
		MPI_Win_complete(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The same, and rank 0 sleeps already when rank 1 completes. */
static void groups_late(void) {
	if (rank == 1)
		usleep(300000);
	groups();
}

/* Rank 2 starts towards rank 0, which posts to rank 1 only. */
static void no_post(void) {
	if (rank == 0) {
		MPI_Win_post(with(1, 1, 0), 0, win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(with(1, 0, 0), 0, win);
		MPI_Win_complete(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The target's wait needs the origin's complete, which comes after a message that the target sends after the wait. */
static void progress(void) {
	if (rank == 0) {
		MPI_Win_start(with(1, 1, 0), 0, win);
		MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		receive(1, 5);
		MPI_Win_complete(win);
	} else {
		MPI_Win_post(with(1, 0, 0), 0, win);
		MPI_Win_wait(win);
		MPI_Send(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
}

static void wait_first(void) {
	MPI_Group other = with(1, 1 - rank, 0);
	MPI_Win_post(other, 0, win);
	MPI_Win_start(other, 0, win);
	MPI_Win_wait(win);
	MPI_Win_complete(win);
}

static void collectives(void) {
	int sum;
	if (rank == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* The same communicator has another handle at each member. */
static void handles(void) {
	MPI_Comm other, own;
	int sum;
	for (int i = 0; i < rank; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &other);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Comm_set_name(own, "mine");
	if (rank == 1)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);
	MPI_Barrier(own);
}

static void fence(void) {
	if (rank == 1)
		receive(0, 4);
	MPI_Win_fence(0, win);
}

static void lock(void) {
	if (rank == 0)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		receive(1, 6);
	else
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
}

static void lock_all(void) {
	if (rank == 0)
		MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		receive(1, 6);
	else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
}

static void lock_computes(void) {
	if (rank == 0)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		for (;;) // it computes
			;
	else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
}

static void finalize(void) {
	if (rank == 0)
		receive(1, 2);
	MPI_Finalize();
	exit(0);
}

/* --- What does not hang */

static void sleeps(void) {
	if (rank == 0)
		sleep(3);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void *sleep_and_send(void *arg) {
	sleep(3);
	MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	MPI_Send(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	return arg;
}

/* Another thread of rank 0 sends what all wait for, and sleeps outside of MPI before that. */
static void threads(void) {
	pthread_t thread;
	if (rank == 0)
		pthread_create(&thread, NULL, sleep_and_send, NULL);
	receive(0, 1);
	if (rank == 0)
		pthread_join(thread, NULL);
}

static void *just_receive(void *arg) {
	receive(1, 1);
	return arg;
}

/* The threads of rank 0 that do not wait in MPI wait for one that does. */
static void joins(void) {
	pthread_t thread;
	if (rank == 0) {
		pthread_create(&thread, NULL, just_receive, NULL);
		pthread_join(thread, NULL);
	} else {
		receive(0, 1);
	}
}

static void polls(void) {
	int flag = 0;
	double end = MPI_Wtime() + 3;
	while (rank == 0 && !flag && MPI_Wtime() < end)
		MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void ping_pong(void) {
	int other = rank ^ 1, go_on = 1;
	for (double end = MPI_Wtime() + 4; go_on && other < size;) {
		if (rank % 2 == 0) {
			go_on = MPI_Wtime() < end;
			MPI_Send(&go_on, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
		}
		MPI_Recv(&go_on, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank % 2 != 0)
			MPI_Send(&go_on, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* In turns, with what is slow in between. */
static void many(void) {
	double end = MPI_Wtime() + 4;
	for (int i = 0, more = 1; more; i++) {
		if (i % size == rank)
			usleep(20000);
		more = MPI_Wtime() < end;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Win_fence(0, win);
		MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
}

static const struct {
	const char *name;
	void (*does)(void);
} ways[] = {
	{"receives", receives},
	{"sends", sends},
	{"start-first", start_first},
	{"three", three},
	{"groups", groups},
	{"groups-late", groups_late},
	{"no-post", no_post},
	{"progress", progress},
	{"wait-first", wait_first},
	{"collectives", collectives},
	{"handles", handles},
	{"fence", fence},
	{"lock", lock},
	{"lock-all", lock_all},
	{"lock-computes", lock_computes},
	{"finalize", finalize},
	{"sleeps", sleeps},
	{"threads", threads},
	{"joins", joins},
	{"polls", polls},
	{"ping-pong", ping_pong},
	{"many", many},
};

int main(int argc, char **argv) {
	int *base, provided;
	if (strcmp(argv[1], "no-init") == 0 && atoi(getenv("PMI_RANK")) == 1)
		for (;;)
			pause();
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_get_group(win, &group);
	printf("up\n");
	fflush(stdout);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].does();
	MPI_Group_free(&group);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
