/* A job that hangs, or that only waits for a long time. The first argument selects how. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/time.h>
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

/* Hangs because rank 2, which is in the group of the post, never starts an epoch. */
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

/* Hangs like the function groups(). The difference is that rank 0 already sleeps when rank 1 completes its epoch. */
static void groups_late(void) {
	if (rank == 1)
		usleep(300000);
	groups();
}

/* Hangs because rank 2 starts an epoch to rank 0, which posts to rank 1 only. */
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

/* Hangs because the target's MPI_Win_wait needs the origin's MPI_Win_complete. The origin calls it only after a message
 * that the target sends after its wait. */
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

/* Hangs on a communicator that has a different handle at each member. The report must nevertheless recognize that all
 * ranks wait on the same communicator. */
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
		for (;;) // rank 0 computes, and makes no call of MPI
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

/* Makes rank 0 wait for any of two messages. */
static void waitany(void) {
	MPI_Request two[2];
	int index, data[2];
	if (rank == 0) {
		MPI_Irecv(&data[0], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &two[0]);
		MPI_Irecv(&data[1], 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &two[1]);
		MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
	} else {
		receive(0, 7);
	}
}

static void waitsome(void) {
	MPI_Request two[2];
	int count, indices[2], data;
	if (rank == 0) {
		MPI_Irecv(&data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &two[0]);
		MPI_Issend(&one, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &two[1]);
		MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE);
	} else {
		receive(0, 7);
	}
}

/* Makes rank 1 wait for any of two messages: one arrives late, the other never. */
static void waitany_late(void) {
	MPI_Request two[2];
	int index, data[2];
	if (rank == 0) {
		sleep(2);
		MPI_Send(&one, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&data[0], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &two[0]);
		MPI_Irecv(&data[1], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &two[1]);
		MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
		MPI_Cancel(&two[0]);
		MPI_Wait(&two[0], MPI_STATUS_IGNORE);
	}
}

static void partitions(void) {
	MPI_Request request;
	if (rank == 0) {
		MPI_Precv_init(&one, 1, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		receive(0, 7);
	}
}

static void pready(void) {
	MPI_Request request;
	if (rank == 0) {
		MPI_Psend_init(&one, 1, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		receive(0, 7);
	}
}

/* Makes rank 0 lock the last rank's memory. Rank 1 requests the same lock; if there are two ranks, rank 1 is the last
 * rank itself. */
static void lock_put(void) {
	int target = size - 1;
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
		MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, win);
		MPI_Win_flush(target, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
		MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, win);
		MPI_Win_flush(target, win);
	} else {
		receive(rank == 0 ? 1 : 0, 6);
	}
}

static void ibarrier(void) {
	MPI_Request request;
	if (rank == 0) {
		receive(1, 7);
	} else {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void ibarrier_send(void) {
	MPI_Request request;
	if (rank == 0) {
		receive(1, 7);
	} else {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		MPI_Ssend(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void ibarrier_barrier(void) {
	MPI_Request request;
	if (rank == 0) {
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* Makes all ranks wait for a broadcast that its root has not called. The last rank has not called it either, which the
 * report need not mention. */
static void ibcast(void) {
	MPI_Request request;
	if (rank == 0 || rank == size - 1) {
		receive(1, 7);
	} else {
		MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void barrier_init(void) {
	MPI_Request request;
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 3 - (rank == 0); i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	receive(1 - rank, 7);
}

static void neighbors(void) {
	int n = size, periodic = 1, out[2] = {0}, in[2];
	MPI_Comm ring;
	MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &ring);
	MPI_Comm_set_name(ring, "ring");
	if (rank == 0)
		receive(1, 7);
	else
		MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
}

static void probe(void) {
	MPI_Message message;
	if (rank == 0)
		MPI_Probe(1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Mprobe(0, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}

static void window(void) {
	MPI_Win other;
	if (rank == 0)
		MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	else
		receive(0, 4);
}

static void split(void) {
	MPI_Comm other;
	if (rank == 0)
		MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &other);
	else
		receive(0, 4); /* split */
}

static void idup(void) {
	MPI_Comm other;
	MPI_Request request;
	if (rank == 0) {
		receive(1, 4);
	} else {
		MPI_Comm_idup(MPI_COMM_WORLD, &other, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void intercommunicator(void) {
	MPI_Comm inter;
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &inter);
	MPI_Comm_set_name(inter, "bridge");
	MPI_Recv(&one, 1, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
}

static void recv_init(void) {
	MPI_Request request;
	MPI_Recv_init(&one, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void large_sends(void) {
	enum { LARGE = 1 << 24 };
	static char large[LARGE];
	MPI_Send(large, LARGE, MPI_CHAR, 1 - rank, 3, MPI_COMM_WORLD);
}

static int query(void *extra, MPI_Status *status) {
	(void)extra;
	(void)status;
	return MPI_SUCCESS;
}
static int release(void *extra) {
	(void)extra;
	return MPI_SUCCESS;
}
static int cancel(void *extra, int complete) {
	(void)extra;
	(void)complete;
	return MPI_SUCCESS;
}

static void grequest(void) {
	MPI_Request request;
	MPI_Grequest_start(query, release, cancel, NULL, &request);
	if (rank == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		receive(0, 7);
}

static void *receive_another(void *arg) {
	receive(2, 8);
	return arg;
}

/* Makes both threads of rank 0 wait. Each thread could continue if its own event occurred, but neither event occurs. */
static void two_threads(void) {
	pthread_t thread;
	if (rank == 0) {
		pthread_create(&thread, NULL, receive_another, NULL);
		receive(1, 7);
		pthread_join(thread, NULL);
	} else {
		receive(0, 7);
	}
}

/* --- Jobs that do not hang */

static void (*awaits)(void); /* waits for an event outside of the job, such as input from a pipe */
static sem_t *semaphore;
static int descriptors[2];
enum { OUTSIDE_SECONDS = 2 };

static void await_semaphore(void) {
	while (sem_wait(semaphore) != 0)
		;
}
static void await_pipe(void) {
	char c;
	if (read(descriptors[0], &c, 1) != 1)
		abort();
}
static void await_file(void) { flock(descriptors[0], LOCK_EX); }

static void *await_and_send(void *arg) {
	awaits();
	MPI_Send(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	return arg;
}

/* Makes a thread of rank 0 wait two seconds for an event from outside of the job, and then send the message for which
 * the ranks wait. */
static void wait_outside(void (*for_what)(void)) {
	pthread_t thread;
	awaits = for_what;
	if (rank == 0) {
		pthread_create(&thread, NULL, await_and_send, NULL);
		receive(1, 1);
		pthread_join(thread, NULL);
	} else {
		receive(0, 1);
		MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	}
}

static void outside_semaphore(void) {
	semaphore = mmap(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(semaphore, 1, 0);
	if (rank == 0 && fork() == 0) {
		sleep(OUTSIDE_SECONDS);
		sem_post(semaphore);
		_exit(0);
	}
	wait_outside(await_semaphore);
}

static void outside_pipe(void) {
	if (rank == 0 && pipe(descriptors) == 0 && fork() == 0) {
		sleep(OUTSIDE_SECONDS);
		_exit(write(descriptors[1], "", 1) != 1);
	}
	wait_outside(await_pipe);
}

static void outside_file(void) {
	char name[] = "/tmp/hangs-XXXXXX";
	if (rank == 0) {
		int own = mkstemp(name);
		descriptors[0] = open(name, O_RDWR);
		unlink(name);
		flock(own, LOCK_EX);
		if (fork() == 0) { /* this process acquires the lock when the parent releases it */
			sleep(OUTSIDE_SECONDS);
			_exit(0);
		}
		close(own);
	}
	wait_outside(await_file);
}

static void post(int number) {
	(void)number;
	sem_post(semaphore);
}

static void outside_signal(void) {
	static sem_t own;
	semaphore = &own;
	sem_init(semaphore, 0, 0);
	if (rank == 0) {
		signal(SIGALRM, post);
		alarm(OUTSIDE_SECONDS);
	}
	wait_outside(await_semaphore);
}

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

/* Makes another thread of rank 0 send the message for which all ranks wait, after the thread has slept outside of
 * MPI. */
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

/* Makes one thread of rank 0 wait in MPI, and the other threads of rank 0 wait for that thread. */
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

/* Makes a series of collective calls, in which the ranks are late alternately. */
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
	{"waitany", waitany},
	{"waitsome", waitsome},
	{"waitany-late", waitany_late},
	{"partitions", partitions},
	{"pready", pready},
	{"lock-put", lock_put},
	{"ibarrier", ibarrier},
	{"ibarrier-send", ibarrier_send},
	{"ibarrier-barrier", ibarrier_barrier},
	{"ibcast", ibcast},
	{"barrier-init", barrier_init},
	{"neighbors", neighbors},
	{"probe", probe},
	{"window", window},
	{"split", split},
	{"idup", idup},
	{"intercommunicator", intercommunicator},
	{"recv-init", recv_init},
	{"large-sends", large_sends},
	{"grequest", grequest},
	{"two-threads", two_threads},
	{"outside-semaphore", outside_semaphore},
	{"outside-pipe", outside_pipe},
	{"outside-file", outside_file},
	{"outside-signal", outside_signal},
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
